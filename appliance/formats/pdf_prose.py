"""Lines to paragraphs, headings and footnotes, and all of a document to Markdown.

Pure.  A paragraph goes on over columns and pages; a page's span in the body begins
where its first word stands, even inside a paragraph.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from statistics import median

from appliance.domain import Span
from appliance.formats.pdf_headings import SECTION, Heading, Kind, Look, heading_of, levels, run_in
from appliance.formats.pdf_layout import Item
from appliance.formats.pdf_lines import Line, pitch_of, run_on, settled, words_known
from appliance.formats.pdf_tables import Table

# A paragraph ends at a step this much larger than the lines' own.  Word processors set 1.5 and
# more between paragraphs; a raised note's number moves a line by less than a fifth.
PARAGRAPH_STEP = 1.35
# A column of fewer lines does not tell its own step; the document's is taken.
FULL_COLUMN = 8
# Indents, in letter heights: less is a letter's own slant or the scanner's.
INDENT = 0.8
# Footnotes are set in a size this much smaller than the text, or less.
NOTE_SIZE = 0.93

_START = re.compile(
    r"(?:\([A-Za-z\d]{1,4}\)|[A-Z]{1,2}\.|[a-z]\.|\d{1,3}(?:\.\d+)*[.)]|[ivx]+[.)]|[•·▪■○●*]|§)(?=\s|\(|$|\d)"
    r"|(?:ARTICLE|CHAPTER|Article|Chapter|SECTION|Section|Sec\.)\s+[\dIVXLC]"
)
_NOTE = re.compile(r"(?:(\d{1,3})\.?|[*†‡])\s")
_CLOSED = re.compile(r"[.;:?!—][)\]”’\"']*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """One column of one page, in reading order."""

    page: int  # from 1
    items: tuple[Item, ...]


@dataclass(slots=True, kw_only=True)
class Block:
    """A paragraph, a heading or a table while it is being read."""

    page: int
    text: str
    look: Look = field(default_factory=lambda: Look(bold=False, centred=False, lines=1, size=1.0))
    starts: list[tuple[int, int]] = field(default_factory=list)  # (offset, page) of later pages
    bold: str = ""  # the bold words that it begins with
    table: Table | None = None
    heading: Heading | None = None
    note: str = ""  # of a footnote: its number


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A document's Markdown."""

    body: str
    pages: tuple[Span, ...]
    title: str


# ------------------------------------------------------------------ paragraphs


def blocks_of(stretches: Sequence[Stretch]) -> list[Block]:
    """Return the document's blocks in reading order, headings marked."""
    lines = [i for s in stretches for i in s.items if isinstance(i, Line)]
    body = _body_size(lines)
    lead = _lead(stretches)
    blocks: list[Block] = []
    for stretch in stretches:
        items, notes = _without_notes(stretch.items, body)
        fresh = [b for b in _paragraphs(stretch.page, items, body, lead) if _says_something(b)]
        _append(blocks, fresh)
        _place_notes(blocks, list(_notes(stretch.page, notes, body)))
    return _titled(_out_of_contents([b for whole in blocks for b in _split_run_in(whole)]))


def _body_size(lines: Sequence[Line]) -> float:
    """Return the size in which most letters are set."""
    weights: dict[float, int] = {}
    for line in lines:
        size = round(line.size * 2) / 2
        weights[size] = weights.get(size, 0) + len(line.text)
    return max(weights, key=lambda s: weights[s]) if weights else 10.0


def _says_something(block: Block) -> bool:
    """Tell whether a block is more than a line of dashes."""
    return block.table is not None or any(c.isalnum() for c in block.text)


def _lead(stretches: Sequence[Stretch]) -> float:
    """Return the document's usual step from line to line, in letter heights."""
    columns = [[i for i in s.items if isinstance(i, Line)] for s in stretches]
    leads = [pitch_of(c) / c[0].size for c in columns if len(c) >= FULL_COLUMN and pitch_of(c)]
    return median(leads) if leads else 1.3


