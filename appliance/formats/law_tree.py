"""Law in XML as a tree: containers with headings, numbered paragraphs in depth, tables.

Knows the shape that the schemas of legislation share (Akoma Ntoso, the D.C. Council's library,
USLM); knows none of their names, which each schema gives as sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lxml import etree

from appliance.formats.outline import Block, Cell, heading, numbered, paragraph, table
from appliance.formats.strict_xml import Element, name_of

_ENDS_LINE = frozenset({"br", "eol", "p", "tr"})
# No table of law is wider or longer than one cell says here; a bomb would be.
_WIDEST = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """The names that a schema gives to the parts of a law."""

    headed: frozenset[str]  # become headings: part, chapter, section
    numbered: frozenset[str]  # become numbered text: subsection, paragraph, item
    inline: frozenset[str]  # stand within a line: ref, term, em
    skipped: frozenset[str]  # are no text: metadata
    title: Callable[[Element], str]  # the heading of a headed element


def blocks_of(element: Element, schema: Schema, *, level: int, depth: int = 0) -> list[Block]:
    """Return what an element says, its headings from `level` down."""
    name = name_of(element)
    if name in schema.skipped:
        return []
    if name == "table":
        return [table(_rows(element))]
    if name in schema.headed:
        return _headed(element, schema, level)
    if name in schema.numbered:
        return _numbered(element, schema, level, depth)
    if all(name_of(e) in schema.inline for e in element.iterdescendants()):
        text = line_of(element)
        return [paragraph(text, depth)] if text else []
    return _mixed(element, schema, level, depth)


def _headed(element: Element, schema: Schema, level: int) -> list[Block]:
    title = schema.title(element)
    blocks = [heading(level, title)] if title else []
    inner = level + 1 if title else level
    for child in element:
        if name_of(child) not in ("num", "heading"):
            blocks += blocks_of(child, schema, level=inner)
    return blocks


def _numbered(element: Element, schema: Schema, level: int, depth: int) -> list[Block]:
    number = part(element, "num")
    title = part(element, "heading")
    inner: list[Block] = [paragraph(title, depth + 1)] if title else []
    below = depth + 1 if number else depth
    for child in element:
        if name_of(child) not in ("num", "heading"):
            inner += blocks_of(child, schema, level=level, depth=below)
    return numbered(number, inner, depth) if number else inner


def _mixed(element: Element, schema: Schema, level: int, depth: int) -> list[Block]:
    """Return text and blocks that stand side by side: a run of inline text is one paragraph."""
    blocks: list[Block] = []
    run = element.text or ""
    for child in element:
        if name_of(child) in schema.inline and not _holds_blocks(child, schema):
            run += line_of(child)
        else:
            blocks += _run(run, depth)
            blocks += blocks_of(child, schema, level=level, depth=depth)
            run = ""
        run += child.tail or ""
    return blocks + _run(run, depth)


def _holds_blocks(element: Element, schema: Schema) -> bool:
    return any(name_of(e) not in schema.inline for e in element.iterdescendants())


def _run(text: str, depth: int) -> list[Block]:
    text = " ".join(text.split())
    return [paragraph(text, depth)] if text else []


# ------------------------------------------------------------------ text


def line_of(element: Element) -> str:
    """Return all text of an element with single spaces; a break or a paragraph's end ends a line."""
    lines = "".join(_pieces(element)).split("\0")
    return "\n".join(filter(None, (" ".join(line.split()) for line in lines)))


def _pieces(element: Element) -> Iterator[str]:
    for event, inner in etree.iterwalk(element, events=("start", "end")):
        if event == "start":
            yield inner.text or ""
            continue
        if name_of(inner) in _ENDS_LINE:
            yield "\0"
        if inner is not element:
            yield inner.tail or ""


def part(element: Element, name: str) -> str:
    """Return the text of the child of that name on one line, "" without one."""
    for child in element:
        if name_of(child) == name:
            return " ".join(line_of(child).split())
    return ""


# ------------------------------------------------------------------ tables


def _rows(element: Element) -> list[list[Cell]]:
    return [[_cell(c) for c in row if name_of(c) in ("td", "th")] for row in element.iter("{*}tr")]


def _cell(element: Element) -> Cell:
    return Cell(
        text=line_of(element),
        columns=_span(element.get("colspan")),
        rows=_span(element.get("rowspan")),
        heads=name_of(element) == "th",
    )


def _span(written: str | None) -> int:
    """Return over how many rows or columns a cell goes; nonsense is one."""
    return min(int(written), _WIDEST) if written and written.isdecimal() and int(written) else 1
