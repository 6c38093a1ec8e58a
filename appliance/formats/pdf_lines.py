"""Words on a page and the lines they make: geometry only.

Pure.  Coordinates are points, from the page's top left corner as it is read.
It does not know PDF: the words of a scan, read by an OCR engine, are the same records.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

# A gap this wide (in letter heights) parts two pieces of a row.  Justified lines of the gazettes
# stretch their blanks to about one letter height; the gutters beside them measure 1.5 or more.
PIECE_GAP = 1.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """An upright rectangle: x to the right, y down."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def width(self) -> float:
        """Return the extent to the right."""
        return self.x1 - self.x0

    @property
    def height(self) -> float:
        """Return the extent down."""
        return self.y1 - self.y0

    def holds(self, x: float, y: float) -> bool:
        """Tell whether a point lies inside."""
        return self.x0 <= x <= self.x1 and self.y0 <= y <= self.y1


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """Letters without a blank between them, of one size and weight."""

    text: str
    box: Box
    base: float  # y of the line that the letters stand on
    size: float  # height of the letters in points, as printed
    bold: bool = False
    glued: bool = False  # follows the word before it without a blank ("2018" and its "11")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Words side by side, from left to right."""

    words: tuple[Word, ...]
    box: Box
    base: float
    size: float

    @property
    def text(self) -> str:
        """Return the words with single blanks; a raised number is marked as a note's."""
        return _joined(self)

    @property
    def bold(self) -> bool:
        """Tell whether most letters are bold."""
        letters = sum(len(w.text) for w in self.words)
        return 2 * sum(len(w.text) for w in self.words if w.bold) > letters

    @property
    def marks(self) -> tuple[str, ...]:
        """Return the footnote numbers that the line carries, raised beside a word."""
        return tuple(w.text for w in self.words if is_mark(w, self))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A drawn straight line, level or upright."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def level(self) -> bool:
        """Tell whether it runs from left to right."""
        return self.x1 - self.x0 >= self.y1 - self.y0

    @property
    def length(self) -> float:
        """Return its length in points."""
        return max(self.x1 - self.x0, self.y1 - self.y0)


def line_of(words: Iterable[Word]) -> Line:
    """Return the line that some words make."""
    ordered = tuple(sorted(words, key=lambda w: w.box.x0))
    largest = max(w.size for w in ordered)
    full = [w for w in ordered if w.size >= 0.8 * largest] or list(ordered)
    return Line(
        words=ordered,
        box=box_of(w.box for w in ordered),
        base=median(w.base for w in full),
        size=median(w.size for w in full),
    )


def box_of(boxes: Iterable[Box]) -> Box:
    """Return the smallest box around some boxes."""
    held = tuple(boxes)
    return Box(
        x0=min(b.x0 for b in held),
        y0=min(b.y0 for b in held),
        x1=max(b.x1 for b in held),
        y1=max(b.y1 for b in held),
    )


def rows_of(words: Sequence[Word]) -> list[list[Word]]:
    """Return the words by rows, from the top: those that stand on about the same height.

    A word that is glued to the one before it stands in its row, however high it is raised.
    """
    stands: list[tuple[float, Word]] = []
    for word in words:
        stands.append((stands[-1][0] if word.glued and stands else word.base, word))
    stands.sort(key=lambda s: (s[0], s[1].box.x0))
    rows: list[list[Word]] = []
    floor, size = 0.0, 0.0
    for base, word in stands:
        if not rows or base - floor > 0.45 * max(size, word.size):
            rows.append([])
            floor, size = base, word.size
        elif word.size > size:
            floor, size = base, word.size  # the row stands on its larger letters
        rows[-1].append(word)
    for row in rows:
        row.sort(key=lambda w: w.box.x0)
    return rows


def pieces_of(row: Iterable[Word]) -> list[Line]:
    """Return the pieces of a row, parted at its wide gaps."""
    pieces: list[list[Word]] = []
    for word in sorted(row, key=lambda w: w.box.x0):
        if pieces and word.box.x0 - pieces[-1][-1].box.x1 <= PIECE_GAP * word.size:
            pieces[-1].append(word)
        else:
            pieces.append([word])
    return [line_of(p) for p in pieces]


