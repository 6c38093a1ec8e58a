"""Questions to passages by vectors alone, in memory: what an encoder is worth, without a database.

Corpus files are read and cut by the product's own code, and the evaluation's rules judge;
only the dense leg is played, exactly.  A record may take several of the places: that costs
its reader no further section.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from appliance.corpus.chunks import chunk_section, embedding_input, fitted_breadcrumb
from appliance.corpus.lay import widened
from appliance.corpus.records import Read, read_markdown, read_records
from appliance.domain import Chunk, CityId, Rejected, Section
from appliance.errors import BadRequest, UnreadableFile
from appliance.ingest import corpus_files, decode, read_bytes
from appliance.ports import Tokenizer, Vectors
from eval.cases import Case, parse_cases
from eval.scores import Found, ranking_scores

Encode = Callable[[Sequence[str]], Vectors]  # n texts -> (n, d) unit vectors
DEPTH = 100  # chunks looked at: far more than the ten sections that are judged


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A chunk: what is embedded, and what of which record it is."""

    words: str
    found: Found


@dataclass(frozen=True, slots=True, kw_only=True)
class Exam:
    """The passages of each city, and the questions that they answer."""

    passages: Mapping[CityId, Sequence[Passage]]
    cases: Sequence[Case]


def read_exam(corpus: Sequence[Path], cases: Sequence[Path], tokenizer: Tokenizer) -> Exam:
    """Return the passages of the files, and the answerable cases about their cities.

    Raises UnreadableFile, CaseError, or BadRequest if no case is left.
    """
    passages: dict[CityId, list[Passage]] = defaultdict(list)
    for read in _reads(corpus):
        passages[read.city.id] += _passages(read, tokenizer)
    asked = [c for path in cases for c in parse_cases(path.read_text("utf-8"), path.name)]
    wanted = [c for c in asked if c.answerable and c.gold_held and passages.get(c.city)]
    if not wanted:
        raise BadRequest("None of the cases asks about a city of the corpus files.")
    cities = {c.city for c in wanted}
    return Exam(passages={city: passages[city] for city in cities}, cases=wanted)


def _reads(paths: Iterable[Path]) -> Iterator[Read]:
    unreadable: list[UnreadableFile] = []
    for path in corpus_files(paths, unreadable):
        text = decode(read_bytes(path), path)
        if ".jsonl" in path.name:
            reads: Iterable[Read | Rejected] = read_records(text, name=path.name)
        else:
            reads = [read_markdown(text, name=path.name)]
        yield from (read for read in reads if isinstance(read, Read))
    if unreadable:
        raise unreadable[0]


def _passages(read: Read, tokenizer: Tokenizer) -> Iterator[Passage]:
    body = read.accepted.document.body
    for position, section in enumerate(read.accepted.sections):
        crumb = fitted_breadcrumb(section, tokenizer)
        for chunk in chunk_section(body, section, position, tokenizer):
            titles = [title.of(body) for title in chunk.titles]
            words = embedding_input(crumb, titles, chunk.text)
            yield Passage(words=words, found=_found(section, chunk))


def _found(section: Section, chunk: Chunk) -> Found:
    return Found(
        external_id=section.external_id,
        citation=section.citation,
        span=chunk.span.shifted(section.inside - section.span.start),
    )


def encoded(exam: Exam, encode: Encode, prefix: str = "") -> dict[CityId, Vectors]:
    """Return the vectors of each city's passages, the prefix before each."""
    return {
        city: encode([prefix + p.words for p in passages])
        for city, passages in exam.passages.items()
    }


def judged(
    exam: Exam, vectors: Mapping[CityId, Vectors], encode: Encode, prefix: str = ""
) -> list[dict[str, float]]:
    """Return the scores of each question, asked as the product asks and with the prefix first."""
    questions = encode([prefix + widened(case.question) for case in exam.cases])
    return [
        ranking_scores(case, list(_nearest(exam.passages[case.city], vectors[case.city], question)))
        for case, question in zip(exam.cases, questions, strict=True)
    ]


def _nearest(passages: Sequence[Passage], vectors: Vectors, question: Vectors) -> Iterator[Found]:
    for i in np.argsort(-(vectors @ question), kind="stable")[:DEPTH]:
        yield passages[int(i)].found
