"""One page of a PDF to words and drawn lines, through pypdfium2.

It knows the file format and nothing of layout.  Text is turned upright first,
so that what reads it need not know how the page lies.  Every loop has a bound:
a page may hold a million objects.
"""

from __future__ import annotations

import ctypes
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import pypdfium2 as pdfium
from pypdfium2 import raw

from appliance.formats.pdf_lines import Box, Rule, Word

# A dense newspaper page has 20,000 characters; a page of ten times that is no page.
MOST_CHARACTERS = 200_000
# Drawings (maps) hold tens of thousands of strokes; no table needs so many.
MOST_OBJECTS = 20_000
MOST_RULES = 4_000
MOST_DEPTH = 4  # forms within forms

_HYPHENS = {0x02, 0xAD, 0xFFFE}  # pdfium's own signs for a hyphen at a line's end, and the soft one
_LIGATURES = re.compile("[\ufb00-\ufb06]")
_BOLD = re.compile(rb"bold|black|heavy|demi", re.IGNORECASE)
# The loose box of a letter is as high as its font's ascent and descent: about 1.15 em.
_EM = 1.15


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What one page holds, upright."""

    number: int  # from 1
    width: float
    height: float
    words: tuple[Word, ...]
    rules: tuple[Rule, ...]
    image_share: float  # the part of the page that images cover; scanners cut a page into strips
    objects: int  # strokes and images: what may show text that is not text
    junk_share: float  # the part of the characters that name no letter
    tilted: int  # words that slant, as watermarks do; they are left out
    hidden: int  # words printed invisibly where no image shows them; they are left out
    aside: tuple[tuple[Word, ...], ...] = ()  # by direction: words a quarter turn off, upright


@dataclass(frozen=True, slots=True, kw_only=True)
class _Raw:
    """A word as the file places it, not yet upright."""

    text: str
    corners: tuple[float, float, float, float]  # left, bottom, right, top
    origin: tuple[float, float]
    turn: int
    bold: bool
    glued: bool
    hidden: bool
    unmapped: bool


def read_page(page: pdfium.PdfPage, number: int) -> Page:
    """Return the words and drawn lines of a page, turned so that most of its text is upright."""
    text = page.get_textpage()
    try:
        found = list(_raw_words(text))
    finally:
        text.close()
    frame = page.get_bbox()
    found = [w for w in found if _inside(w, frame)]
    shown, strokes, objects = _drawn(page, frame)
    turn = _main_turn(found)
    seen = [w for w in found if shown > _SCAN or not w.hidden]
    kept = [w for w in seen if w.turn == turn]
    others = [[w for w in seen if w.turn == t] for t in range(4) if t != turn]
    width, height = frame[2] - frame[0], frame[3] - frame[1]
    return Page(
        number=number,
        width=height if turn % 2 else width,
        height=width if turn % 2 else height,
        words=tuple(_upright(w, turn, frame) for w in kept),
        rules=tuple(_upright_rule(s, turn, frame) for s in strokes),
        image_share=shown,
        objects=objects,
        junk_share=_junk_share(kept),
        tilted=sum(w.turn < 0 for w in seen),
        hidden=len(found) - len(seen),
        aside=tuple(tuple(_upright(w, of[0].turn, frame) for w in of) for of in others if of),
    )


# Invisible text on an image over half the page is a scan's OCR layer.  Anywhere else nobody sees it
# who reads the page, so it is no part of the law.
_SCAN = 0.5


# ------------------------------------------------------------------ characters

_Corners = tuple[float, float, float, float]  # left, bottom, right, top
_RUN = re.compile(r"[^\s\u2000-\u200b]+")
# Letters with the punctuation around them: such a word has no raised number inside.
_PLAIN = re.compile(r"[(\[\"'“‘]*[^\W\d_]+[.,;:)\]\"'”’]*")


class _Text:
    """A page's characters, with the places where pdfium writes what it is asked for.

    A page is asked some ten thousand questions: the buffers are made once, and a word of
    letters is measured at its two ends only.
    """

    def __init__(self, page: pdfium.PdfTextPage) -> None:
        self.page = page.raw
        self.count = min(raw.FPDFText_CountChars(self.page), MOST_CHARACTERS)
        self._rect = raw.FS_RECTF()
        self._edges = (ctypes.c_float * 4).from_buffer(self._rect)  # left, top, right, bottom
        self._matrix = raw.FS_MATRIX()
        self._x, self._y = ctypes.c_double(), ctypes.c_double()
        self._name, self._flags = ctypes.create_string_buffer(128), ctypes.c_int()

    def letters(self) -> str:
        """Return one letter for each character: its place in the string is its number."""
        return "".join(
            _one_letter(raw.FPDFText_GetUnicode(self.page, i)) for i in range(self.count)
        )

    def box(self, position: int) -> _Corners:
        """Return a character's box; an empty one if it has none."""
        if not raw.FPDFText_GetLooseCharBox(self.page, position, self._rect):
            return 0.0, 0.0, 0.0, 0.0
        left, top, right, bottom = self._edges
        return left, bottom, right, top

    def turn(self, position: int) -> int:
        """Return a character's quarter turns, counter-clockwise; -1 for anything between."""
        matrix = self._matrix
        if not raw.FPDFText_GetMatrix(self.page, position, matrix):
            return 0
        # By the direction of the line, not by pdfium's own angle: that of made-up italics slants.
        quarter = math.atan2(matrix.b, matrix.a) / (math.pi / 2)
        # Scans are set straight by a degree or two; a watermark lies at 30 to 60.
        return round(quarter) % 4 if abs(quarter - round(quarter)) < 0.1 else -1

    def origin(self, position: int) -> tuple[float, float]:
        """Return where a character stands on its line."""
        raw.FPDFText_GetCharOrigin(self.page, position, self._x, self._y)
        return self._x.value, self._y.value

    def bold(self, position: int) -> bool:
        """Tell whether a character is bold, by its font's weight or name."""
        if raw.FPDFText_GetFontWeight(self.page, position) >= BOLD_WEIGHT:
            return True
        raw.FPDFText_GetFontInfo(self.page, position, self._name, 128, self._flags)
        return _BOLD.search(self._name.value) is not None

    def hidden(self, position: int) -> bool:
        """Tell whether a character is printed invisibly."""
        thing = raw.FPDFText_GetTextObject(self.page, position)
        mode = raw.FPDFTextObj_GetTextRenderMode(thing) if thing else None
        return bool(mode == raw.FPDF_TEXTRENDERMODE_INVISIBLE)

    def unmapped(self, position: int) -> bool:
        """Tell whether the font names no letter for a character."""
        return bool(raw.FPDFText_HasUnicodeMapError(self.page, position) == 1)


