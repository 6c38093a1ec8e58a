"""Reading order: the words and tables of a page to bands of columns.

Pure geometry.  A gutter is a stretch of white that runs down through several rows
with text on both of its sides.  Where both sides read like prose it parts columns,
each read to its end before the next; otherwise it parts the cells of a table that
has no drawn lines (`pdf_tables`), or a list's numbers from their text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from appliance.formats.pdf_lines import Line, Word, box_of, line_of, rows_of
from appliance.formats.pdf_tables import Table, aligned_table

Item = Line | Table

# In letter heights.  A gutter starts at a gap that no justified line has by chance in the same
# place twice; once started it may narrow, as ragged lines do, but not to the width of a blank.
GUTTER_STARTS = 0.9
GUTTER_LASTS = 0.5
# Rows with text on both sides.  Three rows of a fee list are a table; two columns of prose
# that are shorter than five rows cannot be told from it.
TABLE_ROWS = 3
PROSE_ROWS = 5
# A column of prose is filled with letters to about two thirds, one of lists to a half; cells of a
# table to a third or less.  Lines of gazettes in three columns hold 30 letters and more, cells with
# sentences in them 20 to 25.
PROSE_INK = 0.4
PROSE_LETTERS = 28
MOST_UNEQUAL = 1.8  # columns of prose side by side are as wide as one another, cells are not
# Columns within columns within columns: more is a drawing, or an attack.
MOST_DEPTH = 6

_LABEL = re.compile(
    r"[(\[]?(?:[ivxlcIVXLC]+|[A-Za-z]{1,2}|\d+[A-Za-z]?(?:\.\d+)*)[)\].:]{0,2}|[•·▪■○●\-–—*]|§"
    r"|\d+\.\([a-z\d]+\)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """A stretch of a page over its whole width: one column, or several side by side."""

    columns: tuple[tuple[Item, ...], ...]

    @property
    def items(self) -> tuple[Item, ...]:
        """Return lines and tables in reading order."""
        return tuple(i for column in self.columns for i in column)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A row of words, or a drawn table that bars the way of a gutter."""

    y: float
    words: tuple[Word, ...]
    taken: tuple[tuple[float, float], ...]  # from left to right, apart from one another
    em: float


@dataclass(slots=True)
class _Gutter:
    """A white stretch while it is followed down the page."""

    x0: float
    x1: float
    first: int
    last: int
    both: int  # rows with text on both sides


def reading_order(words: Sequence[Word], tables: Sequence[Table]) -> tuple[Band, ...]:
    """Return a page's bands from the top; drawn tables stay where they stand."""
    return tuple(_cut(list(words), list(tables), MOST_DEPTH))


def _cut(words: list[Word], tables: list[Table], depth: int) -> list[Band]:
    rows = _rows(words, tables)
    gutters = _gutters(rows)
    prose = [g for g in gutters if depth > 0 and _parts_prose(g, gutters, rows)]
    if not prose:
        items = _flow(rows, gutters, tables)
        return [Band(columns=(tuple(items),))] if items else []
    best = max(prose, key=lambda g: g.both * (g.x1 - g.x0))  # the whitest
    _reach(best, rows)
    parts = _split_by_rows(rows, tables, best)
    above, below = _cut(*parts[0], depth - 1), _cut(*parts[2], depth - 1)
    middle = (best.x0 + best.x1) / 2
    columns = tuple(
        tuple(item for band in _cut(*side, depth - 1) for item in band.items)
        for side in _split_by_side(*parts[1], middle)
    )
    return [*above, Band(columns=tuple(c for c in columns if c)), *below]


def _rows(words: list[Word], tables: list[Table]) -> list[_Row]:
    rows = [_row(row, tables) for row in rows_of(words)]
    rows += [_bar(table) for table in tables]
    return sorted(rows, key=lambda r: r.y)


def _row(words: list[Word], tables: list[Table]) -> _Row:
    em = max(w.size for w in words)
    top, bottom = min(w.box.y0 for w in words), max(w.box.y1 for w in words)
    beside = [t.box for t in tables if t.box.y0 < bottom and t.box.y1 > top]
    spans = sorted([(w.box.x0, w.box.x1) for w in words] + [(b.x0, b.x1) for b in beside])
    return _Row(y=top, words=tuple(words), taken=_merged(spans, GUTTER_LASTS * em), em=em)


def _bar(table: Table) -> _Row:
    return _Row(y=table.box.y0, words=(), taken=((table.box.x0, table.box.x1),), em=1.0)


def _merged(spans: list[tuple[float, float]], gap: float) -> tuple[tuple[float, float], ...]:
    merged: list[tuple[float, float]] = []
    for x0, x1 in spans:
        if merged and x0 - merged[-1][1] < gap:
            merged[-1] = (merged[-1][0], max(merged[-1][1], x1))
        else:
            merged.append((x0, x1))
    return tuple(merged)


# ------------------------------------------------------------------ gutters


