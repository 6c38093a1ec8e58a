"""Law text to tokens: amounts with their units, words, marks.  Pure.

"Fifteen percent (15%)", "five thousand dollars" and "2,000 sq. ft." are one token each.  Section
numbers, dates and ordinance numbers are no amounts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from appliance.corpus.number_words import TENS, UNITS
from appliance.corpus.quantities import in_words

Kind = Literal["amount", "unit", "word", "mark", "reference"]

_UNIT_WORDS = {
    "sqft": r"sq(?:uare|\.)?[\s-]{0,3}(?:feet|foot|ft\.?)|sqft|s\.?f\.?(?![a-z])",
    "sqyd": r"square\s(?:yards?)",
    "cuft": r"cu(?:bic|\.)?\s{0,2}(?:feet|foot|ft\.?)",
    "cuyd": r"cu(?:bic|\.)?\s{0,2}(?:yards?|yds?\.?)",
    "foot": r"(?:line(?:al|ar)[\s-])?(?:feet|foot|ft\.?)",
    "inch": r"inch(?:es)?|in\.(?!\s[a-z])",
    "yard": r"yds?\.?",  # "yard" alone is the one beside a house
    "mile": r"miles?",
    "acre": r"acres?",
    "gallon": r"gallons?",
    "dollar": r"dollars?",
    "cent": r"cents?",
    "day": r"(?:calendar\s|business\s|working\s)?days?",
    "hour": r"hours?",
    "minute": r"minutes?",
    "week": r"weeks?",
    "month": r"months?",
    "year": r"years?",
}
_UNIT = "|".join(f"(?P<{name}>{words})" for name, words in _UNIT_WORDS.items())
_NAMELESS = "|".join(_UNIT_WORDS.values())

_PARTS = {
    "½": "0.5",
    "¼": "0.25",
    "¾": "0.75",
    "⅛": "0.125",
    "⅜": "0.375",
    "⅝": "0.625",
    "⅞": "0.875",
}
_SIGN = "[½¼¾⅛⅜⅝⅞]"
_HALVES = {"one-half": "0.5", "one-quarter": "0.25", "one-fourth": "0.25", "three-quarters": "0.75",
           "three-fourths": "0.75"}  # fmt: skip
_ONE = "|".join((*TENS, *sorted(UNITS, key=len, reverse=True)))
_WORDED = rf"(?:{_ONE})(?:[\s-](?:and\s)?(?:{_ONE}|hundred|thousand|million))*"
_DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+"
_AMOUNT = (
    rf"(?P<currency>\$\s?)?(?:(?P<mixed>\d{{1,3}}[\s-]\d/\d{{1,2}}|\d/\d{{1,2}})(?![\d/])"
    rf"|(?P<digits>{_DIGITS})(?!\d|st\b|nd\b|rd\b|th\b)(?P<sign>{_SIGN})?|(?P<only>{_SIGN})"
    rf"|(?P<half>{'|'.join(_HALVES)})\b|(?P<words>{_WORDED})\b(?!-[a-z,\s]))"
    rf"(?:\s(?P<scale>hundred|thousand|million)\b)?"
)
_REPEATED = rf"\s?\(\s?\$?\s?(?:{_DIGITS}|\d/\d{{1,2}}|{_SIGN})\s?%?\s?\)"
_TOKEN = re.compile(
    rf"(?P<reference>§+\s?[\w.-]+|\d+(?:[.-]\d+){{2,}}|\d+-\d+(?:\.\d+)+|#\s?\d+)"
    rf"|(?<![\w.,/-]){_AMOUNT}"
    rf"(?P<percent1>\s?%|[\s-]per\s?cent\b)?(?P<repeated>{_REPEATED})?"
    rf"(?P<percent2>\s?%|[\s-]per\s?cent\b)?(?:[\s-]?(?P<measure>{_NAMELESS})(?![a-z]))?"
    rf"|(?P<unit>{_UNIT})(?![\w])"
    rf"|(?P<word>[A-Za-z][A-Za-z0-9'’-]*)"
    rf"|(?P<mark>[^\w\s])",
    re.IGNORECASE,
)
_UNIT_ONLY = re.compile(_UNIT, re.IGNORECASE)
LONGEST = 400_000  # code points of a section that is read; a longer one is no fee table


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """One token, with where it stands."""

    kind: Kind
    text: str  # in small letters
    start: int
    end: int
    value: Decimal | None = None  # of an amount
    unit: str | None = None  # of an amount or a unit; "percent" too; None: a bare number
    capital: bool = False  # it begins with a capital letter
    broken: bool = False  # an empty line, or the end of a cell, stands before it


def tokens_of(text: str, offset: int = 0) -> list[Token]:
    """Return the tokens of a text; they count from `offset`."""
    return list(_tokens(text[:LONGEST], offset))


def _tokens(text: str, offset: int) -> Iterator[Token]:
    end = 0
    for match in _TOKEN.finditer(text):
        broken = "\n\n" in text[end : match.start()].replace(" ", "")
        end = match.end()
        yield _token(match, offset, broken=broken)


def _token(match: re.Match[str], offset: int, *, broken: bool) -> Token:
    kind, value, unit = _meaning(match)
    raw = match.group()
    return Token(
        kind=kind,
        text=raw.casefold(),
        start=offset + match.start(),
        end=offset + match.end(),
        value=value,
        unit=unit,
        capital=raw[0].isupper(),
        broken=broken,
    )


def _meaning(match: re.Match[str]) -> tuple[Kind, Decimal | None, str | None]:
    """Return the kind of a token, its value and its unit."""
    if match["reference"]:
        return "reference", None, None
    if match["word"]:
        return "word", None, None
    if match["mark"]:
        return "mark", None, None
    if match["unit"]:
        return "unit", None, _unit_named(match["unit"])
    if match["percent1"] or match["percent2"] or "%" in (match["repeated"] or ""):
        return "amount", _value(match), "percent"
    unit = _unit_named(match["measure"]) if match["measure"] else None
    return "amount", _value(match), "dollar" if match["currency"] else unit


def _unit_named(text: str) -> str:
    match = _UNIT_ONLY.fullmatch(text)
    assert match is not None, "the pattern of a token is made of the same words"
    return next(name for name in _UNIT_WORDS if match[name])


def _value(match: re.Match[str]) -> Decimal:
    value = _base(match)
    scale = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
    return value * scale[match["scale"].casefold()] if match["scale"] else value


def _base(match: re.Match[str]) -> Decimal:
    if match["mixed"]:
        *whole, above, below = map(Decimal, re.findall(r"\d+", match["mixed"]))
        return sum(whole, Decimal(0)) + above / (below or 1)
    if match["digits"]:
        return Decimal("0" + match["digits"].replace(",", "")) + Decimal(
            _PARTS.get(match["sign"] or "", 0)
        )
    if match["only"]:
        return Decimal(_PARTS[match["only"]])
    if match["half"]:
        return Decimal(_HALVES[match["half"].casefold()])
    return Decimal(in_words(match["words"]))