BOLD_WEIGHT = 600


def _one_letter(code: int) -> str:
    if code in _HYPHENS:
        return "-"
    return "\ufffd" if 0xD800 <= code <= 0xDFFF else chr(code)


def _spelled(letters: str) -> str:
    """Return letters with their ligatures undone; other signs ("½", "²") stay as they are."""
    return _LIGATURES.sub(lambda m: unicodedata.normalize("NFKC", m[0]), letters)


def _raw_words(page: pdfium.PdfTextPage) -> Iterator[_Raw]:
    text = _Text(page)
    letters = text.letters()
    for run in _RUN.finditer(letters):
        first, last = run.start(), run.end() - 1
        ends = text.box(first), text.box(last)
        whole = _PLAIN.fullmatch(run[0]) and _is_level(*ends, last - first + 1)
        if whole and text.turn(first) == 0:
            corners = (ends[0][0], ends[0][1], ends[1][2], ends[1][3])
            yield _word(text, run[0], first, corners, turn=0, glued=False)
        else:
            yield from _parted(text, run[0], first)


def _is_level(first: _Corners, last: _Corners, count: int) -> bool:
    """Tell whether two letters can be the ends of one upright word of one size."""
    high = first[3] - first[1]
    level = abs(first[1] - last[1]) < 0.05 * high and abs(first[3] - last[3]) < 0.05 * high
    return level and 0 <= last[2] - first[0] <= 1.2 * high * count


def _parted(text: _Text, letters: str, first: int) -> Iterator[_Raw]:
    """Yield the words in a run of letters: pdfium joins what a line's end or a size parts."""
    start, turn, glued = 0, text.turn(first), False
    boxes: list[_Corners] = []
    for position in range(len(letters)):
        box = text.box(first + position)
        step = _step(boxes[-1], box, turn) if boxes else None
        if step is not None:
            yield _word(text, letters[start:position], first + start, _around(boxes), turn, glued)
            start, turn, glued, boxes = position, text.turn(first + position), step, []
        boxes.append(box)
    yield _word(text, letters[start:], first + start, _around(boxes), turn, glued)


def _around(boxes: list[_Corners]) -> _Corners:
    return (
        min(b[0] for b in boxes),
        min(b[1] for b in boxes),
        max(b[2] for b in boxes),
        max(b[3] for b in boxes),
    )


def _step(last: _Corners, box: _Corners, turn: int) -> bool | None:
    """Tell whether a new word starts with this letter: True glued to the last, False apart."""
    along, across = (1, 0) if turn % 2 else (0, 1)
    size, new = last[across + 2] - last[across], box[across + 2] - box[across]
    if size <= 0:
        return None
    drop = abs(box[across] - last[across])
    ahead = box[along] - last[along + 2]
    if turn in {2, 3}:
        ahead = last[along] - box[along + 2]
    if drop > 0.6 * max(size, new) or ahead > 0.5 * size or ahead < -2 * size:
        return False
    return True if new > 0 and not 0.8 < new / size < 1.25 else None


