"""What is printed on every page and is no part of the text: running heads, feet, page numbers.

Pure.  A row at a page's edge is furniture if enough other pages have the same
words there, numbers aside.  A row that looks like a heading of the law must be the
same to the letter, and its first appearance stays.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from statistics import median

from appliance.formats.pdf_lines import Word, line_of, pieces_of, rows_of

# Rows at the top and at the foot that may be furniture, within this part of the page's height.
# Town clerks put four lines of dates on top of each page; feet are shorter.
MOST_ROWS = 6
EDGE = 0.2
# The same words must stand at the same height, but for what a scanner shifts (points).
SHIFT = 6.0
# A running head stands apart from the text, by more than the lines of a paragraph (1.1 to 1.4
# letter heights); the head of a table that is printed again on each page does not.
APART = 1.6

_NUMBERS = re.compile(r"\d+")
_PAGE_NUMBER = re.compile(r"[-–—\s]*(?:page\s+)?(?:#|[ivxl]+)(?:\s+(?:of|/)\s+#)?[-–—\s]*")
_ENUMERATOR = re.compile(r"[(\[]?(?:[a-z]{1,2}|[ivxl]+|#(?:\.#)*)[)\].:]+")
_LEGAL = re.compile(
    r"(?:chapter|article|section|sec\.|§|part|title|division|appendix|schedule)\b|§"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """A document's pages without their furniture."""

    pages: tuple[tuple[Word, ...], ...]
    samples: tuple[str, ...]  # what was left out, each once


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A row at the edge of a page, the outermost first."""

    page: int
    at: float  # its height on the page
    words: tuple[Word, ...]
    key: str  # its words, numbers masked
    pieces: tuple[str, ...]  # the same for what wide gaps part
    text: str
    apart: bool  # white parts it from the next row inwards


def sweep(pages: Sequence[Sequence[Word]], heights: Sequence[float]) -> Swept:
    """Return the pages without what repeats at their edges."""
    rows = [rows_of(words) for words in pages]
    gone: list[set[int]] = [set() for _ in pages]
    samples: list[str] = []
    for top in (True, False):
        edges = [list(_edge_rows(i, of, heights[i], top=top)) for i, of in enumerate(rows)]
        for row in _furniture(edges):
            gone[row.page].update(map(id, row.words))
            samples.append(row.text)
    kept = tuple(
        tuple(w for w in words if id(w) not in lost)
        for words, lost in zip(pages, gone, strict=True)
    )
    return Swept(pages=kept, samples=tuple(dict.fromkeys(samples)))


def _edge_rows(page: int, rows: list[list[Word]], height: float, *, top: bool) -> Iterator[_Row]:
    lines = [line_of(words) for words in (rows if top else rows[::-1])[: MOST_ROWS + 1]]
    for line, after in zip_longest(lines[:MOST_ROWS], lines[1:]):
        if line is None:
            return
        inside = line.base > EDGE * height if top else line.base < (1 - EDGE) * height
        if inside:
            return
        yield _Row(
            page=page,
            at=line.base,
            words=line.words,
            key=_key(line.text),
            pieces=tuple(_key(p.text) for p in pieces_of(line.words)),
            text=line.text,
            apart=after is None or abs(after.base - line.base) >= APART * line.size,
        )


def _key(text: str) -> str:
    return _NUMBERS.sub("#", " ".join(text.casefold().split()))


def _furniture(edges: list[list[_Row]]) -> Iterator[_Row]:
    """Yield the rows that repeat, from the edge inwards up to the first that does not."""
    enough = _enough(sum(1 for rows in edges if rows))
    whole = _common(((r.key, r) for rows in edges for r in rows), enough)
    parts = _common(((p, r) for rows in edges for r in rows for p in r.pieces), enough)
    literal = Counter(_literal(r) for rows in edges for r in rows)
    places = _places([r for rows in edges for r in rows if _repeats(r, whole, parts)], enough)
    seen: set[str] = set()
    for rows in edges:
        run: list[_Row] = []
        for row in rows:
            known = _repeats(row, whole, parts) or _in_place(row, places)
            if not known or _first_of_law(row, seen, literal[_literal(row)] < enough):
                break
            run.append(row)
        while run and not run[-1].apart:
            run.pop()
        yield from run


def _first_of_law(row: _Row, seen: set[str], rare: bool) -> bool:
    """Tell whether a row may be a heading of the law itself, and not its repetition."""
    if len(row.pieces) > 1 or not _LEGAL.match(row.key):
        return False
    first = _literal(row) not in seen
    seen.add(_literal(row))
    return rare or first


def _literal(row: _Row) -> str:
    return " ".join(row.text.casefold().split())


def _enough(pages: int) -> int:
    """Return how many pages must agree: left and right pages of a gazette often differ."""
    if pages < 4:
        return max(2, pages)
    if pages < 10:
        return max(2, round(0.3 * pages))
    return max(3, round(0.1 * pages))


def _common(seen: Iterator[tuple[str, _Row]], enough: int) -> dict[str, float]:
    """Return the keys that stand at the same height on enough pages, with that height."""
    heights: dict[str, dict[int, float]] = {}
    for key, row in seen:
        heights.setdefault(key, {})[row.page] = row.at
    common: dict[str, float] = {}
    for key, of in heights.items():
        middle = median(of.values())
        if sum(abs(at - middle) <= SHIFT for at in of.values()) >= enough:
            common[key] = middle
    return common


def _repeats(row: _Row, whole: dict[str, float], parts: dict[str, float]) -> bool:
    if _ENUMERATOR.match(row.key) and not _PAGE_NUMBER.fullmatch(row.key):
        return False
    if _at(row, whole.get(row.key)):
        return True
    known = sum(_at(row, parts.get(p)) for p in row.pieces if not _ENUMERATOR.fullmatch(p))
    return len(row.pieces) > 1 and known >= 2


def _at(row: _Row, height: float | None) -> bool:
    return height is not None and abs(row.at - height) <= SHIFT


def _places(rows: list[_Row], enough: int) -> list[float]:
    """Return the heights at which many pages have furniture, whatever it says there."""
    counts = Counter(round(r.at / 2) for r in rows)
    return [at * 2.0 for at, times in counts.items() if times >= 4 * enough]


def _in_place(row: _Row, places: list[float]) -> bool:
    """Tell whether a row stands where other pages have their running head.

    So the head of a chapter of two pages goes too; a sentence or a heading there stays.
    """
    law = _LEGAL.match(row.key) and len(row.pieces) == 1
    plain = not law and not _ENUMERATOR.match(row.key)
    return plain and row.key[-1:] not in ".;:," and any(abs(row.at - p) <= 2 for p in places)
