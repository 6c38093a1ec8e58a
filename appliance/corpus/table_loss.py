"""Did a web page's tables survive the parser?  Their cells, against the Markdown.  Pure.

Counts only tables that hold data: cells in rows and columns.  Tables that hold a page's
layout, or one list, may go.
"""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

_FEWEST_CELLS = 4
_LONGEST_CELL = 2_000  # a longer one holds a page's column, not a value
# A parser may rightly drop tables beside the text: of a page of links to minutes it dropped .57.
_LOST = 0.75
_NOT_WORDS = re.compile(r"[\W_]+")


def lost_tables(markup: str, body: str) -> str | None:
    """Say how many of the values in the page's data tables are not in the body's tables."""
    tables = _data_tables(markup)
    values = [value for table in tables for value in table]
    if not values:
        return None
    rows = [line for line in body.split("\n") if line.count("|") >= 2]
    kept = _bare("\n".join(rows))
    missing = sum(value not in kept for value in values)
    if missing <= _LOST * len(values):
        return None
    return f"{missing:,} of {len(values):,} values of the page's tables are in no table of the text"


def _data_tables(markup: str) -> list[list[str]]:
    if "<table" not in markup.casefold():
        return []
    tables = LexborHTMLParser(markup).css("table")
    return [cells for table in tables if (cells := _values(table))]


def _values(table: LexborNode) -> list[str]:
    """Return the words of each cell, for comparison; empty for a table that holds no data."""
    if len(table.css("table")) > 1 or table.css_first("input, select") is not None:  # itself is one
        return []
    rows = [[_bare(c.text(deep=True)) for c in row.css("td, th")] for row in table.css("tr")]
    wide = [row for row in rows if sum(bool(c) for c in row) >= 2]
    cells = [cell for row in wide for cell in row if cell]
    if len(wide) < 2 or len(cells) < _FEWEST_CELLS or max(map(len, cells)) > _LONGEST_CELL:
        return []
    return cells


def _bare(text: str) -> str:
    return _NOT_WORDS.sub("", text).casefold()