def _gutters(rows: list[_Row]) -> list[_Gutter]:
    """Return the gutters with enough rows on both sides; each row looks at the open ones only."""
    open_: list[_Gutter] = []
    closed: list[_Gutter] = []
    for position, row in enumerate(rows):
        still: list[_Gutter] = []
        for gutter in open_:
            (still if _goes_on(gutter, row, position) else closed).append(gutter)
        open_ = still + _started(row, position, still)
    return [g for g in closed + open_ if g.both >= 2]


def _goes_on(gutter: _Gutter, row: _Row, position: int) -> bool:
    x0, x1 = gutter.x0, gutter.x1
    for a, b in row.taken:
        if b <= x0 or a >= x1:
            continue
        if a <= x0 and b < x1:
            x0 = b
        elif a > x0 and b >= x1:
            x1 = a
        elif a <= x0:
            return False  # something lies across it
        elif a - x0 >= x1 - b:  # something stands in it: the wider side goes on
            x1 = a
        else:
            x0 = b
    if x1 - x0 < GUTTER_LASTS * row.em:
        return False
    gutter.x0, gutter.x1 = x0, x1
    if row.words and row.taken[0][1] <= x0 and row.taken[-1][0] >= x1:
        gutter.both += 1
        gutter.last = position
    return True


def _started(row: _Row, position: int, held: list[_Gutter]) -> list[_Gutter]:
    return [
        _Gutter(x0=a[1], x1=b[0], first=position, last=position, both=1)
        for a, b in zip(row.taken, row.taken[1:], strict=False)
        if b[0] - a[1] >= GUTTER_STARTS * row.em
        and not any(g.x0 < b[0] and g.x1 > a[1] for g in held)
    ]


def _reach(gutter: _Gutter, rows: list[_Row]) -> None:
    """Let a gutter between columns run on through the rows above and below that leave it white.

    One column of a page often starts higher or ends lower than the other.
    """
    while gutter.first > 0 and _leaves_white(gutter, rows, gutter.first - 1, gutter.first):
        gutter.first -= 1
    while gutter.last + 1 < len(rows) and _leaves_white(gutter, rows, gutter.last + 1, gutter.last):
        gutter.last += 1


def _leaves_white(gutter: _Gutter, rows: list[_Row], new: int, old: int) -> bool:
    row = rows[new]
    near = abs(row.y - rows[old].y) <= 4 * rows[old].em or not rows[old].words
    return near and not any(a < gutter.x1 and b > gutter.x0 for a, b in row.taken)


def _parts_prose(gutter: _Gutter, gutters: list[_Gutter], rows: list[_Row]) -> bool:
    """Tell whether the columns at both sides of a gutter read like prose and are about as wide."""
    if gutter.both < PROSE_ROWS:
        return False
    held = rows[gutter.first : gutter.last + 1]
    others = [g for g in gutters if _bounds_column(g, gutter, held)]
    low = max((g.x1 for g in others if g.x1 <= gutter.x0), default=-float("inf"))
    high = min((g.x0 for g in others if g.x0 >= gutter.x1), default=float("inf"))
    left = [_between(r, low, gutter.x1) for r in held]
    right = [_between(r, gutter.x0, high) for r in held]
    widths = [_is_prose([words for words in side if words]) for side in (left, right)]
    return min(widths) > 0 and max(widths) <= MOST_UNEQUAL * min(widths)


def _bounds_column(other: _Gutter, gutter: _Gutter, held: list[_Row]) -> bool:
    """Tell whether another gutter is the far side of a column beside this one.

    It goes down through most of the same rows, and most of these have text between the two
    that is more than the numbers of a list.
    """
    shared = min(other.last, gutter.last) - max(other.first, gutter.first) + 1
    if other is gutter or 2 * shared < len(held):
        return False
    low, high = min(other.x1, gutter.x1), max(other.x0, gutter.x0)
    strip = [line_of(ws).text for r in held if (ws := _between(r, low, high))]
    numbers = sum(_LABEL.fullmatch(text) is not None for text in strip)
    return 2 * len(strip) >= len(held) and 2 * numbers < len(strip)


def _between(row: _Row, low: float, high: float) -> list[Word]:
    return [w for w in row.words if low <= w.box.x0 and w.box.x1 <= high]


def _is_prose(lines: list[list[Word]]) -> float:
    """Return the width of a column of prose; 0 if these lines are none."""
    words = [w for line in lines for w in line]
    if len(lines) < PROSE_ROWS:
        return 0.0
    box = box_of(w.box for w in words)
    ink = sum(w.box.width for w in words) / (len(lines) * box.width or 1.0)
    letters = sum(len(w.text) + 1 for w in words) / len(lines)
    return box.width if ink >= PROSE_INK and letters >= PROSE_LETTERS else 0.0


def _by_side(words: Iterable[Word], x: float) -> tuple[list[Word], list[Word]]:
    left: list[Word] = []
    right: list[Word] = []
    for word in words:
        (left if (word.box.x0 + word.box.x1) / 2 < x else right).append(word)
    return left, right


# ------------------------------------------------------------------ cutting

_Part = tuple[list[Word], list[Table]]


