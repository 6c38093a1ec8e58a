"""Seconds of chunking: ours and docling's in turn on the same documents, and how ours grows.

Processor time of each process, as a shared machine's clock also counts what others
do.  Ours includes finding the sections in the Markdown; docling's reading of the
Markdown is told apart, and both ratios are given: without it and with it.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from appliance.corpus.chunks import chunk_section, embedding_input, fitted_breadcrumb
from appliance.corpus.sections import parse_markdown
from appliance.domain import Chunk, CityId
from appliance.ports import Tokenizer
from benchmarks.chunker.documents import Document
from benchmarks.chunker.hybrid import Chunked, Hybrid

# Seconds that docling may take for one round, its reading included, and that all rounds may take.
PATIENCE = 120.0
ROUNDS_WITHIN = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ours:
    """One of our chunks with what is embedded of it."""

    chunk: Chunk
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """What both took for one document, round by round."""

    name: str
    characters: int
    ours: tuple[float, ...]
    theirs: tuple[float, ...]
    converted: float  # docling's seconds to read the Markdown
    counts: tuple[int, int]  # chunks of ours and of docling's
    stopped: bool  # docling did not end in PATIENCE seconds

    def report(self) -> str:
        """Return the figures as one line."""
        size = f"{self.name} ({self.characters / 1e6:.2f} MB)"
        ours = f"{size}: ours {statistics.median(self.ours):.3f} s, {self.counts[0]:,} chunks"
        if self.stopped:
            return f"{ours}; docling stopped after {PATIENCE:.0f} s"
        if not self.theirs:
            return f"{ours}; n={len(self.ours)}"
        ratios = [b / a for a, b in zip(self.ours, self.theirs, strict=True)]
        both = statistics.median(
            (self.converted + b) / a for a, b in zip(self.ours, self.theirs, strict=True)
        )
        return (
            f"{ours}; docling {statistics.median(self.theirs):.3f} s, {self.counts[1]:,} chunks "
            f"(reading {self.converted:.2f} s); ratio {statistics.median(ratios):.1f} "
            f"({min(ratios):.1f} to {max(ratios):.1f}, n={len(ratios)}), with its reading {both:.1f}"
        )


def chunk_ours(body: str, tokenizer: Tokenizer) -> list[Ours]:
    """Return the chunks of a Markdown document as the product cuts and embeds them."""
    chunks = []
    sections = parse_markdown(body, city=CityId("bench"), document_id="bench", title="Code")
    for position, section in enumerate(sections):
        crumb = fitted_breadcrumb(section, tokenizer)
        for chunk in chunk_section(body, section, position, tokenizer):
            titles = [title.of(body) for title in chunk.titles]
            chunks.append(Ours(chunk=chunk, words=embedding_input(crumb, titles, chunk.text)))
    return chunks


def race(document: Document, tokenizer: Tokenizer, hybrid: Hybrid | None, rounds: int) -> Race:
    """Chunk a document by both in turn: `rounds` times, or as often as ROUNDS_WITHIN allows."""
    ours: list[float] = []
    theirs: list[Chunked] = []
    count = 0
    stopped = False
    began = time.perf_counter()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "document.md"
        path.write_text(document.body, "utf-8")
        while len(ours) < rounds and (not ours or time.perf_counter() - began < ROUNDS_WITHIN):
            seconds, count = _timed(document.body, tokenizer)
            ours.append(seconds)
            if hybrid is None:
                continue
            reply = hybrid.chunk(path, within=PATIENCE)
            if reply is None:
                stopped = True
                break
            theirs.append(reply)
    return Race(
        name=document.name,
        characters=len(document.body),
        ours=tuple(ours),
        theirs=tuple(reply.seconds for reply in theirs),
        converted=theirs[0].converted if theirs else 0.0,
        counts=(count, theirs[0].count if theirs else 0),
        stopped=stopped,
    )


def _timed(body: str, tokenizer: Tokenizer) -> tuple[float, int]:
    began = time.process_time()
    chunks = chunk_ours(body, tokenizer)
    return time.process_time() - began, len(chunks)


def growth(documents: Sequence[Document], tokenizer: Tokenizer, rounds: int) -> Iterator[str]:
    """Yield our seconds for documents of growing size, and the seconds of each million characters."""
    times: list[list[float]] = [[] for _ in documents]
    for _ in range(rounds):
        for took, document in zip(times, documents, strict=True):
            took.append(_timed(document.body, tokenizer)[0])
    for took, document in zip(times, documents, strict=True):
        size = len(document.body) / 1e6
        each = sorted(seconds / size for seconds in took)
        yield (
            f"{document.name}, {size:.2f} MB: ours {statistics.median(took):.2f} s, "
            f"{statistics.median(each):.3f} s a MB ({each[0]:.3f} to {each[-1]:.3f}, n={len(each)})"
        )