def _word(text: _Text, letters: str, first: int, corners: _Corners, turn: int, glued: bool) -> _Raw:
    return _Raw(
        text=_spelled(letters),
        corners=corners,
        origin=text.origin(first),
        turn=turn,
        bold=text.bold(first),
        glued=glued,
        hidden=text.hidden(first),
        unmapped=text.unmapped(first),
    )


def _inside(word: _Raw, frame: tuple[float, float, float, float]) -> bool:
    left, bottom, right, top = word.corners
    x, y = (left + right) / 2, (bottom + top) / 2
    return frame[0] <= x <= frame[2] and frame[1] <= y <= frame[3]


def _main_turn(words: list[_Raw]) -> int:
    turns = Counter[int]()
    for word in words:
        if word.turn >= 0:
            turns[word.turn] += len(word.text)
    return turns.most_common(1)[0][0] if turns else 0


_STRAY = frozenset({"Cc", "Cn", "Co", "Cs"})


def _junk_share(words: list[_Raw]) -> float:
    """Return the part of the characters that name no letter: private, unassigned, unmapped."""
    total = sum(len(w.text) for w in words)
    bad = sum(
        len(w.text)
        if w.unmapped
        else sum(c == "\ufffd" or unicodedata.category(c) in _STRAY for c in w.text)
        for w in words
    )
    return bad / total if total else 0.0


# ------------------------------------------------------------------ turning


def _turned(
    x: float, y: float, turn: int, frame: tuple[float, float, float, float]
) -> tuple[float, float]:
    """Return a point of the file (y up) as a point of the upright page (y down)."""
    left, bottom, right, top = frame
    if turn == 1:  # written upwards: what was up is right
        return y - bottom, x - left
    if turn == 2:
        return right - x, y - bottom
    if turn == 3:  # written downwards
        return top - y, right - x
    return x - left, top - y


def _upright(word: _Raw, turn: int, frame: tuple[float, float, float, float]) -> Word:
    left, bottom, right, top = word.corners
    ax, ay = _turned(left, bottom, turn, frame)
    bx, by = _turned(right, top, turn, frame)
    box = Box(x0=min(ax, bx), y0=min(ay, by), x1=max(ax, bx), y1=max(ay, by))
    base = _turned(*word.origin, turn, frame)[1]
    return Word(
        text=word.text,
        box=box,
        base=base,
        size=max(box.height / _EM, 0.1),
        bold=word.bold,
        glued=word.glued,
    )


def _upright_rule(
    corners: tuple[float, float, float, float],
    turn: int,
    frame: tuple[float, float, float, float],
) -> Rule:
    ax, ay = _turned(corners[0], corners[1], turn, frame)
    bx, by = _turned(corners[2], corners[3], turn, frame)
    return Rule(x0=min(ax, bx), y0=min(ay, by), x1=max(ax, bx), y1=max(ay, by))


# ------------------------------------------------------------------ drawings

_Matrix = tuple[float, float, float, float, float, float]
_IDENTITY: _Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
_THIN = 2.0  # points: a filled rectangle no thicker than this is a line
_THICK = 4.0  # points: a drawn stroke may be a little broader
_SHORT = 6.0  # points: a stroke shorter than this rules nothing


@dataclass(slots=True)
class _Drawing:
    """What was seen of a page's drawing so far."""

    frame: _Corners
    budget: int = MOST_OBJECTS
    shown: float = 0.0
    seen: int = 0
    strokes: list[_Corners] = field(default_factory=list)


def _drawn(page: pdfium.PdfPage, frame: _Corners) -> tuple[float, list[_Corners], int]:
    drawing = _Drawing(frame=frame)
    for position in range(min(raw.FPDFPage_CountObjects(page), MOST_OBJECTS)):
        _look(raw.FPDFPage_GetObject(page, position), _IDENTITY, 0, drawing)
        if drawing.budget <= 0:
            break
    return min(drawing.shown, 1.0), drawing.strokes[:MOST_RULES], drawing.seen


def _look(thing: object, outer: _Matrix, depth: int, drawing: _Drawing) -> None:
    drawing.budget -= 1
    if drawing.budget <= 0 or not thing:
        return
    kind = raw.FPDFPageObj_GetType(thing)
    if kind == raw.FPDF_PAGEOBJ_FORM and depth < MOST_DEPTH:
        inner = _times(_matrix(thing), outer)
        for position in range(min(raw.FPDFFormObj_CountObjects(thing), MOST_OBJECTS)):
            if drawing.budget <= 0:
                return
            _look(raw.FPDFFormObj_GetObject(thing, position), inner, depth + 1, drawing)
    elif kind == raw.FPDF_PAGEOBJ_IMAGE:
        drawing.seen += 1
        drawing.shown += _share(_bounds(thing, outer), drawing.frame)
    elif kind == raw.FPDF_PAGEOBJ_PATH:
        drawing.seen += 1
        drawing.strokes += _strokes(thing, outer, drawing)


