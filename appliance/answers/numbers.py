"""Which figures of an answer stand in what it cites?  Pure.

Every quantity, percent, sum of money, date and count of a sentence is looked for in the spans that it
cites, in the titles and table headers over them, and in the steps of a calculation; nowhere else in
the section.  Figures are compared by value and unit, however they are written; a unit may be
converted, which is then stated: "72 inches = 6 feet".
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Literal

from appliance.corpus.figures import Figure, figures
from appliance.corpus.quantities import unit_named
from appliance.corpus.words import terms
from appliance.domain import Citation, Span

Ground = Literal["quote", "over", "heading", "step", "question"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """Where a figure stands that an answer repeats."""

    ground: Ground
    index: int  # of the citation, or of the step; 0 of a question
    span: Span  # of a quote: in the section's text; else in the title, header, step or question
    conversion: str | None = None  # "72 inches = 6 feet", if the units differ


@dataclass(frozen=True, slots=True, kw_only=True)
class Traced:
    """A figure of a sentence, and where it comes from; None: from nothing that is cited."""

    text: str
    span: Span  # in the sentence
    trace: Trace | None


def trace_numbers(
    sentence: str,
    citations: Sequence[Citation],
    *,
    steps: Sequence[str] = (),
    question: str = "",
) -> tuple[Traced, ...]:
    """Return every figure of a sentence (without marks) with where it stands in what is cited.

    `steps` are those of a calculation that the sentence reports; figures that the `question` brought
    along may be repeated, too.  What is cited comes first, and the same unit before a converted one.
    """
    held = [_source(*source) for source in _grounds(citations, steps, question)]
    return tuple(
        Traced(text=figure.text, span=figure.span, trace=_trace(figure, held))
        for figure in figures(sentence)
    )


def untraced(traced: Iterable[Traced]) -> tuple[str, ...]:
    """Return the figures that come from nothing, as they are written, each once."""
    return tuple(dict.fromkeys(t.text for t in traced if t.trace is None))


# ------------------------------------------------------------------ what is cited


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """A text in which figures may stand."""

    ground: Ground
    index: int
    offset: int  # of the text in the section's
    figures: _Held


def _grounds(
    citations: Sequence[Citation], steps: Sequence[str], question: str
) -> Iterator[tuple[Ground, int, int, str, str]]:
    """Yield (ground, index, offset, text, what stands over it)."""
    for n, citation in enumerate(citations):
        over = "\n".join(citation.over)
        yield "quote", n, citation.span.start, citation.quote, over
        yield from (
            ("over", n, lead.start, lead.of(citation.section.text), "") for lead in citation.leads
        )
        titles = (citation.section.heading, *citation.section.path)
        yield from (("heading", n, 0, title, "") for title in titles)
    yield from (("step", n, 0, step, "") for n, step in enumerate(steps))
    if question:
        yield "question", 0, 0, question, ""


def _source(ground: Ground, index: int, offset: int, text: str, over: str) -> _Source:
    return _Source(ground=ground, index=index, offset=offset, figures=_held(text, over))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """The figures of a text by their values, the common measure of units that can be converted."""

    exact: dict[tuple[str, Decimal], list[Figure]] = field(
        default_factory=lambda: defaultdict(list)
    )
    measured: dict[tuple[str, Decimal], list[Figure]] = field(
        default_factory=lambda: defaultdict(list)
    )
    plain: dict[Decimal, list[Figure]] = field(default_factory=lambda: defaultdict(list))
    # Numbers that stand alone in a table, by value, with the words of its header and its row.
    cells: dict[Decimal, list[tuple[Figure, str]]] = field(
        default_factory=lambda: defaultdict(list)
    )


@lru_cache(maxsize=64)
def _held(text: str, over: str) -> _Held:
    held = _Held()
    rows = _Rows(text, over)
    for figure in figures(text):
        held.exact[figure.unit, figure.value].append(figure)
        held.plain[figure.value].append(figure)
        for part in _parts_of_date(figure):
            held.exact[part].append(figure)
        if measure := _measure(figure):
            held.measured[measure].append(figure)
        if not figure.unit and (words := rows.words_at(figure.span.start)):
            held.cells[figure.value].append((figure, words))
    return held


def _parts_of_date(figure: Figure) -> Iterator[tuple[str, Decimal]]:
    """Yield what else a date says: its day without the year, its month, its year."""
    if figure.unit == "date":
        yield "day of year", figure.value % 10_000
        yield "month of year", figure.value // 100
        yield "", figure.value // 10_000
    elif figure.unit == "month of year":
        yield "", figure.value // 100


# ------------------------------------------------------------------ units

# By family, how many of its least unit each one is.  Days are no months, and months no days.
_FAMILIES: dict[str, dict[str, int]] = {
    "length": {"inch": 1, "foot": 12, "yard": 36, "mile": 63_360},
    "area": {"sqft": 1, "sqyd": 9, "acre": 43_560, "sqmi": 27_878_400},
    "volume": {"cuft": 1, "cuyd": 27},
    "time": {"minute": 1, "hour": 60, "day": 1_440, "week": 10_080},
    "calendar": {"month": 1, "year": 12},
    "money": {"cent": 1, "dollar": 100},
}
_MEASURES = {
    unit: (family, factor) for family, units in _FAMILIES.items() for unit, factor in units.items()
}
_FINEST = Decimal("0.000001")  # thirds are no decimals


def _measure(figure: Figure) -> tuple[str, Decimal] | None:
    """Return the family of a figure's unit and its value in the least unit; a share is a percentage."""
    if figure.unit == "percent":
        return "share", (figure.value / 100).quantize(_FINEST)
    if not figure.unit and not figure.nouns and 0 < figure.value < 1:
        return "share", figure.value.quantize(_FINEST)
    if figure.unit not in _MEASURES or figure.value >= 10**15:
        return None
    family, factor = _MEASURES[figure.unit]
    return family, (figure.value * factor).quantize(_FINEST)


