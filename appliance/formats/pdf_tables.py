"""Tables of a page: cells from drawn lines, or from columns that stand under one another.

Pure geometry.  A cell's lines are joined; a cell over several rows is repeated in
each, so that every row can be read alone; a cell over several columns stands in the
first.  What it cannot tell: a table without lines whose cells wrap in all columns at once.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from appliance.formats.pdf_lines import (
    Box,
    Line,
    Rule,
    Word,
    box_of,
    line_of,
    lines_of,
    run_on,
)

# Points.  Word processors draw a cell's border in pieces that miss one another by a point or two.
TOUCH = 3.0
# Double and thick borders lie up to this far apart and are one border.
SAME = 4.0
# More crossings than a page of cells can have is a drawing.
MOST_CROSSINGS = 250_000
MOST_CELLS = 20_000
# A "cell" of more lines than this is a column of prose beside a drawn line.
MOST_LINES = 14


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of equally many cells."""

    box: Box
    rows: tuple[tuple[str, ...], ...]
    header: bool  # the first row names the columns
    caption: str = ""  # what stood in one cell over all others


# ------------------------------------------------------------------ drawn lines


def ruled_tables(
    words: Sequence[Word], rules: Sequence[Rule]
) -> tuple[tuple[Table, ...], tuple[Word, ...]]:
    """Return the tables that drawn lines make, and the words outside of them."""
    tables: list[Table] = []
    left = list(words)
    for level, upright in _frames(rules):
        grid = _grid_of(level, upright)
        inside = [w for w in left if grid.box.holds(*_centre(w))]
        table = _ruled_table(grid, inside)
        if table is not None:
            tables.append(table)
            taken = set(map(id, inside))
            left = [w for w in left if id(w) not in taken]
    return tuple(tables), tuple(left)


def _centre(word: Word) -> tuple[float, float]:
    return (word.box.x0 + word.box.x1) / 2, (word.box.y0 + word.box.y1) / 2


def _frames(rules: Sequence[Rule]) -> list[tuple[list[Rule], list[Rule]]]:
    """Return the (level, upright) lines that hang together; those that hang on nothing are left out."""
    level = _mended([r for r in rules if r.level])
    upright = _mended([r for r in rules if not r.level])
    if len(level) * len(upright) > MOST_CROSSINGS:
        return []
    owner = list(range(len(level) + len(upright)))

    def root(i: int) -> int:
        while owner[i] != i:
            owner[i] = owner[owner[i]]
            i = owner[i]
        return i

    for i, h in enumerate(level):
        for j, v in enumerate(upright):
            if _touch(h, v):
                owner[root(len(level) + j)] = root(i)
    frames: dict[int, tuple[list[Rule], list[Rule]]] = {}
    for i, rule in enumerate([*level, *upright]):
        frames.setdefault(root(i), ([], []))[0 if i < len(level) else 1].append(rule)
    return [f for f in frames.values() if len(f[0]) >= 2 and f[1]]


def _touch(h: Rule, v: Rule) -> bool:
    return h.x0 - TOUCH <= v.x0 <= h.x1 + TOUCH and v.y0 - TOUCH <= h.y0 <= v.y1 + TOUCH


def _mended(rules: list[Rule]) -> list[Rule]:
    """Join the pieces of a line that follow one another."""
    if not rules:
        return []
    level = rules[0].level
    mended: list[Rule] = []
    key = (lambda r: (round(r.y0), r.x0)) if level else (lambda r: (round(r.x0), r.y0))
    for rule in sorted(rules, key=key):
        last = mended[-1] if mended else None
        if last and level and abs(last.y0 - rule.y0) <= 1 and rule.x0 <= last.x1 + TOUCH:
            mended[-1] = Rule(x0=last.x0, y0=last.y0, x1=max(last.x1, rule.x1), y1=last.y1)
        elif last and not level and abs(last.x0 - rule.x0) <= 1 and rule.y0 <= last.y1 + TOUCH:
            mended[-1] = Rule(x0=last.x0, y0=last.y0, x1=last.x1, y1=max(last.y1, rule.y1))
        else:
            mended.append(rule)
    return mended


@dataclass(frozen=True, slots=True, kw_only=True)
class _Grid:
    """Borders by position, each with the stretches that are really drawn."""

    xs: tuple[float, ...]
    ys: tuple[float, ...]
    upright: tuple[tuple[Rule, ...], ...]  # for each of xs
    level: tuple[tuple[Rule, ...], ...]  # for each of ys

    @property
    def box(self) -> Box:
        return Box(x0=self.xs[0], y0=self.ys[0], x1=self.xs[-1], y1=self.ys[-1])

    def walled(self, row: int, column: int) -> bool:
        """Tell whether a line parts a cell from the one to its right."""
        middle = (self.ys[row] + self.ys[row + 1]) / 2
        return any(r.y0 <= middle <= r.y1 for r in self.upright[column + 1])

    def floored(self, row: int, column: int) -> bool:
        """Tell whether a line parts a cell from the one below."""
        middle = (self.xs[column] + self.xs[column + 1]) / 2
        return any(r.x0 <= middle <= r.x1 for r in self.level[row + 1])