def _paragraphs(page: int, items: Sequence[Item], body: float, lead: float) -> Iterator[Block]:
    lines = [i for i in items if isinstance(i, Line)]
    pitch = pitch_of(lines) if len(lines) >= FULL_COLUMN else 0.0
    # A page that is all list has its lines apart; it must not teach us that this is one paragraph.
    pitch = min(pitch or lead * body, 1.25 * lead * body)
    left = min((li.box.x0 for li in lines), default=0.0)
    right = max((li.box.x1 for li in lines), default=0.0)
    held: list[Line] = []
    for item in items:
        if isinstance(item, Table):
            if held:
                yield _block(page, held, left, right, body)
            held = []
            yield Block(page=page, text=item.caption, table=item)
        elif held and not _starts_new(held, item, pitch, right):
            held.append(item)
        else:
            if held:
                yield _block(page, held, left, right, body)
            held = [item]
    if held:
        yield _block(page, held, left, right, body)


def _starts_new(held: list[Line], line: Line, pitch: float, right: float) -> bool:
    """Tell whether a line begins a paragraph of its own, `held` being the one before it."""
    last, em = held[-1], line.size
    if line.base - last.base > PARAGRAPH_STEP * max(pitch, em) or _opens_history(held, line):
        return True
    if abs(line.size - last.size) > 0.15 * em or _weight(line) * _weight(last) < 0:
        return True
    if _START.match(line.text) and _starts_entry(held, line, right):
        return True
    if _is_centred_pair(held, line):
        return False
    return _breaks_early(held, line, right) or _is_indented(held, line)


def _starts_entry(held: list[Line], line: Line, right: float) -> bool:
    """Tell whether a line that begins with a number begins an entry of a list."""
    last, reach = held[-1], INDENT * line.size
    shift = line.box.x0 - last.box.x0
    first = _START.match(held[0].text)
    if len(held) == 1 and shift > 0 and first and not _CLOSED.search(last.text):
        return _breaks_early(held, line, right)  # else "… as defined in MGL c. 40," goes on "§ 21D"
    listed = bool(first) and abs(line.box.x0 - held[0].box.x0) < reach
    return listed or abs(shift) > reach or bool(_CLOSED.search(last.text))


def _is_indented(held: list[Line], line: Line) -> bool:
    """Tell whether a closed sentence is followed by a line that stands further in or out."""
    shift = line.box.x0 - held[-1].box.x0
    hanging = len(held) == 1 and (shift < 0 or _START.match(held[0].text) is not None)
    moved = abs(shift) > INDENT * line.size
    return moved and not hanging and bool(_CLOSED.search(held[-1].text))


def _opens_history(held: list[Line], line: Line) -> bool:
    """Tell whether a line opens a note on a heading's history: "[Adopted as Art. 5 …]"."""
    heads = _weight(held[0]) > 0 and not SECTION.match(held[0].text)
    return line.text.startswith("[") and heads


def _weight(line: Line) -> int:
    """Return 1 for a bold line, -1 for one without bold, 0 for one with both."""
    bold = {w.bold for w in line.words if any(c.isalnum() for c in w.text)}
    return 0 if len(bold) != 1 else 1 if bold.pop() else -1


def _is_centred_pair(held: list[Line], line: Line) -> bool:
    """Tell whether a line goes on with a centred heading."""
    last = held[-1]
    same = abs((last.box.x0 + last.box.x1) - (line.box.x0 + line.box.x1)) < 2 * line.size
    return same and abs(last.box.x0 - line.box.x0) > INDENT * line.size and last.bold == line.bold


def _breaks_early(held: list[Line], line: Line, right: float) -> bool:
    """Tell whether the first word would have fitted on the line before: somebody ended that line."""
    last = held[-1]
    if last.text.endswith("-"):
        return False
    margin = min(right, max(line.box.x1, *(h.box.x1 for h in held)))
    room = margin - last.box.x1 - line.size
    return line.words[0].box.width + 0.3 * line.size < room