# ------------------------------------------------------------------ from a figure to where it stands


def _trace(figure: Figure, sources: Sequence[_Source]) -> Trace | None:
    for convert in (False, True):
        for source in sources:
            if found := _found(figure, source.figures, convert=convert):
                return Trace(
                    ground=source.ground,
                    index=source.index,
                    span=found.span.shifted(source.offset),
                    conversion=f"{figure.text} = {found.text}" if convert else None,
                )
    return None


def _found(figure: Figure, held: _Held, *, convert: bool) -> Figure | None:
    """Return the figure of a text that says the same, in the same unit or in another one."""
    if convert:
        measure = _measure(figure)
        return next(iter(held.measured.get(measure, ())), None) if measure else None
    return _same(figure, held) or _counted(figure, held) or _in_cell(figure, held)


def _same(figure: Figure, held: _Held) -> Figure | None:
    """Return one of the same value and unit; a number that stands alone may be of anything."""
    if not figure.unit and figure.nouns and not _is_year(figure):
        return None
    found = held.exact.get((figure.unit, figure.value), ())
    if not figure.unit and not found:
        found = [f for f in held.plain.get(figure.value, ()) if f.unit not in _CALENDAR]
    return next(iter(found), None)


_CALENDAR = frozenset(["date", "day of year", "month of year", "clock", "ordinal"])


def _is_year(figure: Figure) -> bool:
    """Tell of "the 2024 building code": a year counts nothing."""
    return len(figure.text) == 4 and figure.text.isdecimal() and 1800 <= figure.value < 2200


def _counted(figure: Figure, held: _Held) -> Figure | None:
    """Return one that counts the same things: all words of the shorter name are in the longer one."""
    for other in held.plain.get(figure.value, ()):
        shorter, longer = sorted((figure.nouns, other.nouns), key=len)
        if shorter and set(shorter) <= set(longer):
            return other
    return None


def _in_cell(figure: Figure, held: _Held) -> Figure | None:
    """Return the number of a table whose header or row names the unit, or the things."""
    unit = "day" if figure.unit == "business day" else figure.unit
    for cell, words in held.cells.get(figure.value, ()):
        if unit in _units_in(words) if unit else set(figure.nouns) <= set(terms(words)):
            return cell
    return None


class _Rows:
    """What a table says of a number in it: the header of its column, the label of its row, its cell."""

    def __init__(self, text: str, over: str) -> None:
        self._text = text
        # The header stands over the text, or is the first row in it.
        rows = [line for part in (over, text) for line in part.split("\n") if line.count("|") >= 2]
        self._header = rows[0][:_LONGEST_ROW].split("|") if rows else []
        self._start = self._end = self._read = self._column = 0
        self._row: list[str] = []

    def words_at(self, position: int) -> str:
        """Return the words; none outside tables.  Positions ascend."""
        if not self._start <= position < self._end:
            self._enter(position)
        if len(self._row) < 3:
            return ""
        self._column += self._text.count("|", self._read, position)
        self._read = position
        # Where cells are merged, no column can be told: then all of the header counts.
        aligned = len(self._header) == len(self._row)
        over = self._header[self._column] if aligned else " ".join(self._header)
        return f"{over} {' '.join(self._row[:2])} {self._row[self._column]}"[:_LONGEST_ROW]

    def _enter(self, position: int) -> None:
        self._start = self._read = self._text.rfind("\n", 0, position) + 1
        end = self._text.find("\n", position)
        self._end = len(self._text) if end < 0 else end
        self._row, self._column = self._text[self._start : self._end].split("|"), 0


_LONGEST_ROW = 2000
_WORD = re.compile(r"(?:sq(?:uare|\.)?[\s-]{1,2}|cubic[\s-]{1,2})?[A-Za-z.]{1,20}|[$%]")
_SIGNS = {"$": "dollar", "%": "percent"}


@lru_cache(maxsize=256)
def _units_in(line: str) -> frozenset[str]:
    """Return the units that a row of a table names."""
    words = (w.group() for w in _WORD.finditer(line))
    found = (_SIGNS.get(w) or unit_named(w) or unit_named(w.rstrip(".")) for w in words)
    return frozenset(unit for unit in found if unit)