def _split_by_rows(
    rows: list[_Row], tables: list[Table], gutter: _Gutter
) -> tuple[_Part, _Part, _Part]:
    """Return what stands above, beside and below a gutter."""
    top = rows[gutter.first].y
    beyond = rows[gutter.last + 1].y if gutter.last + 1 < len(rows) else float("inf")
    bounds = (-float("inf"), top, beyond, float("inf"))
    parts: list[_Part] = []
    for low, high in pairwise(bounds):
        held = [w for r in rows if low <= r.y < high for w in r.words]
        parts.append((held, [t for t in tables if low <= t.box.y0 < high]))
    return parts[0], parts[1], parts[2]


def _split_by_side(words: list[Word], tables: list[Table], x: float) -> tuple[_Part, _Part]:
    left, right = _by_side(words, x)
    return (
        (left, [t for t in tables if (t.box.x0 + t.box.x1) / 2 < x]),
        (right, [t for t in tables if (t.box.x0 + t.box.x1) / 2 >= x]),
    )


# ------------------------------------------------------------------ one column


def _flow(rows: list[_Row], gutters: list[_Gutter], tables: list[Table]) -> list[Item]:
    """Return the lines and tables of one column, from the top."""
    items: list[Item] = list(tables)
    done = 0
    for first, last, edges in _cell_regions(rows, gutters):
        found = aligned_table([list(r.words) for r in rows[first : last + 1] if r.words], edges)
        if found is None:
            continue
        table, before, after = found
        items += [line_of(r.words) for r in rows[done:first] if r.words]
        items += [*before, table, *after]
        done = last + 1
    items += [line_of(r.words) for r in rows[done:] if r.words]
    return sorted(items, key=_top)


def _top(item: Item) -> float:
    # A line's box begins at its ascenders; a table's at its frame, a little higher.
    return item.box.y0 if isinstance(item, Table) else item.base - 0.5 * item.size


def _cell_regions(
    rows: list[_Row], gutters: list[_Gutter]
) -> list[tuple[int, int, tuple[float, ...]]]:
    """Return (first row, last row, x of the cell borders) of what may be tables."""
    end: tuple[int, int, list[_Gutter]] = (len(rows), len(rows), [])
    borders = [g for g in gutters if not _parts_labels(g, rows)]
    regions: list[tuple[int, int, list[_Gutter]]] = []
    for gutter in sorted(borders, key=lambda g: g.first):
        if regions and gutter.first <= regions[-1][1]:
            first, last, held = regions[-1]
            regions[-1] = (first, max(last, gutter.last), [*held, gutter])
        else:
            regions.append((gutter.first, gutter.last, [gutter]))
    full = [r for r in regions if max(g.both for g in r[2]) >= TABLE_ROWS]
    # The rest of a last cell has no text on both sides; `aligned_table` gives back what is not it.
    following = [*full, end][1:] if full else []
    ends = [min(a + 3, b - 1) for (_, a, _), (b, _, _) in zip(full, following, strict=True)]
    regions = [(a, e, held) for (a, _, held), e in zip(full, ends, strict=True)]
    before = [-1, *(e for _, e, _ in regions)]
    return [
        (_with_head(a, low, rows, held), e, _edges(held))
        for low, (a, e, held) in zip(before, regions, strict=False)
    ]


def _with_head(first: int, low: int, rows: list[_Row], held: list[_Gutter]) -> int:
    """Return the first row of a table's head: the rows close above it that keep its columns apart."""
    while first - 1 > low:
        above, here = rows[first - 1], rows[first]
        parted = [g for g in held if not any(a < g.x1 and b > g.x0 for a, b in above.taken)]
        close = here.y - above.y < 1.6 * here.em
        if not close or len(parted) < len(held) or len(above.taken) < 2 or not above.words:
            return first
        first -= 1
    return first


def _edges(gutters: list[_Gutter]) -> tuple[float, ...]:
    """Return one border for each gutter; two that overlap are one seen twice."""
    edges: list[float] = []
    reach = -float("inf")
    for gutter in sorted(gutters, key=lambda g: (g.x0 + g.x1) / 2):
        if gutter.x0 >= reach:
            edges.append((gutter.x0 + gutter.x1) / 2)
            reach = gutter.x1
    return tuple(edges)


def _parts_labels(gutter: _Gutter, rows: list[_Row]) -> bool:
    """Tell whether what stands left of a gutter is a list's numbers."""
    middle = (gutter.x0 + gutter.x1) / 2
    starts: list[str] = []
    for row in rows[gutter.first : gutter.last + 1]:
        left = [w for w in row.words if w.box.x1 <= middle]
        if left:
            starts.append(_last_piece(left, row.em))
    labels = sum(1 for s in starts if _LABEL.fullmatch(s.strip()))
    return labels >= 0.7 * len(starts)


def _last_piece(words: list[Word], em: float) -> str:
    """Return the text of the words nearest to the gutter, back to the next wide gap."""
    ordered = sorted(words, key=lambda w: w.box.x0)
    piece = [ordered[-1]]
    for word in reversed(ordered[:-1]):
        if piece[-1].box.x0 - word.box.x1 > GUTTER_STARTS * em:
            break
        piece.append(word)
    return " ".join(w.text for w in reversed(piece))
