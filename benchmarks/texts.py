"""The texts that benchmarks run on: chunks of the sample codes, cut by the product's own chunker."""

from __future__ import annotations

from importlib.resources import files

from appliance.corpus.chunks import chunk_section, embedding_input, fitted_breadcrumb
from appliance.corpus.records import Read, read_markdown, read_records
from appliance.domain import Rejected
from appliance.ports import Tokenizer


def sample_inputs(tokenizer: Tokenizer) -> list[str]:
    """Return the embedding inputs of every chunk of both sample cities."""
    inputs = []
    for read in _reads():
        document = read.accepted.document
        for position, section in enumerate(read.accepted.sections):
            crumb = fitted_breadcrumb(section, tokenizer)
            chunks = chunk_section(document.body, section, position, tokenizer)
            inputs += [
                embedding_input(crumb, [t.of(document.body) for t in c.titles], c.text)
                for c in chunks
            ]
    return inputs


def _reads() -> list[Read]:
    folder = files("appliance").joinpath("samples")
    results: list[Read | Rejected] = [
        read_markdown(entry.read_text("utf-8"), name=entry.name)
        for entry in folder.joinpath("alder-falls").iterdir()
    ]
    county = folder.joinpath("brackwater-county.jsonl")
    results += read_records(county.read_text("utf-8"), name=county.name)
    return [r for r in results if isinstance(r, Read)]