def _block(page: int, lines: Sequence[Line], left: float, right: float, body: float) -> Block:
    text = ""
    for line in lines:
        text = run_on(text, line.text)
    middle = (left + right) / 2
    centred = all(
        abs((li.box.x0 + li.box.x1) / 2 - middle) < 0.04 * (right - left)
        and li.box.x0 > left + 2 * li.size
        for li in lines
    )
    look = Look(
        bold=_bold_share(lines) >= 0.9,
        centred=centred,
        lines=len(lines),
        size=median(li.size for li in lines) / body,
    )
    return Block(page=page, text=text, look=look, bold=_bold_start(lines[0], text))


def _bold_share(lines: Sequence[Line]) -> float:
    """Return the part of the letters that are bold; raised numbers do not count."""
    words = [w for li in lines for w in li.words if not w.glued or w.bold]
    letters = sum(len(w.text) for w in words)
    return sum(len(w.text) for w in words if w.bold) / letters if letters else 0.0


def _bold_start(line: Line, text: str) -> str:
    """Return the bold words that a paragraph begins with, as they stand in its text."""
    count = 0
    while count < len(line.words) and line.words[count].bold:
        count += 1
    start = " ".join(w.text for w in line.words[:count])
    return start if text.startswith(start) else ""


def _append(blocks: list[Block], fresh: list[Block]) -> None:
    """Add a column's blocks; its first may go on with a paragraph or table of the column before."""
    if blocks and fresh:
        if _tables_go_on(blocks[-1], fresh[0]):
            _join_tables(blocks[-1], fresh.pop(0))
        elif (last := _open_paragraph(blocks, fresh[0])) is not None:
            _join(last, fresh.pop(0))
    blocks += fresh


def _open_paragraph(blocks: list[Block], first: Block) -> Block | None:
    """Return the paragraph that a column's first block goes on with."""
    last = next((b for b in reversed(blocks) if not b.note), None)
    if last is None or last.table or first.table or _CLOSED.search(last.text):
        return None
    if last.look.bold != first.look.bold or abs(last.look.size - first.look.size) > 0.1:
        return None
    if heading_of(last.text, last.look) or _START.match(first.text):
        return None
    goes_on = first.text[:1].islower() or last.text[-1:] in "-,"
    return last if goes_on or _cut_off(last, first) else None


def _cut_off(last: Block, first: Block) -> bool:
    """Tell whether a sentence of running text stops in the middle: the next column has its rest."""
    return last.look.lines > 1 and first.look.lines > 1 and last.text[-1:].isalnum()


def _join(last: Block, first: Block) -> None:
    joined = run_on(last.text, first.text)
    if first.page != (last.starts[-1][1] if last.starts else last.page):
        last.starts.append((len(joined) - len(first.text), first.page))
    last.text = joined
    last.look = replace(last.look, lines=last.look.lines + first.look.lines, centred=False)


def _tables_go_on(last: Block, first: Block) -> bool:
    if last.table is None or first.table is None or first.text or last.page + 1 != first.page:
        return False
    a, b = last.table, first.table
    near = abs(a.box.x0 - b.box.x0) < 12 and abs(a.box.x1 - b.box.x1) < 12
    return near and len(a.rows[0]) == len(b.rows[0])


def _join_tables(last: Block, first: Block) -> None:
    """Add the rows of the next page; a header that is printed again is left out."""
    assert last.table is not None
    assert first.table is not None
    a, b = last.table, first.table
    again = a.header and a.rows[0] == b.rows[0]
    last.starts.append((len(a.rows), first.page))
    last.table = replace(a, rows=a.rows + (b.rows[1:] if again else b.rows), box=b.box)


# ------------------------------------------------------------------ footnotes


def _without_notes(items: Sequence[Item], body: float) -> tuple[list[Item], list[Line]]:
    """Part the small lines at a column's foot, if they begin like a footnote."""
    cut = len(items)
    while cut and isinstance(line := items[cut - 1], Line) and line.size < NOTE_SIZE * body:
        cut -= 1
    notes = [i for i in items[cut:] if isinstance(i, Line)]
    if not notes or cut == 0 or not _NOTE.match(notes[0].text):
        return list(items), []
    return list(items[:cut]), notes