def _share(box: _Corners | None, frame: _Corners) -> float:
    if box is None:
        return 0.0
    wide = min(box[2], frame[2]) - max(box[0], frame[0])
    high = min(box[3], frame[3]) - max(box[1], frame[1])
    area = (frame[2] - frame[0]) * (frame[3] - frame[1])
    return max(wide, 0.0) * max(high, 0.0) / area if area > 0 else 0.0


def _bounds(thing: object, outer: _Matrix) -> _Corners | None:
    edges = [ctypes.c_float() for _ in range(4)]
    if not raw.FPDFPageObj_GetBounds(thing, *edges):
        return None
    left, bottom, right, top = (e.value for e in edges)
    return _corners(_moved(left, bottom, outer), _moved(right, top, outer))


_Point = tuple[float, float]


def _strokes(thing: object, outer: _Matrix, drawing: _Drawing) -> list[_Corners]:
    """Return the level and upright lines of a path.

    What is filled is a line only if it is thin: the shading of a cell ends where it likes.
    """
    if len(drawing.strokes) >= MOST_RULES:
        return []
    matrix = _times(_matrix(thing), outer)
    broad = _breadth(thing, matrix)
    strokes: list[_Corners] = []
    for points in _outlines(thing, matrix, drawing):
        if broad:
            for a, b in pairwise(points):
                strokes += _straight(a, b, broad)
        else:
            strokes += _if_long(_frame(points), _THIN)
    return strokes


def _outlines(thing: object, matrix: _Matrix, drawing: _Drawing) -> Iterator[list[_Point]]:
    """Yield the corners of each part of a path; a closed one ends where it began."""
    points: list[_Point] = []
    count = min(raw.FPDFPath_CountSegments(thing), drawing.budget)
    drawing.budget -= count
    for position in range(count):
        segment = raw.FPDFPath_GetPathSegment(thing, position)
        point = _moved(*_point(segment), matrix)
        if raw.FPDFPathSegment_GetType(segment) == raw.FPDF_SEGMENT_MOVETO and points:
            yield points
            points = []
        points.append(point)
        if raw.FPDFPathSegment_GetClose(segment):
            points.append(points[0])
    if points:
        yield points


def _frame(points: list[_Point]) -> _Corners:
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return min(xs), min(ys), max(xs), max(ys)


def _breadth(thing: object, matrix: _Matrix) -> float:
    """Return how broad the path is drawn; 0 if it is only filled."""
    mode, stroked, width = ctypes.c_int(), ctypes.c_int(), ctypes.c_float()
    raw.FPDFPath_GetDrawMode(thing, mode, stroked)
    if not stroked.value or not raw.FPDFPageObj_GetStrokeWidth(thing, width):
        return 0.0
    return width.value * math.sqrt(abs(matrix[0] * matrix[3] - matrix[1] * matrix[2]))


def _straight(a: _Point, b: _Point, broad: float) -> list[_Corners]:
    """Return a level or upright stroke as it is seen.

    Some typesetters draw an upright line as a level one, a point long and a hundred broad.
    """
    left, bottom, right, top = _corners(a, b)
    half = broad / 2
    if right - left >= top - bottom:
        return _if_long((left, bottom - half, right, top + half), _THICK)
    return _if_long((left - half, bottom, right + half, top), _THICK)


def _if_long(box: _Corners, most: float) -> list[_Corners]:
    wide, high = box[2] - box[0], box[3] - box[1]
    return [box] if min(wide, high) <= most and max(wide, high) >= _SHORT else []


def _corners(a: _Point, b: _Point) -> _Corners:
    return min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1])


def _point(segment: object) -> tuple[float, float]:
    x, y = ctypes.c_float(), ctypes.c_float()
    raw.FPDFPathSegment_GetPoint(segment, x, y)
    return x.value, y.value


def _matrix(thing: object) -> _Matrix:
    held = raw.FS_MATRIX()
    if not raw.FPDFPageObj_GetMatrix(thing, held):
        return _IDENTITY
    return held.a, held.b, held.c, held.d, held.e, held.f


def _times(inner: _Matrix, outer: _Matrix) -> _Matrix:
    a, b, c, d, e, f = inner
    oa, ob, oc, od, oe, of = outer
    return (
        a * oa + b * oc,
        a * ob + b * od,
        c * oa + d * oc,
        c * ob + d * od,
        e * oa + f * oc + oe,
        e * ob + f * od + of,
    )


def _moved(x: float, y: float, matrix: _Matrix) -> tuple[float, float]:
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f
