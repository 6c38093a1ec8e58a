"""Quantities in law text: a number with a unit, a currency or a percent sign.  Pure.

However it is written: "six (6) feet", "6 ft" and "6'" are the same, so are "$1,000" and "one
thousand dollars".  `quantities` leaves numbers without a unit out (`numbers` has them), and units are
not converted: "48 inches" is not "4 feet".  Of "30 to 60 days" the 60 is traced.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from appliance.corpus.number_words import TENS, UNITS
from appliance.domain import Span

_UNITS = {
    "foot": "foot feet ft ft. lineal-foot lineal-feet linear-foot linear-feet",
    "inch": "inch inches in. in",
    "yard": "yard yards yd yds",
    "mile": "mile miles",
    "sqft": "square-feet square-foot sq-ft sq.-ft. sq.-ft sqft sf",
    "sqyd": "square-yard square-yards",
    "sqmi": "square-mile square-miles",
    "cuft": "cubic-foot cubic-feet cu.-ft. cu.-ft",
    "cuyd": "cubic-yard cubic-yards",
    "acre": "acre acres",
    "percent": "percent per-cent % percentage",
    "dollar": "dollar dollars usd",
    "cent": "cent cents",
    "day": "day days calendar-day calendar-days business-days business-day working-days working-day",
    "hour": "hour hours hr hrs",
    "minute": "minute minutes",
    "week": "week weeks",
    "month": "month months",
    "year": "year years",
    "story": "story stories storey storeys",
    "space": "space spaces stall stalls parking-space parking-spaces",
    "unit": "unit units dwelling-unit dwelling-units",
    "person": "person persons people",
    "pound": "pound pounds lb lbs",
    "gallon": "gallon gallons",
    "decibel": "decibel decibels dba db",
    "degree": "degree degrees",
}
_BY_WORD = {w.replace("-", " "): unit for unit, words in _UNITS.items() for w in words.split()}

_SMALL = {word: n for n, word in enumerate(UNITS)}
_TENS = {word: 10 * n for n, word in enumerate(TENS, start=2)}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}

# Number words as they are spoken: "twenty-five", "one hundred and fifty thousand", "two and one-half".
# "Between five and ten" are two numbers, and "several hundred" is none.
_ONE = "|".join(_SMALL)
_BELOW_100 = rf"(?:(?:{'|'.join(_TENS)})(?:[\s-]{{1,9}}(?:{_ONE}))?|(?:{_ONE}))"
_BELOW_1000 = (
    rf"(?:{_BELOW_100}[\s-]{{1,9}}hundred(?:[\s-]{{1,9}}(?:and[\s-]{{1,9}})?{_BELOW_100})?"
    rf"|{_BELOW_100})"
)
_WORDED = (
    rf"\b{_BELOW_1000}(?:[\s-]{{1,9}}million)?(?:[\s-]{{1,9}}thousand)?"
    rf"(?:(?<=thousand)[\s-]{{1,9}}(?:and[\s-]{{1,9}})?{_BELOW_1000})?\b"
)
_PARTS = {
    "½": Decimal("0.5"),
    "¼": Decimal("0.25"),
    "¾": Decimal("0.75"),
    "⅓": Decimal(1) / 3,
    "⅔": Decimal(2) / 3,
    "⅛": Decimal("0.125"),
    "⅜": Decimal("0.375"),
    "⅝": Decimal("0.625"),
    "⅞": Decimal("0.875"),
    "half": Decimal("0.5"),
    "quarter": Decimal("0.25"),
    "fourth": Decimal("0.25"),
    "quarters": Decimal("0.75"),
    "fourths": Decimal("0.75"),
    "third": Decimal(1) / 3,
    "thirds": Decimal(2) / 3,
}
_SIGN = "[½¼¾⅓⅔⅛⅜⅝⅞]"
_WORDED_PART = (
    r"\b(?:one[\s-]{1,9}(?:half|quarter|fourth|third)|three[\s-]{1,9}(?:quarters|fourths)"
    r"|two[\s-]{1,9}thirds)\b"
)
# A number does not begin inside another one or a word; more than 18 digits are no quantity.
_DIGITS = r"(?:\d{1,3}(?:,\d{3}){1,5}|\d{1,18})(?:\.\d{1,9})?(?!\d)|\.\d{1,9}(?!\d)"
_NUMBER = (
    rf"(?:(?P<ratio>(?<![\w.,/])(?:\d{{1,3}}[\s-]{{1,3}})?\d{{1,2}}/\d{{1,2}}(?![\d/]))"
    rf"|(?<![\w./])(?<![A-Za-z]-)(?P<digits>{_DIGITS})(?:[\s-]?(?P<part>{_SIGN}))?"
    rf"|(?<!\w)(?P<sign>{_SIGN})"
    rf"|(?P<fraction>{_WORDED_PART})"
    rf"|(?P<words>{_WORDED})(?:[\s-]{{1,9}}and[\s-]{{1,9}}(?P<worded_part>{_WORDED_PART}))?)"
)
_UNIT_PATTERN = "|".join(
    r"[\s-]{1,3}".join(re.escape(part) for part in word.split())
    for word in sorted(_BY_WORD, key=len, reverse=True)
)
_REPEAT = rf"\(\s{{0,3}}\$?\s?(?P<%s>[\d.,/]{{1,24}}(?:\s?{_SIGN})?)\s?%%?\s{{0,3}}\)"
_QUANTITY = re.compile(
    rf"(?P<currency>\$\s?)?{_NUMBER}(?:[\s-]?(?P<scale>hundred|thousand|million)\b)?"
    rf"(?:\s{{0,3}}{_REPEAT % 'repeat'}(?=[\s-]{{0,3}}(?:{_UNIT_PATTERN})(?![a-z])))?"
    # "5 in the yard" is no inch.
    rf"(?:[\s-]{{0,3}}(?P<unit>{_UNIT_PATTERN})(?![a-z])(?!(?<=\din|\sin)\s+[a-z])"
    rf"|(?P<prime>['’′](?!\w)|[\"”″]))?"
    rf"(?P<bracket>\s{{0,3}}{_REPEAT % 'again'})?",
    re.IGNORECASE,
)


# Where a quantity can begin at all: the whole pattern, tried at every character, takes three times as
# long, and so do alternatives that do not begin with a set of letters.
_FIRST_WORDS = (*_SMALL, *_TENS)
_BEGIN = re.compile(
    rf"[$\d{_SIGN[1:]}|\.(?=\d)"
    rf"|\b[{''.join({w[0] for w in _FIRST_WORDS})}](?:{'|'.join(w[1:] for w in _FIRST_WORDS)})\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A number with its unit, and how it was written."""

    value: Decimal
    unit: str  # a key of _UNITS; "" of a number that has none
    text: str  # white space evened out
    span: Span