def _notes(page: int, lines: Sequence[Line], body: float) -> Iterator[Block]:
    held: list[Line] = []
    for line in lines:
        if held and _NOTE.match(line.text):
            yield _note(page, held, body)
            held = []
        held.append(line)
    if held:
        yield _note(page, held, body)


def _note(page: int, lines: Sequence[Line], body: float) -> Block:
    block = _block(page, lines, lines[0].box.x0, lines[0].box.x1, body)
    match = _NOTE.match(block.text)
    block.note = (match[1] or match[0].strip()) if match else "*"
    return block


def _place_notes(blocks: list[Block], notes: list[Block]) -> None:
    """Put each footnote behind the paragraph that carries its number, else at the page's end."""
    for note in notes:
        mark = f"[^{note.note}]"
        for position in range(len(blocks) - 1, max(len(blocks) - 40, -1), -1):
            block = blocks[position]
            if not block.note and mark in _all_text(block):
                rest = note.text[len(note.note) :].lstrip(". ")
                blocks.insert(position + 1, replace(note, text=f"{mark}: {rest}"))
                break
        else:
            blocks.append(note)


def _all_text(block: Block) -> str:
    if block.table is None:
        return block.text
    return "\n".join(cell for row in block.table.rows for cell in row)


# ------------------------------------------------------------------ headings


def _split_run_in(block: Block) -> Iterator[Block]:
    """Mark a heading; part one that stands at the head of its paragraph."""
    if block.table or block.note:
        yield block
        return
    block.heading = heading_of(block.text, block.look)
    end = 0 if block.heading else run_in(block.text, block.bold)
    if not end:
        yield block
        return
    head = block.text[:end].rstrip()
    rest = block.text[end:].lstrip()
    lost = len(block.text) - len(rest)
    yield Block(page=block.page, text=head, heading=Heading(kind=Kind.SECTION))
    starts = [(max(at - lost, 0), page) for at, page in block.starts]
    yield replace(block, text=rest, starts=starts, bold="")


_CONTENTS = re.compile(
    r"(?:table of )?contents|index|arrangement of (?:sections|regulations)|inhoud(?:sopgawe)?"
    r"|indeling van artikels",
    re.IGNORECASE,
)
_TO_PAGE = re.compile(r"(?:\s*[.…_]){3,}.*$")
# A table of contents is short; past these many blocks we have missed its end.
_MOST_CONTENTS = 400


def _out_of_contents(blocks: list[Block]) -> list[Block]:
    """Unmark what looks like headings in a table of contents.

    It ends where its first entry comes a second time, or where running text begins.
    """
    entries: set[str] | None = None
    above: list[tuple[Block, Heading]] = []  # "CHAPTER 1" over the entry that comes again
    count = 0
    for block in blocks:
        if block.heading and _CONTENTS.fullmatch(block.text.strip(" .:")):
            entries, above, count = set(), [], 0
            continue
        if entries is None or block.table:
            continue
        key = _entry(block.text)
        count += 1
        if key in entries or len(block.text) > 240 or count > _MOST_CONTENTS:
            entries = None
            _mark_again(above, block)
            continue
        entries.add(key)
        above = [*above, (block, block.heading)] if block.heading else []
        block.heading = None
    return blocks


def _mark_again(above: Sequence[tuple[Block, Heading]], first: Block) -> None:
    """Mark the headings that stand over the first section behind a table of contents."""
    if first.heading is None or first.heading.kind is Kind.SECTION:
        for passed, heading in above:
            passed.heading = heading


def _entry(text: str) -> str:
    """Return what a table of contents and the heading itself have in common."""
    return re.sub(r"\W+", " ", _TO_PAGE.sub("", text).casefold()).strip()


