"""HTML tables to GitHub pipe tables, every value kept and every spanned cell written where it spans.

A reader of one row of a pipe table, a person or a model, sees that row and the header
only.  So a cell that spans three rows is written in all three, and one that spans the whole
width is written in every column: "R-1" stands beside each of its setbacks.  Header rows are
merged into one, "Setbacks / Front", as a pipe table has one.  A table without a header gets an
empty one.  Paragraphs and lists in a cell become one line of words; a table inside a cell
likewise.  `|` is escaped.  Grids are formed as the HTML standard forms them (rowspan 0, overlaps,
ragged rows, the foot last).

It does not know what a table is about, nor where it stands on the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from selectolax.lexbor import LexborNode

from appliance.formats.markup import UNREAD, Walk, attribute
from appliance.formats.wording import BREAK, LOWERED, RAISED, one_line

# The standard's bounds of spans.
_MOST_COLUMNS_SPANNED = 1000
_MOST_ROWS_SPANNED = 65_534
# A table wider than this is cut after the last column in which a cell begins: the rest only repeats.
_WIDE = 100
# The most slots of one table that spans may fill; fee schedules of 500 rows have 5,000.  Cells
# beyond it keep their words and lose their span.
_MOST_SLOTS = 200_000
# Text of a cell from which on a table of one row is a page laid out in columns.
_COLUMN_OF_A_PAGE = 400
# A heading in a cell makes it a page's part only with text under it: Word sets fees in heading styles.
_LONG_CELL = 200
# Pages of 2005 lay tables in tables, three to five deep.  Each level is read once more to tell what it
# is; from this depth on none is looked at.
_DEEPEST_LAYOUT = 8
_PARTS = frozenset({"thead", "tbody", "tfoot"})
_BREAKING = frozenset({
    "p", "div", "li", "ul", "ol", "tr", "td", "th", "table", "dt", "dd", "dl", "br", "hr", "section",
    "blockquote", "pre", "h1", "h2", "h3", "h4", "h5", "h6", "caption", "center", "article",
})  # fmt: skip
_BLOCKS_IN_CELL = frozenset(
    {"h1", "h2", "h3", "h4", "h5", "h6", "form", "article", "section", "main"}
)
_LABEL = re.compile(r"(?:\(?[A-Za-z0-9]{1,4}[.)]|[•·▪–o-])?")
_EMPHATIC = frozenset({"b", "strong", "th"})
_SEPARATOR = " / "


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell as the page has it."""

    text: str  # one line
    columns: int
    rows: int  # 0: to the end of its part of the table
    header: bool  # a `th`, or all of it bold
    is_th: bool
    long: bool = False  # holds a heading, a form or a section and more: a page, not a value
    inner: bool = False  # holds a table


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A table's slots, row by row, each row as wide as the table."""

    rows: tuple[tuple[str, ...], ...]
    header_rows: int
    caption: str
    cells: tuple[Cell, ...]
    presentational: bool
    images: int = 0


@dataclass(slots=True)
class _Reading:
    """The rows of a table while they are collected: of each part, its rows of cells."""

    head: list[list[Cell]] = field(default_factory=list)
    bodies: list[list[list[Cell]]] = field(default_factory=list)
    foot: list[list[Cell]] = field(default_factory=list)
    caption: str = ""
    images: int = 0


def read_grid(table: LexborNode, unseen: frozenset[int] = frozenset()) -> Grid:
    """Return the grid of a `table` element; rows and columns without any text are left out."""
    reading = _read_parts(table, unseen)
    groups = [reading.head, *reading.bodies, reading.foot]
    slots: list[list[str]] = []
    begins = 0  # the last column in which a cell begins
    for group in groups:
        formed, last = _form(group)
        slots += formed
        begins = max(begins, last)
    width = max((len(row) for row in slots), default=0)
    width = begins + 1 if width > _WIDE else width
    full = [tuple([*row, *[""] * width][:width]) for row in slots]
    head = len(reading.head) or _leading_headers(groups)
    kept, head = _without_empty(full, head)
    return Grid(
        rows=kept,
        header_rows=head or _guessed_header(kept, groups),
        caption=reading.caption,
        cells=tuple(cell for group in groups for row in group for cell in row),
        presentational=attribute(table, "role") in {"presentation", "none"},
        images=reading.images,
    )