def in_words(text: str) -> int:
    """Return the value of number words: "two hundred and fifty" is 250."""
    total = current = 0
    for word in re.findall(r"[a-z]+", text.casefold()):
        if word in _SMALL:
            current += _SMALL[word]
        elif word in _TENS:
            current += _TENS[word]
        elif word == "hundred":
            current = max(1, current) * 100
        elif word in _SCALES:
            total += max(1, current) * _SCALES[word]
            current = 0
    return total + current


def quantities(text: str) -> list[Quantity]:
    """Return the quantities of a text in reading order."""
    return [q for q in _numbers(text, bare=False) if q.unit]


def numbers(text: str) -> list[Quantity]:
    """Return all numbers of a text in reading order; one that has no unit has the unit ""."""
    return list(_numbers(text, bare=True))


def unit_named(word: str) -> str | None:
    """Return the unit that a word, or words joined by blanks, means: "feet" and "ft" are "foot"."""
    return _BY_WORD.get(word.casefold().replace("-", " "))


def _numbers(text: str, *, bare: bool) -> Iterator[Quantity]:
    position = 0
    quotes = _Quotes(text)
    while match := _search(text, position):
        unit = _unit(match, quotes)
        if unit is None:
            position = _end_of_bare(match)
            if bare:
                yield _quantity(text, _value(match), "", match.start(), position)
            continue
        value = _value(match)
        position = _end(match, value)
        quotes.pass_by(match)
        for each in _values(match, value):
            yield _quantity(text, each, unit, match.start(), position)


