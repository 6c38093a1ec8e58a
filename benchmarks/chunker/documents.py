"""The Markdown documents that both chunkers are given: codes, lists, tables.  Pure.

A city's document is written from its records: the path of a record as headings, its
lines as paragraphs, rows of a table and wrapped lines under each other.  Every line is remembered with
its place in the record, so that a stretch of the document leads back to records.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from appliance.corpus.records import Read
from appliance.corpus.tables import is_row
from appliance.domain import Span

DEEPEST = 6  # levels of headings in Markdown
_LETTERED = re.compile(r"[a-z]{1,4}[.)]")  # "b. ", "iii) ": not the middle of a sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One section as its publisher gives it."""

    id: str
    citation: str
    heading: str
    path: tuple[str, ...]
    text: str

    @property
    def title(self) -> str:
        """Return the heading with the citation, once."""
        known = self.citation in self.heading
        return one_line(self.heading if known else f"{self.citation} {self.heading}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """A part of a record's text."""

    record: Record
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of a record, and where it stands in the document."""

    record: int  # its position
    span: Span  # in the document
    start: int  # in the record's text


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One Markdown body, with the lines of the records that it was written from."""

    name: str
    body: str
    records: tuple[Record, ...] = ()
    lines: tuple[Line, ...] = ()

    def stretches(self, span: Span) -> tuple[Stretch, ...]:
        """Return what a span of the body holds of each record, the largest part first."""
        first = bisect_right(self.lines, span.start, key=lambda line: line.span.end)
        held: dict[int, Span] = {}
        for i in range(first, len(self.lines)):
            line = self.lines[i]
            if line.span.start >= span.end:
                break
            part = _shared(line, span)
            before = held.get(line.record, part)
            held[line.record] = Span(start=before.start, end=part.end)
        parts = [Stretch(record=self.records[r], span=part) for r, part in held.items()]
        return tuple(sorted(parts, key=lambda part: -len(part.span)))


def _shared(line: Line, span: Span) -> Span:
    """Return the part of the line that lies in a span of the document, as a span of its record."""
    start = max(line.span.start, span.start) - line.span.start
    end = min(line.span.end, span.end) - line.span.start
    return Span(start=line.start + start, end=line.start + end)


def record_of(read: Read) -> Record:
    """Return the whole record, also if it holds hidden sections."""
    section = read.accepted.sections[0]
    return Record(
        id=read.accepted.document.external_id,
        citation=section.citation,
        heading=section.heading,
        path=section.path,
        text=read.accepted.document.body,
    )


def markdown_of(name: str, records: Sequence[Record]) -> Document:
    """Return a document of the records in their order."""
    parts: list[str] = []
    lines: list[Line] = []
    at = 0
    above: tuple[str, ...] = ()
    for position, record in enumerate(records):
        for heading in _headings(record, above):
            parts.append(f"{heading}\n\n")
            at += len(parts[-1])
        above = record.path
        for start, text, end in _paragraphs(record.text):
            span = Span(start=at, end=at + len(text))
            lines.append(Line(record=position, span=span, start=start))
            parts.append(text + end)
            at += len(parts[-1])
    return Document(name=name, body="".join(parts), records=tuple(records), lines=tuple(lines))


def _headings(record: Record, above: Sequence[str]) -> Iterator[str]:
    """Yield the levels of a record's path that are not open already, and its own heading."""
    path = record.path[-(DEEPEST - 1) :]
    above = above[-(DEEPEST - 1) :]
    same = 0
    while same < min(len(path), len(above)) and path[same] == above[same]:
        same += 1
    for depth in range(same, len(path)):
        yield f"{'#' * (depth + 1)} {one_line(path[depth])}"
    yield f"{'#' * (len(path) + 1)} {record.title}"


def _paragraphs(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield (start, line, what ends it): a blank line where a paragraph ends, else a line's end."""
    found = []
    at = 0
    for line in text.split("\n"):
        if line.strip():
            # Indented it would be a block of code.
            found.append((at + len(line) - len(line.lstrip()), line.strip()))
        at += len(line) + 1
    for (start, line), (_, following) in pairwise([*found, (0, "")]):
        yield start, line, "\n" if _goes_on(line, following) else "\n\n"


def _goes_on(line: str, following: str) -> bool:
    """Tell whether two lines belong together: rows of a table, or a sentence that was wrapped.

    Some records have a line's end only after a paragraph, others wherever the page was full.
    """
    if is_row(line) or is_row(following):
        return is_row(line) and is_row(following)
    return following[:1].islower() and not _LETTERED.match(following)


def one_line(text: str) -> str:
    """Return the text with each white space as one blank."""
    return " ".join(text.split())


# ------------------------------------------------------------------ made documents

_USES = (
    "Bakery", "Car wash", "Pet shop", "Day care", "Bank", "Clinic", "Fence shop", "Deck builder",
    "Pool house", "Garden shed",
)  # fmt: skip


def short_list(items: int) -> Document:
    """Return a list of uses, each of two or three words."""
    lines = [f"- {_USES[i % len(_USES)]} {i}" for i in range(items)]
    return _made(f"list of {items:,} names", lines)


def long_list(items: int) -> Document:
    """Return a list of rules, each one sentence."""
    lines = [
        f"- {_USES[i % len(_USES)]}: item {i} shall have a permit for fences over {i % 9 + 1} feet, "
        f"at a fee of ${i}."
        for i in range(items)
    ]
    return _made(f"list of {items:,} sentences", lines)


def table(rows: int) -> Document:
    """Return a pipe table of five columns."""
    head = ["| Use | R-1 | R-2 | Height | Note |", "|---|---|---|---|---|"]
    lines = [
        f"| {_USES[i % len(_USES)]} {i} | P | C | {i % 5 + 20} feet | see section {i} |"
        for i in range(rows)
    ]
    return _made(f"table of {rows:,} rows", [*head, *lines])


def _made(name: str, lines: Sequence[str]) -> Document:
    return Document(name=name, body="\n".join(["# Zoning", "", "## 1.1 Uses", "", *lines]) + "\n")


def beginning(document: Document, characters: int) -> Document:
    """Return the document up to the last heading within so many characters."""
    if len(document.body) <= characters:
        return document
    end = document.body.rfind("\n#", 0, characters) + 1
    name = f"{document.name}, first {end / 1e6:.1f} MB"
    return Document(name=name, body=document.body[: end or characters])