def data_grid(table: LexborNode, unseen: frozenset[int], around: int) -> Grid | None:
    """Return the grid of a table that holds values, None for one that lays out the page.

    `around` is how many tables that lay out the page this one stands in.
    """
    if around >= _DEEPEST_LAYOUT:
        return None
    grid = read_grid(table, unseen)
    return grid if is_data_table(grid) else None


def is_data_table(grid: Grid) -> bool:
    """Tell whether a table holds values, and is not a way to place paragraphs on a page.

    Not data: one cell or one column; cells that hold a table, or a heading or form with text under it,
    where no cell is a `th`; one row of long texts; two columns of which the first holds outline labels alone.
    """
    if grid.presentational or not grid.rows or len(grid.rows[0]) < 2:
        return False
    if grid.caption or any(cell.is_th for cell in grid.cells):
        return not all(cell.inner or not cell.text for cell in grid.cells)
    if any(cell.inner or cell.long for cell in grid.cells):
        return False
    if len(grid.rows) == 1:
        return all(len(text) < _COLUMN_OF_A_PAGE for text in grid.rows[0])
    outline = len(grid.rows[0]) == 2 and all(_LABEL.fullmatch(row[0]) for row in grid.rows)
    return not (outline and any(len(row[1]) > 60 for row in grid.rows))


def pipe_table(grid: Grid) -> str:
    """Return the grid as a GitHub pipe table: one header row, its rule, the rows."""
    width = len(grid.rows[0])
    header = _merged_header(grid.rows[: grid.header_rows], width)
    lines = [_line(header), "|" + "---|" * width]
    lines += [_line(row) for row in grid.rows[grid.header_rows :]]
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_escaped(cell) for cell in cells) + " |"


def _escaped(text: str) -> str:
    """Escape what would end a cell, and a backslash that stands before it."""
    return re.sub(r"(\\*)\|", r"\1\1\\|", text) if "|" in text else text


def _merged_header(rows: Sequence[tuple[str, ...]], width: int) -> list[str]:
    header = []
    for column in range(width):
        parts: list[str] = []
        for row in rows:
            if row[column] and row[column] not in parts[-1:]:
                parts.append(row[column])
        header.append(_SEPARATOR.join(parts))
    return header


def _read_parts(table: LexborNode, unseen: frozenset[int]) -> _Reading:
    reading = _Reading()
    for part in _elements(table, unseen):
        tag = part.tag
        if tag == "caption":
            reading.caption = one_line(_words(part, unseen)[0])
        elif tag == "tr":
            if not reading.bodies:
                reading.bodies.append([])
            reading.bodies[-1].append(_read_row(part, unseen, reading))
        elif tag in _PARTS:
            rows = [
                _read_row(row, unseen, reading)
                for row in _elements(part, unseen)
                if row.tag == "tr"
            ]
            if tag == "thead" and not reading.head:
                reading.head = rows
            elif tag == "tfoot" and not reading.foot:
                reading.foot = rows
            else:
                reading.bodies.append(rows)
    return reading


def _elements(parent: LexborNode, unseen: frozenset[int]) -> Iterator[LexborNode]:
    node = parent.child
    while node is not None:
        if node.tag not in UNREAD and node.tag != "-text" and node.mem_id not in unseen:
            yield node
        node = node.next


def _read_row(row: LexborNode, unseen: frozenset[int], reading: _Reading) -> list[Cell]:
    return [
        _read_cell(cell, unseen, reading)
        for cell in _elements(row, unseen)
        if cell.tag in {"td", "th"}
    ]


def _read_cell(cell: LexborNode, unseen: frozenset[int], reading: _Reading) -> Cell:
    words, tags = _words(cell, unseen)
    text = one_line(words)
    reading.images += "img" in tags
    attributes = cell.attributes
    return Cell(
        text=text,
        columns=max(1, _span(attributes.get("colspan"), _MOST_COLUMNS_SPANNED)),
        rows=_span(attributes.get("rowspan"), _MOST_ROWS_SPANNED),
        header=cell.tag == "th" or _all_bold(cell),
        is_th=cell.tag == "th",
        long=len(text) > _LONG_CELL and not tags.isdisjoint(_BLOCKS_IN_CELL),
        inner="table" in tags,
    )