def _titled(blocks: list[Block]) -> list[Block]:
    """Join a container's number with the title in the line below it."""
    joined: list[Block] = []
    for block in blocks:
        last = joined[-1] if joined else None
        if (
            last
            and last.heading
            and last.heading.bare
            and block.heading
            and block.heading.kind in {Kind.BANNER, Kind.CAPTION}
            and block.page == last.page
        ):
            last.text = f"{last.text} {block.text}"
            last.heading = replace(last.heading, bare=False)
        else:
            joined.append(block)
    return joined


# ------------------------------------------------------------------ Markdown


def write(blocks: Sequence[Block], pages: int) -> Written:
    """Return the blocks as Markdown, with the span of each page's text."""
    known = words_known(_all_text(b) for b in blocks)
    headings = [b for b in blocks if b.heading]
    ranks = levels([h.heading for h in headings if h.heading])
    depth = dict(zip(map(id, headings), ranks, strict=True))
    title = _title_block(blocks)
    if title is not None and title is headings[0]:
        depth[id(title)] = 1
    parts: list[str] = []
    begins: dict[int, int] = {}
    ends: dict[int, int] = {}
    at = 0
    for block in blocks:
        text, starts = _markdown(block, depth.get(id(block), 0), known)
        for page, start in [(block.page, 0), *starts]:
            begins.setdefault(page, at + start)
        inside = [*starts, (0, len(text))]
        for (page, _), (_, end) in zip([(block.page, 0), *starts], inside, strict=True):
            ends[page] = at + end
        parts.append(text)
        at += len(text) + 2
    spans = tuple(_page_spans(begins, ends, pages))
    return Written(
        body="\n\n".join(parts) + ("\n" if parts else ""),
        pages=spans,
        title=settled(title.text, known) if title else "",
    )


def _page_spans(begins: dict[int, int], ends: dict[int, int], pages: int) -> Iterator[Span]:
    """Yield a span for each page; an empty one, where its text would stand, for a page without any."""
    last = 0
    for page in range(1, pages + 1):
        start = begins.get(page, last)
        last = max(ends.get(page, start), start)
        yield Span(start=start, end=last)


def _markdown(block: Block, level: int, known: frozenset[str]) -> tuple[str, list[tuple[int, int]]]:
    """Return a block's Markdown, and (page, offset) of the pages that begin within it."""
    if block.table is not None:
        return _pipes(block, known)
    text = settled(block.text, known)
    starts = [(page, len(settled(block.text[:offset], known))) for offset, page in block.starts]
    if level:
        return f"{'#' * level} {text}", starts
    return (f"\\{text}", starts) if text.startswith("#") else (text, starts)


def _pipes(block: Block, known: frozenset[str]) -> tuple[str, list[tuple[int, int]]]:
    assert block.table is not None
    rows = [_pipe(row, known) for row in block.table.rows]
    across = len(block.table.rows[0])
    lines = [f"{settled(block.text, known)}\n"] if block.text else []
    head = rows.pop(0) if block.table.header else "|" + "  |" * across
    lines += [head, "|" + " --- |" * across]
    skipped = 1 if block.table.header else 0
    starts: list[tuple[int, int]] = []
    for offset, page in block.starts:
        before = "\n".join([*lines, *rows[: offset - skipped]])
        starts.append((page, len(before) + 1))
    return "\n".join([*lines, *rows]), starts


def _pipe(row: Iterable[str], known: frozenset[str]) -> str:
    return "| " + " | ".join(settled(c, known).replace("|", "\\|") for c in row) + " |"


def _title_block(blocks: Sequence[Block]) -> Block | None:
    """Return the largest heading without a number on the first page that has headings.

    The first of several as large; a numbered one only if there is no other.
    """
    headings = [b for b in blocks if b.heading]
    first = [b for b in headings if b.page == headings[0].page]
    plain = [b for b in first if b.heading and b.heading.kind in {Kind.BANNER, Kind.CAPTION}]
    return max(plain or first, key=lambda b: round(b.look.size, 1), default=None)