def _grid_of(level: list[Rule], upright: list[Rule]) -> _Grid:
    xs = _clusters([(r.x0, r) for r in upright])
    ys = _clusters([(r.y0, r) for r in level])
    left, right = min(r.x0 for r in level), max(r.x1 for r in level)
    if left < xs[0][0] - SAME:  # many tables have no border at the sides
        xs = [(left, ()), *xs]
    if right > xs[-1][0] + SAME:
        xs = [*xs, (right, ())]
    top, bottom = min(r.y0 for r in upright), max(r.y1 for r in upright)
    if top < ys[0][0] - SAME:
        ys = [(top, ()), *ys]
    if bottom > ys[-1][0] + SAME:  # a table that goes on on the next page
        ys = [*ys, (bottom, ())]
    return _Grid(
        xs=tuple(x for x, _ in xs),
        ys=tuple(y for y, _ in ys),
        upright=tuple(rules for _, rules in xs),
        level=tuple(rules for _, rules in ys),
    )


def _clusters(rules: list[tuple[float, Rule]]) -> list[tuple[float, tuple[Rule, ...]]]:
    clusters: list[tuple[float, tuple[Rule, ...]]] = []
    for at, rule in sorted(rules, key=lambda r: r[0]):
        if clusters and at - clusters[-1][0] <= SAME:
            clusters[-1] = (clusters[-1][0], (*clusters[-1][1], rule))
        else:
            clusters.append((at, (rule,)))
    return clusters


def _ruled_table(grid: _Grid, words: list[Word]) -> Table | None:
    across, down = len(grid.xs) - 1, len(grid.ys) - 1
    if across < 2 or down < 1 or across * down > MOST_CELLS or not words:
        return None
    groups = _groups(grid, across, down)
    held: dict[int, list[Word]] = {}
    for word in words:
        x, y = _centre(word)
        column = min(max(bisect_right(grid.xs, x) - 1, 0), across - 1)
        row = min(max(bisect_right(grid.ys, y) - 1, 0), down - 1)
        held.setdefault(groups[row * across + column], []).append(word)
    lines = {group: lines_of(of) for group, of in held.items()}
    if max(map(len, lines.values())) > MOST_LINES and down < 4:
        return None
    rows = [row for r in range(down) for row in _grid_row(r, across, groups, lines)]
    if len(rows) == down:
        rows = _with_one_head(rows, groups, lines)
    return _tidy(rows, box=grid.box, header=_first_row_bold(lines, across))


def _groups(grid: _Grid, across: int, down: int) -> list[int]:
    """Return for each cell the first cell (in reading order) that no line parts it from."""
    group = list(range(across * down))
    for row in range(down):
        for column in range(across):
            here = row * across + column
            if column and not grid.walled(row, column - 1):
                group[here] = group[here - 1]
            if row and not grid.floored(row - 1, column):
                above = group[here - across]
                if group[here] == here or group[here] // across == row:
                    group[here] = above
    return group


def _grid_row(
    row: int, across: int, groups: list[int], lines: dict[int, list[Line]]
) -> list[tuple[list[Line], ...]]:
    """Return the cells of a drawn row; several rows if its cells list line against line."""
    of = groups[row * across : (row + 1) * across]
    cells = tuple(lines.get(g, []) if c == 0 or of[c - 1] != g else [] for c, g in enumerate(of))
    return _listed(cells) or [cells]


def _listed(cells: tuple[list[Line], ...]) -> list[tuple[list[Line], ...]]:
    """Part a row in which every filled cell has the same three or more lines, side by side.

    Many tables draw lines between the columns only.
    """
    filled = [c for c in cells if c]
    counts = {len(c) for c in filled}
    if len(filled) < 2 or len(counts) != 1 or min(counts) < 3:
        return []
    for lines in zip(*filled, strict=True):
        if max(li.base for li in lines) - min(li.base for li in lines) > 0.5 * lines[0].size:
            return []
    return [tuple([c[i]] if c else [] for c in cells) for i in range(counts.pop())]


# Rows of a head: a title over several columns, their names, their units; a fourth was never seen.
MOST_HEAD_ROWS = 4


