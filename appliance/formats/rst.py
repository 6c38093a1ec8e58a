"""reStructuredText to Markdown, by docutils' own reader.

Knows docutils' tree: sections, lists whose numbers it has taken apart, tables of every form.  Reads
no other file and no raw markup: the directives that would are switched off.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from docutils import nodes
from docutils.core import publish_doctree

from appliance.corpus.sections import number_in_heading
from appliance.formats.numbered_lines import is_container
from appliance.formats.outline import (
    Block,
    Cell,
    Kind,
    heading,
    markdown,
    numbered,
    paragraph,
    table,
)
from appliance.formats.parsed import Parsed
from appliance.formats.plain import decoded

_SETTINGS = {
    "_disable_config": True,  # the user's docutils.conf is not ours
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "doctitle_xform": False,
    "syntax_highlight": "none",
    "report_level": 5,
    "halt_level": 5,
    "warning_stream": False,
    # A paragraph of law is one line here, of 40,000 characters and more; docutils would give up the
    # whole file at 10,000.
    "line_length_limit": 10_000_000,
}
# Nodes that are no text of the document.
_SILENT = (
    nodes.comment,
    nodes.substitution_definition,
    nodes.transition,
    nodes.title,
    nodes.colspec,
    nodes.decoration,
    nodes.docinfo,
    nodes.pending,
)


def parse_rst(raw: bytes) -> Parsed:
    """Return a reStructuredText file as Markdown.  Raises Unparsable for what is no text."""
    read = decoded(raw)
    document = publish_doctree(read.text, settings_overrides=_SETTINGS)
    blocks = list(_named_by_their_number(_blocks(document, level=0, depth=0)))
    return Parsed(
        format="rst",
        title=next((b.text for b in blocks if b.kind is Kind.HEADING), ""),
        body=markdown(blocks),
        notes=(*read.notes, *_notes(document)),
    )


def _notes(document: nodes.document) -> tuple[str, ...]:
    notes = ["The file does not say when the text takes effect."]
    images = sum(1 for _ in document.findall(nodes.image))
    if images:
        notes.append(f"{images:,} pictures are left out.")
    faults = sum(m["level"] >= _SEVERE for m in document.findall(nodes.system_message))
    if faults:
        notes.append(f"{faults:,} places are not well-formed reStructuredText; compare them.")
    return tuple(notes)


_SEVERE = 3  # docutils' "error"; below are remarks on style


# ------------------------------------------------------------------ the tree


def _blocks(node: nodes.Node, *, level: int, depth: int) -> list[Block]:
    """Return the blocks of a node's children."""
    blocks: list[Block] = []
    for child in node.children:
        blocks += _block(child, level, depth)
    return blocks


def _block(node: nodes.Node, level: int, depth: int) -> list[Block]:
    if isinstance(node, _SILENT):
        return []
    if isinstance(node, nodes.Text):
        return [paragraph(_line(node), depth)]
    if isinstance(node, nodes.section):
        title = next((c for c in node.children if isinstance(c, nodes.title)), None)
        inner = _blocks(node, level=level + 1, depth=depth)
        return inner if title is None else [heading(level + 1, _line(title)), *inner]
    if isinstance(node, nodes.paragraph | nodes.term | nodes.rubric | nodes.attribution):
        return _paragraph(node, level, depth)
    for kind, write in _WRITERS.items():
        if isinstance(node, kind):
            return write(node, level, depth)
    return _blocks(node, level=level, depth=depth)


def _paragraph(node: nodes.Node, level: int, depth: int) -> list[Block]:
    """Return a paragraph; one that is evidently a heading by its number becomes one.

    That is a section's that is emphasised whole, and a container's that has no title mark of its own
    and stands one level over such sections.
    """
    text = _line(node)
    whole = len(node.children) == 1 and isinstance(node.children[0], nodes.emphasis | nodes.strong)
    if whole and depth == 0 and number_in_heading(text)[1]:
        return [heading(level + 2, text)]
    if depth == 0 and is_container(text):
        return [heading(level + 1, text)]
    return [paragraph(text, depth)] if text else []


def _line(node: nodes.Node) -> str:
    # The NUL marks an escaped character.
    return " ".join(node.astext().replace("\0", "").split())


def _literal(node: nodes.Node, _level: int, depth: int) -> list[Block]:
    """Return indented text after "::" as it stands, a paragraph for each stretch of lines."""
    stretches = re.split(r"\n\s*\n", node.astext())
    return [paragraph(s, depth) for s in stretches if s.strip()]


def _lines(node: nodes.Node, _level: int, depth: int) -> list[Block]:
    """Return a block of lines as one paragraph."""
    text = "\n".join(filter(None, (_line(line) for line in node.findall(nodes.line))))
    return [paragraph(text, depth)] if text else []


def _deeper(node: nodes.Node, level: int, depth: int) -> list[Block]:
    return _blocks(node, level=level, depth=depth + 1)


def _bullets(node: nodes.Node, level: int, depth: int) -> list[Block]:
    blocks: list[Block] = []
    for item in node.children:
        blocks += numbered("-", _blocks(item, level=level, depth=depth + 1), depth)
    return blocks


