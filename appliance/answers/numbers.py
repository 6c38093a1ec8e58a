"""Which numbers of an answer stand in the passages that it cites?  Pure.

A quantity is a number with a unit, a currency or a percent sign, however it is
written: "six (6) feet", "6 ft" and "6'" are the same, so are "$1,000" and "one
thousand dollars".  Numbers without a unit are not traced here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

_UNITS = {
    "foot": "foot feet ft ft. lineal-foot",
    "inch": "inch inches in. in",
    "yard": "yards yd yds",
    "mile": "mile miles",
    "sqft": "square-feet square-foot sq-ft sq.-ft. sqft sf",
    "acre": "acre acres",
    "percent": "percent per-cent % percentage",
    "dollar": "dollar dollars usd",
    "cent": "cents",
    "day": "day days calendar-day calendar-days business-days business-day working-days working-day",
    "hour": "hour hours hr hrs",
    "minute": "minute minutes",
    "week": "week weeks",
    "month": "month months",
    "year": "year years",
    "story": "story stories storey storeys",
    "space": "space spaces stall stalls",
    "unit": "unit units dwelling-unit dwelling-units",
    "person": "person persons people",
    "pound": "pound pounds lb lbs",
    "gallon": "gallon gallons",
    "decibel": "decibel decibels dba db",
    "degree": "degree degrees",
}
_BY_WORD = {w.replace("-", " "): unit for unit, words in _UNITS.items() for w in words.split()}

_SMALL = {
    w: i
    for i, w in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ]
    )
}
_TENS = {
    w: 10 * i
    for i, w in enumerate(
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 2
    )
}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
_NUMBER_WORD = "|".join([*_SMALL, *_TENS, *_SCALES])
_WORDS = re.compile(
    rf"\b(?:{_NUMBER_WORD})(?:(?:[\s-]+(?:and\s+)?)(?:{_NUMBER_WORD}))*\b", re.IGNORECASE
)
_FRACTIONS = {"½": ".5", "¼": ".25", "¾": ".75"}
_UNIT_PATTERN = "|".join(sorted((re.escape(w) for w in _BY_WORD), key=len, reverse=True))
_QUANTITY = re.compile(
    rf"(?P<currency>\$\s?)?(?P<number>\d[\d,]*(?:\.\d+)?)(?:[\s-]?(?P<scale>hundred|thousand|million))?"
    rf"(?:\s*\(\s*\$?\d[\d,]*(?:\.\d+)?\s*%?\s*\))?"
    rf"(?:[\s-]*(?P<unit>{_UNIT_PATTERN})(?![a-z])|(?P<prime>['’′]|[\"”″]))?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A number with its unit, and how it was written."""

    value: Decimal
    unit: str  # a key of _UNITS
    text: str


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


def _digits(text: str) -> str:
    """Return the text with number words as digits and vulgar fractions as decimals."""
    for sign, decimal in _FRACTIONS.items():
        text = re.sub(rf"(\d)\s?{sign}", rf"\g<1>{decimal}", text).replace(sign, "0" + decimal)
    return _WORDS.sub(lambda m: str(in_words(m.group())), text)


def quantities(text: str) -> list[Quantity]:
    """Return the quantities of a text in reading order."""
    return list(_quantities(" ".join(_digits(text).split())))


def _quantities(text: str) -> Iterator[Quantity]:
    for match in _QUANTITY.finditer(text):
        unit = _unit(match)
        if unit is None:
            continue
        value = Decimal(match["number"].replace(",", "").rstrip("."))
        if match["scale"]:
            value *= _SCALES[match["scale"].casefold()]
        yield Quantity(value=value, unit=unit, text=match.group().strip())


def _unit(match: re.Match[str]) -> str | None:
    if match["currency"]:
        return "dollar"
    if match["unit"]:
        return _BY_WORD[" ".join(match["unit"].casefold().replace("-", " ").split())]
    if match["prime"]:
        return "foot" if match["prime"] in "'’′" else "inch"
    return None


def unsupported_numbers(answer: str, cited: Iterable[str]) -> tuple[str, ...]:
    """Return the quantities of the answer that no cited text holds, as the answer writes them."""
    held = {(q.value, q.unit) for text in cited for q in quantities(text)}
    missing = [q.text for q in quantities(answer) if (q.value, q.unit) not in held]
    return tuple(dict.fromkeys(missing))