def _with_one_head(
    rows: list[tuple[list[Line], ...]], groups: list[int], lines: dict[int, list[Line]]
) -> list[tuple[list[Line], ...]]:
    """Make one row of a head, of several if need be; a title over several columns is said in each."""
    depth = _head_depth([tuple(cell_text(c) for c in row) for row in rows])
    if not depth:
        return rows
    across = len(rows[0])
    head = []
    for column in range(across):
        stacked = dict.fromkeys(groups[row * across + column] for row in range(depth))
        head.append([line for group in stacked for line in lines.get(group, [])])
    return [tuple(head), *rows[depth:]]


def _head_depth(texts: list[tuple[str, ...]]) -> int:
    """Return how many rows without figures stand over rows that are figures for the most part."""
    depth = 0
    while depth < len(texts) and not any(_FIGURE.match(c) for c in texts[depth]):
        depth += 1
    body = texts[depth:]
    figures = all(2 * sum(bool(_FIGURE.match(c)) for c in r) >= sum(map(bool, r)) for r in body)
    titled = depth and any(texts[0][1:])
    return depth if titled and depth <= MOST_HEAD_ROWS and len(body) >= 2 and figures else 0


def _first_row_bold(lines: dict[int, list[Line]], across: int) -> bool:
    first = [of for group, of in lines.items() if group < across]
    rest = [of for group, of in lines.items() if group >= across]
    bold = all(li.bold for of in first for li in of)
    return bool(first) and bold and not all(li.bold for of in rest for li in of)


def _tidy(rows: list[tuple[list[Line], ...]], *, box: Box, header: bool) -> Table | None:
    """Return the table without empty rows and columns; None if no table is left."""
    texts = [tuple(cell_text(c) for c in row) for row in rows]
    kept = [r for r in texts if any(r)]
    columns = [c for c in range(len(rows[0])) if any(r[c] for r in kept)]
    if len(columns) < 2 or not kept:
        return None
    cut = [tuple(r[c] for c in columns) for r in kept]
    caption = ""
    while len(cut) > 1 and cut[0][0] and not any(cut[0][1:]):
        caption, header = run_on(caption, cut.pop(0)[0]), False
    return Table(box=box, rows=tuple(cut), header=header or _names_columns(cut), caption=caption)


_FIGURE = re.compile(r"[$€£R]?\s?\d")


def _names_columns(rows: Sequence[tuple[str, ...]]) -> bool:
    """Tell whether the first row, all words, stands over columns of which one is all figures."""
    first, rest = rows[0], rows[1:]
    if not rest or not all(first) or any(_FIGURE.match(c.lstrip("(")) for c in first):
        return False
    return any(
        all(_FIGURE.match(r[c].lstrip("(")) for r in rest if r[c]) and any(r[c] for r in rest)
        for c in range(1, len(first))
    )


def cell_text(lines: Iterable[Line]) -> str:
    """Return the lines of a cell as one."""
    text = ""
    for line in lines:
        text = run_on(text, line.text) if text else line.text
    return text


# ------------------------------------------------------------------ columns without lines


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cells:
    """One line of print, by column."""

    line: Line
    of: dict[int, Line]


def aligned_table(
    rows: Sequence[Sequence[Word]], edges: Sequence[float]
) -> tuple[Table, list[Line], list[Line]] | None:
    """Return the table that rows make between column borders, with the lines before and after it.

    None if they are no table: too few rows hold two cells, or the cells are prose.
    """
    starts = _starts(_cells(row, edges) for row in rows)
    lines = [_cells(row, edges, starts) for row in rows]
    first, last = _core(lines)
    core = lines[first : last + 1]
    if sum(len(c.of) >= 2 for c in core) < 3 or _wordy(core):
        return None
    grouped = _by_table_row(core)
    across = len(edges) + 1
    cells = [tuple([c.of[k] for c in row if k in c.of] for k in range(across)) for row in grouped]
    bold = [all(li.bold for c in row for li in c.of.values()) for row in grouped]
    table = _tidy(
        cells,
        box=box_of(c.line.box for c in core),
        header=len(bold) > 1 and bold[0] and not any(bold[1:]) and len(grouped[0][0].of) >= 2,
    )
    if table is None:
        return None
    return table, [c.line for c in lines[:first]], [c.line for c in lines[last + 1 :]]


# Letters in the usual cell.  Fee lists have 10 to 40; columns of prose hold 50 and more a line.
WORDY = 48
# A blank between words is a quarter to a third of the letters' height; where a border runs through
# a wider one, two cells have come close to each other.
CELL_GAP = 0.45