def _footnote(node: nodes.Node, level: int, depth: int) -> list[Block]:
    label = next((_line(c) for c in node.children if isinstance(c, nodes.label)), "")
    inner = [c for c in node.children if not isinstance(c, nodes.label)]
    blocks = [b for c in inner for b in _block(c, level, depth + 1)]
    return numbered(f"[{label}]", blocks, depth)


# ------------------------------------------------------------------ numbers that docutils took apart


def _enumerated(node: nodes.Element, level: int, depth: int) -> list[Block]:
    """Return a numbered list with the numbers as the file wrote them."""
    blocks: list[Block] = []
    first = int(node.get("start", 1))
    write = _NUMBERS[node["enumtype"]]
    for position, item in enumerate(node.children):
        number = f"{node['prefix']}{write(first + position)}{node['suffix']}"
        blocks += numbered(number, _blocks(item, level=level, depth=depth + 1), depth)
    return blocks


def _letter(number: int) -> str:
    return chr(ord("a") + (number - 1) % 26)


_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l")),
    *((40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)


def _roman(number: int) -> str:
    written = ""
    for value, sign in _ROMAN:
        count, number = divmod(number, value)
        written += sign * count
    return written


_NUMBERS: Mapping[str, Callable[[int], str]] = {
    "arabic": str,
    "loweralpha": _letter,
    "upperalpha": lambda n: _letter(n).upper(),
    "lowerroman": _roman,
    "upperroman": lambda n: _roman(n).upper(),
}


# ------------------------------------------------------------------ tables


def _table(node: nodes.Node, _level: int, depth: int) -> list[Block]:
    """Return a table, its title as the line above it."""
    caption = [paragraph(_line(c), depth) for c in node.children if isinstance(c, nodes.title)]
    rows = [
        [_cell(entry, heads=isinstance(row.parent, nodes.thead)) for entry in row.children]
        for row in node.findall(nodes.row)
    ]
    return [*caption, table(rows)] if rows else caption


def _cell(entry: nodes.Element, *, heads: bool) -> Cell:
    inner = _blocks(entry, level=0, depth=0)
    return Cell(
        text="\n".join(b.text for b in inner),
        columns=int(entry.get("morecols", 0)) + 1,
        rows=int(entry.get("morerows", 0)) + 1,
        heads=heads,
    )


_DIRECTIVE = re.compile(r"\A\s*\.\. (?P<name>[\w-]+)::[^\n]*(?:\n[ \t]*:[\w-]+:[^\n]*)*")
# "* -" begins a row of a list-table, "-" a cell.
_CELL_MARK = re.compile(r"^[ \t]*(?P<row>\*[ \t]+)?-(?:[ \t]+|$)", re.MULTILINE)


def _unread(node: nodes.Node, _level: int, depth: int) -> list[Block]:
    """Return the text of a directive that docutils refuses whole, so that it is not lost.

    Most are list-tables with a header only, or with rows of unlike length.
    """
    source = next(iter(node.findall(nodes.literal_block)), None)
    directive = None if source is None else _DIRECTIVE.match(source.astext())
    if source is None or directive is None:
        return []  # a remark on text that is read all the same
    inside = source.astext()[directive.end() :]
    if directive["name"] == "list-table":
        return [table(_rows_of_list(inside))]
    stretches = re.split(r"\n\s*\n", inside)
    return [paragraph(s, depth) for s in stretches if s.strip()]


def _rows_of_list(text: str) -> list[list[Cell]]:
    rows: list[list[Cell]] = []
    marks = list(_CELL_MARK.finditer(text))
    ends = [*(m.start() for m in marks[1:]), len(text)]
    for mark, end in zip(marks, ends, strict=True):
        if mark["row"] or not rows:
            rows.append([])
        heads = len(rows) == 1
        rows[-1].append(Cell(text=" ".join(text[mark.end() : end].split()), heads=heads))
    return rows


_WRITERS: Mapping[type[nodes.Node], Callable[[nodes.Node, int, int], list[Block]]] = {
    nodes.enumerated_list: _enumerated,
    nodes.bullet_list: _bullets,
    nodes.definition: _deeper,
    nodes.block_quote: _deeper,
    nodes.field_body: _deeper,
    nodes.literal_block: _literal,
    nodes.doctest_block: _literal,
    nodes.line_block: _lines,
    nodes.footnote: _footnote,
    nodes.citation: _footnote,
    nodes.table: _table,
    nodes.system_message: _unread,
    nodes.image: lambda *_: [],
}


# ------------------------------------------------------------------ headings


def _named_by_their_number(blocks: list[Block]) -> Iterator[Block]:
    """Yield the blocks, two headings of one section made one.

    Exports write a bare title ("Section 641.") and below it the full one ("Section 641. Department;
    commissioner.").
    """
    before: Block | None = None
    for block in blocks:
        if before is not None and _repeats(before, block):
            before = replace(before, text=block.text)
            continue
        if before is not None:
            yield before
        before = block
    if before is not None:
        yield before


def _repeats(before: Block, block: Block) -> bool:
    both = before.kind is Kind.HEADING and block.kind is Kind.HEADING
    return both and block.text.casefold().startswith(before.text.casefold())