def _quantity(text: str, value: Decimal, unit: str, start: int, end: int) -> Quantity:
    span = Span(start=start, end=end)
    return Quantity(value=value, unit=unit, text=" ".join(span.of(text).split()), span=span)


def _search(text: str, position: int) -> re.Match[str] | None:
    """Return the next number, with or without a unit."""
    while begin := _BEGIN.search(text, position):
        if match := _QUANTITY.match(text, begin.start()):
            return match
        position = begin.start() + 1
    return None


class _Quotes:
    """Whether a quotation is open: then its closing mark is no sign of inches.

    Read only as far as a mark is asked for; most numbers have none.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._read = 0
        self._open = False

    def open_at(self, position: int) -> bool:
        """Tell whether a quotation is open there; positions ascend."""
        for mark in _QUOTE.findall(self._text, self._read, position):
            self._open = mark == "“" or (mark == '"' and not self._open)
        self._read = max(self._read, position)
        return self._open

    def pass_by(self, match: re.Match[str]) -> None:
        """Leave out a mark that was read as inches."""
        if match["prime"]:
            self.open_at(match.start("prime"))
            self._read = match.end("prime")


_QUOTE = re.compile(r'["“”]')


def _value(match: re.Match[str]) -> Decimal:
    value = _base(match)
    if match["scale"]:
        value *= _SCALES[match["scale"].casefold()]
    return value


def _base(match: re.Match[str]) -> Decimal:
    if match["ratio"]:
        return _ratio(match["ratio"])
    if match["digits"]:
        return _plain(match["digits"]) + (_PARTS[match["part"]] if match["part"] else 0)
    if match["sign"]:
        return _PARTS[match["sign"]]
    if match["fraction"]:
        return _part(match["fraction"])
    value = Decimal(in_words(match["words"]))
    return value + (_part(match["worded_part"]) if match["worded_part"] else 0)


def _ratio(text: str) -> Decimal:
    *whole, numerator, denominator = (int(n) for n in re.findall(r"\d+", text))
    return Decimal(sum(whole)) + Decimal(numerator) / Decimal(denominator or 1)


def _part(words: str) -> Decimal:
    return _PARTS[re.split(r"[\s-]+", words.casefold())[-1]]


def _plain(digits: str) -> Decimal:
    return Decimal("0" + digits.replace(",", ""))


def _values(match: re.Match[str], value: Decimal) -> list[Decimal]:
    """Return the value, and a second one where the brackets say otherwise: "six (60) feet"."""
    other = _bracketed(match["repeat"]) if match["repeat"] else value
    return [value] if other is None or other == value else [value, other]


def _end(match: re.Match[str], value: Decimal) -> int:
    """Return where a quantity ends: before brackets that do not say the same once more."""
    if match["again"] and _bracketed(match["again"]) != value:
        return match.start("bracket")
    return match.end()


def _end_of_bare(match: re.Match[str]) -> int:
    """Return where a number without a unit ends: a mark or brackets behind it are not its own."""
    if match["prime"]:
        return match.start("prime")
    return match.start("bracket") if match["again"] else match.end()


def _bracketed(written: str) -> Decimal | None:
    """Return the value of "1,000.00", "1/4" or "3½", or None."""
    bare = written.strip()
    if re.fullmatch(r"\d{1,2}/\d{1,2}", bare):
        return _ratio(bare)
    part = _PARTS.get(bare[-1], Decimal(0))
    digits = bare.rstrip("½¼¾⅓⅔⅛⅜⅝⅞").strip(" ,").rstrip(".")
    return _plain(digits) + part if re.fullmatch(r"[\d,]*\.?\d+", digits) else None


def _unit(match: re.Match[str], quotes: _Quotes) -> str | None:
    if match["currency"]:
        return "dollar"
    if match["unit"]:
        return _BY_WORD[" ".join(match["unit"].casefold().replace("-", " ").split())]
    if not match["prime"]:
        return None
    if match["prime"] in "'’′":
        return "foot"
    return None if quotes.open_at(match.start("prime")) else "inch"