def _cells(
    row: Sequence[Word], edges: Sequence[float], starts: Container[tuple[int, int]] = ()
) -> _Cells:
    of: dict[int, list[Word]] = {}
    column, reach = 0, -float("inf")
    for word in sorted(row, key=lambda w: w.box.x0):
        at = bisect_right(edges, word.box.x0)
        apart = word.box.x0 - reach >= CELL_GAP * word.size
        if at != column and (apart or (at, round(word.box.x0)) in starts):
            column = at
        of.setdefault(column, []).append(word)
        reach = word.box.x1
    return _Cells(line=line_of(row), of={k: line_of(ws) for k, ws in of.items()})


def _starts(lines: Iterable[_Cells]) -> frozenset[tuple[int, int]]:
    """Return (column, x) where the cells of a column usually begin."""
    seen = Counter((k, round(li.box.x0)) for c in lines for k, li in c.of.items())
    return frozenset(start for start, times in seen.items() if times >= 3)


def _core(lines: list[_Cells]) -> tuple[int, int]:
    """Return the first and last line of the table: what stands before and after has one cell."""
    filled = [i for i, c in enumerate(lines) if len(c.of) >= 2]
    if not filled:
        return 0, -1
    barred = next((i for i in range(filled[0], len(lines)) if _is_sentence(lines[i])), len(lines))
    last = max(i for i in filled if i < barred)
    pitch = _tight(lines)
    while last + 1 < len(lines) and _continues(lines[last], lines[last + 1], pitch):
        last += 1
    return filled[0], last


def _is_sentence(cells: _Cells) -> bool:
    """Tell whether a line is running text over the width of the table: there the table ends."""
    return len(cells.of) == 1 and len(cells.line.text) > 1.5 * WORDY


def _continues(above: _Cells, below: _Cells, pitch: float) -> bool:
    """Tell whether a line with one cell is the rest of the cell above it."""
    column, rest = next(iter(below.of.items()))
    start = above.of.get(column)
    if start is None or below.line.base - above.line.base > 1.35 * pitch:
        return False
    return (
        start.bold == rest.bold
        and abs(start.box.x0 - rest.box.x0) < 2 * rest.size
        and not (rest.text[:1] in "([" or start.text.rstrip()[-1:] in ".;:")
    )


def _tight(lines: list[_Cells]) -> float:
    steps = sorted(b.line.base - a.line.base for a, b in pairwise(lines))
    return steps[len(steps) // 4] if steps else 0.0


def _wordy(lines: list[_Cells]) -> bool:
    cells = [len(li.text) for c in lines if len(c.of) >= 2 for li in c.of.values()]
    return median(cells) > WORDY


def _by_table_row(lines: list[_Cells]) -> list[list[_Cells]]:
    """Return the printed lines by the table's rows.

    Where white parts the rows, what stands close together is one row.  In a solid
    list each line is a row, but for those that only go on with a cell.
    """
    blocks = _blocks(lines)
    wrapped = sum(_wraps(b) for b in blocks)
    listed = sum(len(b) > 1 for b in blocks) - wrapped
    if len(blocks) > 1 and wrapped > listed:
        return [row for block in blocks for row in _without_caption(block)]
    pitch = _tight(lines)
    rows: list[list[_Cells]] = []
    for block in blocks:
        *head, rest = _without_caption(block)
        rows += [*head, *_line_by_line(rest, pitch)]
    return rows


def _blocks(lines: list[_Cells]) -> list[list[_Cells]]:
    pitch = _tight(lines)
    blocks = [[lines[0]]]
    for above, below in pairwise(lines):
        if below.line.base - above.line.base > 1.35 * pitch:
            blocks.append([below])
        else:
            blocks[-1].append(below)
    return blocks


def _wraps(block: list[_Cells]) -> bool:
    body = _without_caption(block)[-1]
    return len(body) > 1 and all(len(c.of) < len(body[0].of) for c in body[1:])


def _without_caption(block: list[_Cells]) -> list[list[_Cells]]:
    """Part the bold lines at a block's head, a caption or a header, from the row under them."""
    bold = 0
    while bold < len(block) and block[bold].line.bold:
        bold += 1
    return [block[:bold], block[bold:]] if 0 < bold < len(block) else [block]


def _line_by_line(block: list[_Cells], pitch: float) -> list[list[_Cells]]:
    rows = [[block[0]]]
    for cells in block[1:]:
        if _goes_on(rows[-1], cells, pitch):
            rows[-1].append(cells)
        else:
            rows.append([cells])
    return rows


def _goes_on(row: list[_Cells], cells: _Cells, pitch: float) -> bool:
    if len(cells.of) == 1:
        return _continues(row[-1], cells, pitch) or (
            len(row) > 1 and _continues(row[0], cells, 10 * pitch)
        )
    figures = _FIGURE.match(cells.of[max(cells.of)].text.lstrip("("))
    return 0 not in cells.of and 0 in row[0].of and figures is None
