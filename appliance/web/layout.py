"""Stored text to what a page sets: paragraphs and tables, with the quote marked.  Pure.

Nothing is lost on the way: the runs of all blocks, one after the other, are the
text itself, and the marked ones are the quote.  What is there for the eye of a
program only (pipes, asterisks, blank lines) stays in the runs as `syntax`, which
a page hides.  That is why the page can show a real table and still prove that
what it highlights is the quote, character for character.

Knows neither HTML nor JSON; templates and the page's script make elements of runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

from appliance.domain import Citation, Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A stretch of text that looks the same throughout."""

    text: str
    marked: bool = False  # part of the quote
    strong: bool = False
    syntax: bool = False  # kept for exactness, not for the eye


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """Text between blank lines; single line ends inside it are kept."""

    runs: tuple[Run, ...]
    item: bool  # begins with "(a)" or the like, and is set with a hanging indent
    kind: Literal["paragraph"] = "paragraph"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of a table; each cell is a list of runs."""

    cells: tuple[tuple[Run, ...], ...]
    header: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Consecutive pipe rows."""

    rows: tuple[Row, ...]
    kind: Literal["table"] = "table"


Block = Paragraph | Table

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_PIPE_ROW = re.compile(r"\s*\|.*\|\s*")
_RULE = re.compile(r"\s*\|(?:\s*:?-+:?\s*\|)+\s*")
# Each begins where white space does: a search from the middle of it would make long gaps quadratic.
_BETWEEN_PARAGRAPHS = re.compile(r"(?<!\s)(?:\s*\n[^\S\n]*\n\s*|\s+\Z)")
_BLANK_LINES = re.compile(r"(?:[^\S\n]*\n)*")
_STRONG = re.compile(r"\*\*(?=\S)([^*\n]+?)(?<=\S)\*\*")
_PIPE = re.compile(r"(?<!\\)\|")
_ITEM = re.compile(r"\s*\(\w{1,4}\)\s")


class _Piece(NamedTuple):
    """Where a run comes from, before it is cut at the edges of the quote."""

    start: int
    end: int
    strong: bool = False
    syntax: bool = False


def blocks(text: str, quote: Span | None = None) -> tuple[Block, ...]:
    """Return the blocks of a text, with the code points of `quote` marked."""
    found: list[Block] = []
    for start, end, tabular in _stretches(text):
        if tabular:
            found.append(Table(rows=tuple(_rows(text, start, end, quote))))
        else:
            found.extend(_paragraphs(text, start, end, quote))
    return tuple(found)


def quote_blocks(citation: Citation) -> tuple[Block, ...]:
    """Return the blocks of a quote; rows of a table come under the header that stands over them."""
    header = next((o for o in citation.over if _is_tabular(o)), None)
    if header is None or not _is_tabular(citation.quote):
        return blocks(citation.quote)
    return blocks(f"{header.rstrip()}\n{citation.quote.lstrip()}")


def titles_over(citation: Citation) -> tuple[str, ...]:
    """Return the titles over a quote, each on one line."""
    return tuple(" ".join(o.split()) for o in citation.over if not _is_tabular(o))


def _is_tabular(text: str) -> bool:
    return _PIPE_ROW.fullmatch(text.strip().rsplit("\n", 1)[-1]) is not None


def _stretches(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yield the maximal stretches of lines that are pipe rows, or are none."""
    start, tabular = 0, False
    for line in _LINE.finditer(text):
        now = bool(_PIPE_ROW.fullmatch(line[0]))
        if now != tabular:
            if line.start() > start:
                yield start, line.start(), tabular
            start, tabular = line.start(), now
    if start < len(text):
        yield start, len(text), tabular


# ------------------------------------------------------------------ paragraphs


def _paragraphs(text: str, start: int, end: int, quote: Span | None) -> Iterator[Paragraph]:
    while start < end:
        blank = _BLANK_LINES.match(text, start, end)
        first = blank.end() if blank else start
        gap = _BETWEEN_PARAGRAPHS.search(text, first, end)
        stop, after = gap.span() if gap else (end, end)
        pieces = [
            _Piece(start, first, syntax=True),
            *_words(text, first, stop),
            _Piece(stop, after, syntax=True),
        ]
        yield Paragraph(runs=_runs(text, pieces, quote), item=bool(_ITEM.match(text, first, stop)))
        start = after


def _words(text: str, start: int, end: int) -> Iterator[_Piece]:
    """Yield the pieces of running text, in which **asterisks** make words strong."""
    for mark in _STRONG.finditer(text, start, end):
        yield _Piece(start, mark.start())
        yield _Piece(mark.start(), mark.start(1), syntax=True)
        yield _Piece(mark.start(1), mark.end(1), strong=True)
        yield _Piece(mark.end(1), mark.end(), syntax=True)
        start = mark.end()
    yield _Piece(start, end)


# ------------------------------------------------------------------ tables


def _rows(text: str, start: int, end: int, quote: Span | None) -> Iterator[Row]:
    """Yield the rows; a rule ("|---|") is kept in the cell before it and makes the first row a header."""
    rows: list[list[list[_Piece]]] = []
    before: list[_Piece] = []  # rules above the first row
    ruled = False
    for line in _LINE.finditer(text, start, end):
        if not _RULE.fullmatch(line[0]):
            rows.append(_cells(text, line.start(), line.end()))
            continue
        (rows[-1][-1] if rows else before).append(_Piece(*line.span(), syntax=True))
        ruled = ruled or len(rows) == 1
    rows = rows or [[[]]]
    rows[0][0][:0] = before
    for i, cells in enumerate(rows):
        yield Row(cells=tuple(_runs(text, c, quote) for c in cells), header=ruled and i == 0)


def _cells(text: str, start: int, end: int) -> list[list[_Piece]]:
    """Return the pieces of each cell of a pipe row; a pipe goes with the cell after it."""
    edges = [m.start() for m in _PIPE.finditer(text, start, end)]
    cells = [_cell(text, left, right) for left, right in pairwise(edges)] or [[]]
    cells[0].insert(0, _Piece(start, edges[0] if edges else start, syntax=True))
    cells[-1].append(_Piece(edges[-1] if edges else start, end, syntax=True))
    return cells


def _cell(text: str, left: int, right: int) -> list[_Piece]:
    inner = text[left + 1 : right]
    first = right - len(inner.lstrip())
    last = max(first, left + 1 + len(inner.rstrip()))
    return [
        _Piece(left, first, syntax=True),
        *_words(text, first, last),
        _Piece(last, right, syntax=True),
    ]


# ------------------------------------------------------------------ the quote


def _runs(text: str, pieces: Sequence[_Piece], quote: Span | None) -> tuple[Run, ...]:
    """Return the runs of the pieces, cut where the quote begins and ends; empty ones left out."""
    return tuple(
        Run(text=text[a:b], marked=marked, strong=piece.strong, syntax=piece.syntax)
        for piece in pieces
        for a, b, marked in _cut(piece.start, piece.end, quote)
        if a < b
    )


def _cut(start: int, end: int, quote: Span | None) -> Iterator[tuple[int, int, bool]]:
    if quote is None:
        yield start, end, False
        return
    left = min(max(quote.start, start), end)
    right = min(max(quote.end, left), end)
    yield start, left, False
    yield left, right, True
    yield right, end, False
