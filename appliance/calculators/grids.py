"""Tables as the builder reads them: cells with their places, column titles, group titles.  Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from appliance.corpus.tables import find_rows, is_rule
from appliance.domain import Span

_BARE = re.compile(r"\d{1,3}(?:,\d{3})*(?:\.\d+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell of a row, trimmed."""

    text: str
    span: Span  # in the section's text

    @property
    def bare(self) -> Decimal | None:
        """Return the number, if the cell holds a number and nothing else."""
        return Decimal(self.text.replace(",", "")) if _BARE.fullmatch(self.text) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of a table."""

    cells: tuple[Cell, ...]
    span: Span

    @property
    def label(self) -> str:
        """Return the first cell's words."""
        return self.cells[0].text

    @property
    def filled(self) -> tuple[Cell, ...]:
        """Return the cells that are not empty."""
        return tuple(c for c in self.cells if c.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A run of neighbouring rows; the first is a header if it is set off by a rule."""

    rows: tuple[Row, ...]  # the header's among them
    headers: int  # how many of the first rows are header

    def title(self, column: int) -> Cell | None:
        """Return the title of a column; of the last titled one where a title spans several."""
        if not self.headers:
            return None
        cells = self.rows[self.headers - 1].cells
        titled = [c for c in cells[1 : column + 1] if c.text]
        return titled[-1] if titled else None

    def groups(self) -> Iterator[tuple[Row, str]]:
        """Yield each row below the header with the title of its group (a row of one filled cell)."""
        group = ""
        for row in self.rows[self.headers :]:
            if len(row.filled) == 1 and row.cells[0].text and len(row.cells) > 1:
                group = row.label
            yield row, group


def grids(text: str) -> list[Grid]:
    """Return the tables of a text in reading order, headers and all."""
    found: list[Grid] = []
    run: list[Span] = []
    for line in find_rows(text):
        if run and text[run[-1].end : line.start].strip(" \t") not in ("\n", "\r\n"):
            found.append(_grid(text, run))
            run = []
        run.append(line)
    if run:
        found.append(_grid(text, run))
    return [g for g in found if g.rows]


def _grid(text: str, lines: Sequence[Span]) -> Grid:
    ruled = next((i for i, line in enumerate(lines) if is_rule(line.of(text))), 0)
    rows = [_row(text, line) for line in lines if not is_rule(line.of(text))]
    return Grid(rows=tuple(rows), headers=min(ruled, len(rows)))


def _row(text: str, line: Span) -> Row:
    cells: list[Cell] = []
    start = line.start
    for part in re.split(r"(?<!\\)\|", line.of(text)):
        blank = len(part) - len(part.lstrip())
        words = part.strip()
        at = start + blank
        cells.append(Cell(text=words, span=Span(start=at, end=at + len(words))))
        start += len(part) + 1
    # The bars at the ends of a line part nothing.
    first = 1 if len(cells) > 1 and not cells[0].text else 0
    last = len(cells) - (1 if len(cells) > 1 and not cells[-1].text else 0)
    return Row(cells=tuple(cells[first:last]), span=line)
