"""A document as parsers build it before it is Markdown: headings, tables, and numbered text in depth.

Pure.  Knows how the blocks are written; knows no input format.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from html import escape

# As in the section records of the corpus: two spaces a level.
_STEP = "  "
_DEEPEST_HEADING = 6  # Markdown has no more
# What a line of plain text must not begin with, or it would be read as a heading, a table or code.
_LOOKS_LIKE_MARKUP = re.compile(r"#{1,6}(?=\s)|```|~~~|\|")


class Kind(Enum):
    """What a block is."""

    HEADING = "heading"
    TEXT = "text"
    NUMBERED = "numbered"  # text that begins with a number of its own: "(a) ..."
    READY = "ready"  # Markdown as it stands: a table, or what another parser wrote


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One heading, paragraph, table or stretch of ready Markdown."""

    kind: Kind
    text: str
    level: int = 1  # of a heading
    depth: int = 0  # of text: how many numbered paragraphs it lies in


def heading(level: int, text: str) -> Block:
    """Return a heading on one line."""
    return Block(kind=Kind.HEADING, text=" ".join(text.split()), level=level)


def paragraph(text: str, depth: int = 0) -> Block:
    """Return a paragraph."""
    return Block(kind=Kind.TEXT, text=text.strip(), depth=depth)


def ready(text: str) -> Block:
    """Return Markdown that is taken over as it stands."""
    return Block(kind=Kind.READY, text=text)


def numbered(number: str, inner: Sequence[Block], depth: int) -> list[Block]:
    """Put a number before the blocks that belong to it.

    It stands before the first paragraph, or alone on its line where a number of the next level
    follows at once: "(a)", below it "(1) The owner ...".
    """
    first = inner[0] if inner else None
    if first is None or first.kind is not Kind.TEXT:
        return [Block(kind=Kind.NUMBERED, text=number, depth=depth), *inner]
    joined = f"{number} {first.text}".strip()
    return [replace(first, kind=Kind.NUMBERED, text=joined, depth=depth), *inner[1:]]


def markdown(blocks: Iterable[Block]) -> str:
    """Return the body: the blocks with a blank line between each two."""
    written = [w for w in map(_written, blocks) if w]
    return "\n\n".join(written) + "\n" if written else ""


def _written(block: Block) -> str:
    if block.kind is Kind.HEADING:
        marks = "#" * min(block.level, _DEEPEST_HEADING)
        return f"{marks} {block.text}" if block.text else ""
    if block.kind is Kind.READY:
        return block.text.strip("\n")
    indent = _STEP * block.depth
    return "\n".join(indent + _guarded(line) for line in block.text.split("\n") if line.strip())


def _guarded(line: str) -> str:
    """Return a line of text that Markdown cannot take for something else."""
    return "\\" + line if _LOOKS_LIKE_MARKUP.match(line) else line


# ------------------------------------------------------------------ tables


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell of a table as a format gives it."""

    text: str
    columns: int = 1
    rows: int = 1
    heads: bool = False  # it is a cell of the header


def table(rows: Sequence[Sequence[Cell]]) -> Block:
    """Return a table as pipe rows.

    The cells pass through HTML, so that every format shares the one piece of code that knows how
    to unfold cells over several rows and columns.
    """
    from appliance.formats.html import fragment_to_markdown

    lines = ["<tr>" + "".join(map(_cell_html, row)) + "</tr>" for row in rows if row]
    return ready(fragment_to_markdown("<table>" + "\n".join(lines) + "</table>"))


def _cell_html(cell: Cell) -> str:
    name = "th" if cell.heads else "td"
    spans = f' colspan="{cell.columns}"' if cell.columns > 1 else ""
    spans += f' rowspan="{cell.rows}"' if cell.rows > 1 else ""
    text = "<br>".join(escape(line.strip()) for line in cell.text.split("\n") if line.strip())
    return f"<{name}{spans}>{text}</{name}>"