def lines_of(words: Sequence[Word]) -> list[Line]:
    """Return the words as lines over their whole width, from the top."""
    return [line_of(row) for row in rows_of(words)]


def pitch_of(lines: Sequence[Line]) -> float:
    """Return the usual distance from one line to the next; 0 if there are fewer than two."""
    steps = [b.base - a.base for a, b in pairwise(lines) if 0 < b.base - a.base < 3 * a.size]
    if not steps:
        return 0.0
    steps.sort()
    return steps[len(steps) // 3]  # the gaps between paragraphs are the larger part in lists


_MARK = re.compile(r"\d{1,3}|[*†‡]")


def is_mark(word: Word, line: Line) -> bool:
    """Tell whether a word is a footnote's number: small, raised, right behind another word."""
    return (
        word.glued
        and word.size < 0.85 * line.size
        and line.base - word.base > 0.15 * line.size
        and _MARK.fullmatch(word.text.rstrip("]),.;")) is not None
    )


_POWERS = {"2": "²", "3": "³"}
_UNIT = re.compile(r"\d\s?(?:m|km|cm|mm|ft|in|yd)$|(?:^|[\s(])(?:m|km|cm|mm|ft)$")


def _joined(line: Line) -> str:
    parts: list[str] = []
    reach = 0.0
    for word in line.words:
        # Behind a raised number some files leave a blank that no reader sees.
        touches = word.text[0] in ",;.)]:" and word.box.x0 - reach < 0.15 * word.size
        if parts and not (word.glued or touches):
            parts.append(" ")
        reach = word.box.x1
        if is_mark(word, line):
            parts.append(_mark(word.text, "".join(parts)))
        else:
            parts.append(word.text)
    return "".join(parts)


def _mark(text: str, before: str) -> str:
    """Return a raised number as Markdown's footnote mark, or as a power behind a unit."""
    if text in _POWERS and _UNIT.search(before):
        return _POWERS[text]
    digits = text.rstrip("]),.;")
    return f"[^{digits}]{text[len(digits) :]}" if digits.isdigit() else text


# ------------------------------------------------------------------ from line to line

# Stands where a line ended in a hyphen, until the document's words tell whether it belongs there.
# No text has it by itself: a page's own soft hyphens are read as hyphens.
DOUBT = "\u00ad"


def run_on(before: str, after: str) -> str:
    """Return two lines as one text.  A hyphen before a small letter is in doubt until `settled`."""
    if not before or not after:
        return before or after
    if before[-1] in "-‐" and len(before) > 1 and before[-2].isalnum():
        broken = before[-2].isalpha() and after[0].islower()
        return before[:-1] + DOUBT + after if broken else before + after
    if before[-1] in "—/" and before[-2:-1].strip():
        return before + after
    return f"{before} {after}"


_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_IN_DOUBT = re.compile(rf"([^\W\d_]+(?:-[^\W\d_]+)*){DOUBT}([^\W\d_]+(?:-[^\W\d_]+)*)")
# First parts that keep their hyphen where the document does not show the word: numbers, and
# prefixes that English joins with one.
_KEEPS = frozenset({
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twenty", "thirty",
    "forty", "fifty", "sixty", "seventy", "eighty", "ninety", "single", "double", "multi", "half",
    "self", "non", "well", "cross", "ex", "all", "quasi", "by", "semi",
})  # fmt: skip


def words_known(texts: Iterable[str]) -> frozenset[str]:
    """Return the words of a document, in small letters, compounds whole."""
    return frozenset(w.casefold() for t in texts for w in _WORD.findall(t))


def settled(text: str, known: frozenset[str]) -> str:
    """Return a text with each doubtful hyphen kept or dropped, as the document writes the word."""

    def settle(match: re.Match[str]) -> str:
        first, second = match[1], match[2]
        whole, compound = f"{first}{second}", f"{first}-{second}"
        keeps = compound.casefold() in known or first.casefold() in _KEEPS
        return compound if keeps and whole.casefold() not in known else whole

    return _IN_DOUBT.sub(settle, text).replace(DOUBT, "-")