def _words(cell: LexborNode, unseen: frozenset[int]) -> tuple[str, set[str]]:
    """Return a cell's words and the tags in it; blocks are set apart by spaces."""
    first = cell.child
    if first is None:
        return "", set()
    if first.tag == "-text" and first.next is None:  # most cells of most tables
        return first.text_content or "", set()
    parts: list[str] = []
    tags: set[str] = set()
    for node, tag, entered in Walk(cell, unseen):
        if tag == "-text":
            parts.append(node.text_content or "")
            continue
        tags.add(tag)
        if tag in _BREAKING:
            parts.append(BREAK)
        elif tag == "sup":
            parts.append(RAISED if entered else LOWERED)
        elif tag in {"del", "s", "strike"}:
            parts.append("~~")
        elif tag == "img":
            parts.append(" ")
    return "".join(parts), tags


def _all_bold(cell: LexborNode) -> bool:
    """Tell whether all the words of a cell are in one `b` or `strong`."""
    node: LexborNode | None = cell
    for _ in range(4):  # td > p > span > b is the deepest that Word's pages nest it
        children = [
            child
            for child in (node.iter(include_text=True) if node is not None else ())
            if child.tag != "-text" or (child.text_content or "").strip()
        ]
        if len(children) != 1:
            return False
        node = children[0]
        if node.tag in _EMPHATIC:
            return True
    return False


def _span(value: str | None, most: int) -> int:
    """Return a span as the standard reads it: digits at the start; 0 stays; else 1."""
    match = re.match(r"\s*\+?(\d{1,9})", value) if value else None
    return min(int(match[1]), most) if match else 1


def _form(group: list[list[Cell]]) -> tuple[list[list[str]], int]:
    """Return the slots of a part of a table, and the last column in which a cell begins.

    Spans end with their part.  Where two cells overlap, the slot is the upper one's; a cell's first
    slot is always its own, so that no value is lost.
    """
    rows: list[dict[int, str]] = [{} for _ in group]
    begins = filled = 0
    for y, cells in enumerate(group):
        x = 0
        for cell in cells:
            while x in rows[y]:
                x += 1
            begins = max(begins, x)
            deep = len(group) - y if cell.rows == 0 else min(cell.rows, len(group) - y)
            if filled + deep * cell.columns > _MOST_SLOTS:
                deep, columns = 1, 1
            else:
                columns = cell.columns
            filled += deep * columns
            for row in rows[y : y + deep]:
                for column in range(x, x + columns):
                    row.setdefault(column, cell.text)
            x += columns
    return [[row.get(i, "") for i in range(max(row, default=-1) + 1)] for row in rows], begins


def _leading_headers(groups: list[list[list[Cell]]]) -> int:
    """Count the rows at the top that are all `th`, where the table has no head of its own."""
    count = 0
    for group in groups:
        for row in group:
            if not row or not all(cell.is_th for cell in row):
                return count if count < sum(len(g) for g in groups) else 0
            count += 1
    return 0  # nothing but headers: the table has none


def _without_empty(
    rows: list[tuple[str, ...]], head: int
) -> tuple[tuple[tuple[str, ...], ...], int]:
    """Leave out rows and columns without any text; return the rest and its count of header rows."""
    columns = [x for x in range(len(rows[0]) if rows else 0) if any(row[x] for row in rows)]
    kept = [(y, row) for y, row in enumerate(rows) if any(row)]
    narrowed = tuple(tuple(row[x] for x in columns) for _, row in kept)
    return narrowed, sum(y < head for y, _ in kept)


def _guessed_header(rows: tuple[tuple[str, ...], ...], groups: list[list[list[Cell]]]) -> int:
    """Return how many rows of plain cells at the top head the others; 0 if none seems to.

    They do if the first row spans both ways ("Zone" down, "Heights" across), if all its words are bold,
    or if it is full, holds no digit, and half of the cells below do.
    """
    if len(rows) < 2:
        return 0
    first = next((row for g in groups for row in g if any(cell.text for cell in row)), [])
    deep = max((cell.rows for cell in first), default=1)
    if 1 < deep < len(rows) and any(cell.columns > 1 for cell in first):
        return deep
    bold = [cell.header for cell in first if cell.text]
    if bold and all(bold):
        return 1
    below = [text for row in rows[1:] for text in row if text]
    figures = sum(any(c.isdigit() for c in text) for text in below)
    plain = all(text and not any(c.isdigit() for c in text) for text in rows[0])
    return int(plain and len(set(rows[0])) == len(rows[0]) and figures * 2 >= len(below))
