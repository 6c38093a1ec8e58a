"""Every figure of a text: quantities, counts of things, dates, times of day and ordinals.  Pure.

`quantities` reads a number with its unit; here it also has what it counts ("three adult hens"), the
unit of its range ("30 to 60 days" are two figures in days), or is a part of a date.  Numbers of
sections, tables and the like are no figures.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from appliance.corpus.number_words import TENS, UNITS
from appliance.corpus.quantities import Quantity, numbers, unit_named
from appliance.corpus.references import find_references
from appliance.corpus.words import terms
from appliance.domain import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A number as a text writes it, with what it is a number of.

    `unit` is one of `quantities`, "business day", or: "date" (value yyyymmdd), "day of year" (mmdd),
    "month of year" (yyyymm), "clock" (hhmm), "ordinal"; "" of a number that stands alone or counts
    what `nouns` say.
    """

    value: Decimal
    unit: str
    text: str  # white space evened out
    span: Span
    nouns: tuple[
        str, ...
    ] = ()  # stems of the words behind it: of "three adult hens", adult and hen


def figures(text: str) -> list[Figure]:
    """Return the figures of a text in reading order."""
    calendar_days = [*_dates(text), *_clocks(text), *_ordinals(text)]
    taken = sorted(
        [f.span for f in calendar_days]
        + [r.span for r in find_references(text)]
        + [Span(start=m.start(), end=m.end()) for m in _LAW.finditer(text)]
    )
    counted = _counted(text, _free(numbers(text), taken))
    return sorted([*calendar_days, *counted], key=lambda f: f.span)


# "Local Law 11 of 2020", "Ordinance No. 2019-12": a name, which the registry is asked for.
_LAW = re.compile(
    r"\b(?:local\s+law|LL|ordinance|ord\.|resolution|bill|act)\s{0,2}(?:no\.?\s{0,2})?"
    r"\d{1,6}(?:[-/]\d{1,6})?(?:\s+of\s+(?:19|20)\d\d)?(?!\d)",
    re.IGNORECASE,
)


def _free(found: Sequence[Quantity], taken: Sequence[Span]) -> Iterator[Quantity]:
    """Yield the numbers that lie in none of the spans; both are in reading order."""
    at = 0
    for number in found:
        while at < len(taken) and taken[at].end <= number.span.start:
            at += 1
        if at == len(taken) or taken[at].start >= number.span.end:
            yield number


# ------------------------------------------------------------------ numbers with what they count

# What may stand between a number and its noun, and what ends the noun's words.
_REPEATED = re.compile(r"\s{0,3}\(\s?[\d.,/½¼¾]{1,12}\s?\)")
_NOUN = re.compile(r"(?:\s{1,3}|-)(?P<word>[A-Za-z][A-Za-z'’]{0,30}(?:-[A-Za-z]{1,30}){0,3})")
_MOST_NOUNS = 4
_PASSED_OVER = frozenset(["such", "said", "additional"])  # they name nothing
_ENDS_NOUNS = frozenset(
    """
    a about above after all along also among an and any apart are as at away be been before behind below
    beneath between beyond but by can do does during each either even every except for from had has have if
    in inside including into is it its less long may more must nor not of off on only or other otherwise out
    outside over per plus provided shall since so than that the their them then there these they this
    those through to total under unless until up upon was were when where whether which while who whose will
    with within without would x you your
    """.split()  # noqa: SIM905  (a word a line would take a page)
)
# A range: both numbers have the unit of the last one.
_RANGE = re.compile(r"\s{0,3}(?:-|–|—|to|through|and|or|by|x|×)\s{0,3}(?:\$\s?)?", re.IGNORECASE)
_BUSINESS = re.compile(r"\b(?:business|working)\b", re.IGNORECASE)
_PRONOUN = frozenset(["one", "zero"])
_IN_BRACKETS = re.compile(
    rf"(?:{'|'.join((*UNITS, *TENS, 'hundred', 'thousand', 'million', 'half', 'fourth', 'quarter'))})"
    r"\s{1,3}\(\s?[\d.,/½¼¾]{1,9}\s?\)?$",
    re.IGNORECASE,
)


def _counted(text: str, found: Iterator[Quantity]) -> list[Figure]:
    """Return the numbers as figures: with their nouns, and ranges with their unit."""
    out: list[Figure] = []
    for number in reversed(list(found)):  # so that the last of a range is known first
        figure = _figure(text, number)
        behind = out[-1] if out else None
        if not figure.unit and not figure.nouns and behind and _one_range(text, figure, behind):
            figure = replace(figure, unit=behind.unit, nouns=behind.nouns)
        if not _says_nothing(text, figure):
            out.append(figure)
    return out[::-1]


def _says_nothing(text: str, figure: Figure) -> bool:
    """Tell of a pronoun ("one of them"), and of a number that repeats in brackets: "six (6) hens"."""
    if figure.unit:
        return False
    before = text[max(0, figure.span.start - 16) : figure.span.end + 1]
    if _IN_BRACKETS.search(before):
        return True
    return not figure.nouns and figure.text.casefold() in _PRONOUN


def _one_range(text: str, first: Figure, last: Figure) -> bool:
    gap = text[first.span.end : last.span.start]
    return len(gap) <= 12 and _RANGE.fullmatch(gap) is not None


