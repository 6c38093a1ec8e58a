"""Tables in stored text: where they lie, which lines are their header, where each row is.

Pure.  A table is a run of lines of cells parted by "|": Markdown pipe tables, and
the looser rows that publishers' exports leave behind ("Front yard | 30 feet |").
Everything is a span of the text; no cell is ever rewritten.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from appliance.domain import Span

# "|---|:--:|": the line that Markdown puts under a header.
_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
# The line over a table that names it: "Table 9.1.1 Uses", "SCHEDULE G", "Figure 30.8-1".
_CAPTION = re.compile(r"\W*(?:table|schedule|figure|chart|exhibit)\b", re.IGNORECASE)
LONGEST_CAPTION = 160  # code points; a longer line is a sentence that mentions a table
# Without a rule nobody says where the header ends: it is the first row, and the next one or two only
# while they are captions or group titles (a single filled cell).
MOST_HEADER_ROWS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table of a text."""

    span: Span  # caption, header and rows
    header: Span  # from the caption to the last header row
    rows: tuple[Span, ...]  # the data rows, each a line without its end


def find_tables(text: str) -> tuple[Table, ...]:
    """Return the tables of a text in reading order; a header without a row is none."""
    if "|" not in text:
        return ()
    tables = (_table(text, lines) for lines in _runs(text) if len(lines) > 1)
    return tuple(table for table in tables if table.rows)


def find_rows(text: str) -> tuple[Span, ...]:
    """Return every line of cells, also one that stands alone, without its indentation and end."""
    return tuple(row for run in _runs(text) for row in run) if "|" in text else ()


def _runs(text: str) -> Iterator[list[Span]]:
    """Yield each run of neighbouring lines of cells."""
    run: list[Span] = []
    for line in _lines(text):
        words = line.of(text)
        if is_row(words):
            indent = len(words) - len(words.lstrip())
            run.append(Span(start=line.start + indent, end=line.end))
            continue
        if run:
            yield run
        run = []
    if run:
        yield run


def _lines(text: str) -> Iterator[Span]:
    start = 0
    while start <= len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield Span(start=start, end=end)
        start = end + 1


def is_row(line: str) -> bool:
    """Tell whether a line is one of cells: bars at an end, or at least two inside."""
    plain = line.strip()
    if len(plain) < 2 or "|" not in plain:
        return False
    return plain.startswith("|") or plain.endswith("|") or plain.count(" | ") >= 2


def is_rule(line: str) -> bool:
    """Tell whether a line is Markdown's rule under a header."""
    return "--" in line and _RULE.fullmatch(line) is not None


def cells_of(line: str) -> list[str]:
    """Return the trimmed cells of a row; a bar behind a backslash stays in its cell."""
    plain = line.strip()
    plain = plain.removeprefix("|")
    if plain.endswith("|") and not plain.endswith("\\|"):
        plain = plain[:-1]
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", plain)]


def _table(text: str, lines: Sequence[Span]) -> Table:
    heads = _header_rows([line.of(text) for line in lines])
    start = _caption_start(text, lines[0].start)
    rows = [line for line in lines[heads:] if not is_rule(line.of(text))]
    return Table(
        span=Span(start=start, end=lines[-1].end),
        header=Span(start=start, end=lines[max(heads - 1, 0)].end),
        rows=tuple(rows),
    )


def _header_rows(lines: Sequence[str]) -> int:
    """Return how many of the lines are the header; the last row is never one."""
    most = len(lines) - 1
    for i, line in enumerate(lines[:MOST_HEADER_ROWS]):
        if is_rule(line):
            # An empty header above the rule: the first row below it names the columns.
            named = any(_filled(above) for above in lines[:i])
            return min(most, i + 1 if named else i + 2)
    heads = 1
    while heads < min(most, MOST_HEADER_ROWS) and _filled(lines[heads - 1]) <= 1:
        heads += 1
    return min(most, heads)


def _filled(line: str) -> int:
    return sum(bool(cell) for cell in cells_of(line))


def _caption_start(text: str, start: int) -> int:
    """Return where the line above a table begins if it names the table, else the table's start."""
    end = start
    while end > 0 and text[end - 1].isspace():
        end -= 1
    line = text.rfind("\n", 0, end) + 1
    caption = text[line:end]
    if 0 < len(caption) <= LONGEST_CAPTION and _CAPTION.match(caption):
        return line
    return start
