"""The quantities of a kind in a stretch of law text, each with its exact span.  Pure.

`corpus.quantities` reads numbers with their units; here are added what a short fact needs: words
between number and unit ("sixteen (16) consecutive calendar days"), feet with their inches as one
measure, and numbers that count things ("no more than six (6) hens").
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from appliance.answers.sought import UNITS, Kind, Sought
from appliance.corpus.number_words import TENS
from appliance.corpus.number_words import UNITS as SMALL
from appliance.corpus.quantities import Quantity, in_words, quantities
from appliance.corpus.words import terms
from appliance.domain import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A quantity of the kind that was asked for."""

    kind: Kind
    value: Decimal
    unit: str  # of `quantities`; of a count, ""
    span: Span  # in the text that was read


def measures(text: str, wanted: Sought) -> list[Measure]:
    """Return the quantities of the wanted kinds in reading order."""
    read = _together(_closed_up(text), text)
    found = [
        Measure(kind=kind, value=q.value, unit=q.unit, span=q.span)
        for q in read
        for kind in wanted.kinds
        if kind is not Kind.COUNT and q.unit in UNITS[kind]
    ]
    if Kind.COUNT in wanted.kinds:
        found += _counts(text, wanted.counted, [q.span for q in read])
    return sorted(found, key=lambda m: m.span)


# ------------------------------------------------------------------ quantities with a unit

_BETWEEN = re.compile(
    r"\b(?P<words>(?:(?:consecutive|calendar|business|working|full|additional|successive|continuous|gross"
    r"|heated|linear)\s{1,3}){1,3})"
    r"(?P<unit>days?|weeks?|months?|years?|hours?|feet|foot|square\s+feet)\b",
    re.IGNORECASE,
)


def _closed_up(text: str) -> list[Quantity]:
    """Return the quantities of a text, also those with a word between number and unit.

    The unit is moved to the place of such words, so that every offset stays; a quantity that ends
    with it ends, in the text itself, where the unit does.
    """
    moved = {m.start() + len(m["unit"]): m.end() for m in _BETWEEN.finditer(text)}
    closed = _BETWEEN.sub(lambda m: m["unit"] + " " * len(m["words"]), text)
    return [
        Quantity(
            value=q.value,
            unit=q.unit,
            text=q.text,
            span=Span(start=q.span.start, end=moved.get(q.span.end, q.span.end)),
        )
        for q in quantities(closed)
    ]


_FEET_TO_INCHES = re.compile(r"\s{0,2}(?:,|and|[-‐-―]{1,2})?\s{0,2}")
_INCHES = 12


def _together(found: Sequence[Quantity], text: str) -> list[Quantity]:
    """Return the quantities with feet and the inches behind them as one: 3'-6" is three and a half."""
    joined: list[Quantity] = []
    for q in found:
        last = joined[-1] if joined else None
        if (
            last is not None
            and (last.unit, q.unit) == ("foot", "inch")
            and q.value < _INCHES
            and last.span.end <= q.span.start
            and _FEET_TO_INCHES.fullmatch(text, last.span.end, q.span.start)
        ):
            joined[-1] = Quantity(
                value=last.value + q.value / _INCHES,
                unit="foot",
                text=f"{last.text} {q.text}",
                span=Span(start=last.span.start, end=q.span.end),
            )
        else:
            joined.append(q)
    return joined


# ------------------------------------------------------------------ counts

_WORDED = rf"(?:(?:{'|'.join(TENS)})(?:[\s-](?:{'|'.join(SMALL[1:10])}))?|{'|'.join(SMALL[1:])})"
_NUMERAL = re.compile(
    rf"(?<![\w.,$§/-])(?:(?P<words>{_WORDED})(?:\s?\((?P<again>\d{{1,3}})\))?|(?P<digits>\d{{1,4}}))"
    r"(?![\w%/]|[.,:-]\d|\s?\()",
    re.IGNORECASE,
)
_ONCE = re.compile(r"\b(?:once|twice|thrice)\b", re.IGNORECASE)
_TIMES = {"once": 1, "twice": 2, "thrice": 3}
# Words by which a number bounds the things that stand before it: "hens ... shall not exceed six".
_BOUNDS = re.compile(
    r"(?:exceed(?:s|ing)?|more than|maximum(?: number)?(?: of)?|limit(?:ed)? (?:of|to)|up to|at most|fewer than"
    r"|less than|minimum of|at least|no greater than|is|be|are|:)\s{0,2}$",
    re.IGNORECASE,
)
# How far the thing may stand behind its number: "six (6) adult female chickens".
_WORDS_BETWEEN = 4
_AFTER = re.compile(r"[^.;:()\n]{0,60}")
# "One of its members" is no number of members.
_ONE_OF = re.compile(r"\s+of\s+(?:the|its|their|such|these|those|his|her|any|all)\b", re.IGNORECASE)
# What a number names instead of counting.
_LABEL = re.compile(
    r"(?:sec(?:tion|\.)?|chapter|article|table|title|part|item|no\.|number|figure|ordinance|paragraph"
    r"|subsection|district|type|class|group|day|phase|page)s?\s*$",
    re.IGNORECASE,
)


def _counts(text: str, counted: frozenset[str], taken: Sequence[Span]) -> Iterator[Measure]:
    for match in _NUMERAL.finditer(text):
        span = Span(start=match.start(), end=match.end())
        before = text[max(0, span.start - 40) : span.start]
        if _LABEL.search(before) or not _counts_them(text, span, before, counted, taken):
            continue
        value = Decimal(match["digits"] or match["again"] or in_words(match["words"]))
        yield Measure(kind=Kind.COUNT, value=value, unit="", span=span)
    for match in _ONCE.finditer(text):
        value = Decimal(_TIMES[match.group().casefold()])
        yield Measure(
            kind=Kind.COUNT, value=value, unit="", span=Span(start=match.start(), end=match.end())
        )


def _counts_them(
    text: str, span: Span, before: str, counted: frozenset[str], taken: Sequence[Span]
) -> bool:
    """Tell whether a number counts the things: they follow it, or it bounds what was named before."""
    if _ONE_OF.match(text, span.end):
        return False
    after = _AFTER.match(text, span.end)
    following = terms(after.group())[: _WORDS_BETWEEN + 1] if after else []
    if counted & set(following):
        return True
    last = bisect_right(taken, span.start, key=lambda t: t.start) - 1
    measured = last >= 0 and span.start < taken[last].end
    return not measured and _BOUNDS.search(before) is not None