def _figure(text: str, number: Quantity) -> Figure:
    unit, nouns = number.unit, tuple[str, ...]()
    if not unit:
        words = _nouns(text, number.span.end)
        unit = next((u for w in words if (u := unit_named(w))), "")
        nouns = tuple(terms(" ".join(words)))
        unit = "" if unit in ("percent", "degree") else unit
    if unit == "day" and _BUSINESS.search(text, number.span.start, number.span.end + 24):
        unit = "business day" if _business(text, number) else unit
    return Figure(value=number.value, unit=unit, text=number.text, span=number.span, nouns=nouns)


def _business(text: str, number: Quantity) -> bool:
    words = _nouns(text, number.span.end)
    return _BUSINESS.search(number.text) is not None or any(map(_BUSINESS.fullmatch, words))


def _nouns(text: str, position: int) -> list[str]:
    """Return the words behind a number, up to one that is no part of a noun's name."""
    if repeated := _REPEATED.match(text, position):
        position = repeated.end()
    words: list[str] = []
    for _ in range(_MOST_NOUNS):
        match = _NOUN.match(text, position)
        if match is None:
            break
        if match["word"].casefold() in _ENDS_NOUNS:
            break
        if match["word"].casefold() not in _PASSED_OVER:
            words.append(match["word"])
        position = match.end()
    return words


# ------------------------------------------------------------------ dates, times, ordinals

_MONTHS = {
    name.casefold(): n
    for names in (calendar.month_name, calendar.month_abbr)
    for n, name in enumerate(names)
    if name
} | {"sept": 9}
_MONTH = rf"(?:{'|'.join(sorted(_MONTHS, key=len, reverse=True))})"
_DATE = re.compile(
    rf"\b(?P<iso>(?P<y1>\d{{4}})-(?P<m1>\d\d)-(?P<d1>\d\d))(?![\d-])"
    rf"|\b(?P<m2>{_MONTH})\b\.?\s{{1,3}}(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,?\s{{1,3}}(?P<y2>\d{{4}})(?!\d))?"
    rf"|\b(?P<d3>\d{{1,2}})(?:st|nd|rd|th)?\s{{1,3}}(?:of\s{{1,3}})?(?P<m3>{_MONTH})\b\.?(?:,?\s{{1,3}}(?P<y3>\d{{4}})(?!\d))?"
    rf"|\b(?P<m4>{_MONTH})\b\.?,?\s{{1,3}}(?:of\s{{1,3}})?(?P<y4>\d{{4}})(?!\d)"
    r"|(?<![\d/])(?P<m5>\d{1,2})/(?P<d5>\d{1,2})/(?P<y5>\d{4})(?![\d/])",
    re.IGNORECASE,
)
_CLOCK = re.compile(
    rf"(?<![\w:.])(?P<hour>\d{{1,2}}|{'|'.join(UNITS[1:13])})(?::(?P<minute>\d\d))?"
    r"\s{0,3}(?:o['’]\s?clock\s{0,3})?(?P<half>[ap])(?:\.?\s?m\b\.?|(?:nte|ost)[\s-]meridi[ae][mn]\b)",
    re.IGNORECASE,
)
_ORDINAL_WORDS = (
    *("second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"),
    *("eleventh", "twelfth"),
)
# "First" orders sentences more often than things; "a third of it" is a part.
_ORDINAL = re.compile(
    rf"\b(?:(?P<digits>\d{{1,4}})(?:st|nd|rd|th)\b|(?P<word>{'|'.join(_ORDINAL_WORDS)})(?=[\s-][a-z])(?!\sof\b))",
    re.IGNORECASE,
)


def _dates(text: str) -> Iterator[Figure]:
    for match in _DATE.finditer(text):
        year = next((int(match[g]) for g in ("y1", "y2", "y3", "y4", "y5") if match[g]), 0)
        day = next((int(match[g]) for g in ("d1", "d2", "d3", "d5") if match[g]), 0)
        written = next(match[g] for g in ("m1", "m2", "m3", "m4", "m5") if match[g])
        month = int(written) if written.isdigit() else _MONTHS[written.casefold()]
        if not 1 <= month <= 12 or day > 31:
            continue
        if year and day:
            yield _at(text, match, year * 10_000 + month * 100 + day, "date")
        elif day:
            yield _at(text, match, month * 100 + day, "day of year")
        else:
            yield _at(text, match, year * 100 + month, "month of year")


def _clocks(text: str) -> Iterator[Figure]:
    for match in _CLOCK.finditer(text):
        written = match["hour"].casefold()
        hour = int(written) if written.isdigit() else UNITS.index(written)
        hour = hour % 12 + (12 if match["half"] in "pP" else 0)
        yield _at(text, match, hour * 100 + int(match["minute"] or 0), "clock")


def _ordinals(text: str) -> Iterator[Figure]:
    dates = [m.span() for m in _DATE.finditer(text)]
    at = 0
    for match in _ORDINAL.finditer(text):
        while at < len(dates) and dates[at][1] <= match.start():
            at += 1
        if at < len(dates) and dates[at][0] <= match.start():
            continue
        word = match["word"]
        value = int(match["digits"]) if word is None else _ORDINAL_WORDS.index(word.casefold()) + 2
        yield _at(text, match, value, "ordinal")


def _at(text: str, match: re.Match[str], value: int, unit: str) -> Figure:
    span = Span(start=match.start(), end=match.end())
    return Figure(value=Decimal(value), unit=unit, text=" ".join(span.of(text).split()), span=span)
