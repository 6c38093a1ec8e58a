"""Whose code is this?  Which place a text names as its own, against the one that was expected.  Pure.

Knows no gazetteer: a place is what the text itself calls "City of X", "X City Council" or
"X Municipal Code".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

_WORD = r"[A-Z][a-z’']+"
_NAME = rf"((?:(?:St|Mt|Ft)\. |[NSEW]\. )?{_WORD}(?:[ -](?:of |the )?{_WORD}){{0,2}})"
# Boroughs are parts of cities, and a city's text speaks of its county.
_NAMED = re.compile(
    rf"\b(?:City|Town|Village|Township|Municipality) [Oo]f {_NAME}"
    rf"|\b(?:CITY|TOWN|VILLAGE|TOWNSHIP|MUNICIPALITY) OF ([A-Z]{{3,}}(?: [A-Z]{{3,}})?)"
    rf"|\b{_NAME} (?:City|Town|Village|Municipal|Township) (?:Code|Charter)\b"
    rf"|\b{_NAME} (?:Municipal Code|Code of Ordinances)\b"
)
_COUNTY = re.compile(rf"\b(?:County [Oo]f {_NAME}|{_NAME} County)\b")
_STATES = (
    "A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]"
    "|T[NX]|UT|V[AT]|W[AIVY]|Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut"
    "|Delaware|Florida|Georgia|Hawaii|Idaho|Illinois|Indiana|Iowa|Kansas|Kentucky|Louisiana"
    "|Maine|Maryland|Massachusetts|Michigan|Minnesota|Mississippi|Missouri|Montana|Nebraska"
    "|Nevada|New Hampshire|New Jersey|New Mexico|New York|North Carolina|North Dakota|Ohio"
    "|Oklahoma|Oregon|Pennsylvania|Rhode Island|South Carolina|South Dakota|Tennessee|Texas"
    "|Utah|Vermont|Virginia|Washington|West Virginia|Wisconsin|Wyoming"
)
_HEADED = re.compile(rf"\b{_NAME}, (?:{_STATES})\b")
# Words that a sentence begins with, or that stand where a name would, are no places.
_NO_PLACE = frozenset(
    [
        "the",
        "this",
        "that",
        "if",
        "any",
        "such",
        "said",
        "each",
        "all",
        "no",
        "such",
        "a",
        "an",
        "such",
        "other",
        "new",
        "state",
        "mayor",
        "city",
        "town",
        "county",
        "council",
        "planning",
        "zoning",
        "building",
        "public",
        "board",
        "commission",
        "code",
        "chapter",
        "title",
        "section",
        "article",
        "general",
        "board's",
        "planned",
        "unified",
        "model",
        "uniform",
        "international",
        "national",
        "local",
        "federal",
        "united",
        "states",
        "official",
        "current",
        "whole",
        "entire",
        "same",
        "applicable",
        "local",
        "adopted",
        "municipal",
        "regular",
    ]
)
_HALF_A_NAME = frozenset(
    (
        *(
            "new",
            "san",
            "santa",
            "los",
            "las",
            "el",
            "la",
            "le",
            "de",
            "des",
            "of",
            "the",
            "fort",
            "port",
        ),
        *("saint", "st", "mount", "mt", "lake", "north", "south", "east", "west", "upper", "lower"),
    )
)
_ALSO = {
    ("washington", "district of columbia"),
    ("washington", "columbia"),
    ("washington", "district"),
}
_MOST_LOOKED_AT = 300_000
# A text about its own city may name a neighbour twice; of 54,035 real sections 22 name one thrice
# without naming their own.
_OFTEN = 3


def other_place(text: str, title: str, expected: str) -> str | None:
    """Say which other place the text and its title name as their own, instead of `expected`.

    `expected` is a name with or without a state: "San Mateo, CA", "Henrico County, VA".
    """
    name, is_county = _core(expected)
    text = text[:_MOST_LOOKED_AT]
    own = _mentions(name, f"{title}\n{text}")
    named = _names(text, of_counties=is_county)
    others = {p: _mentions(p, text) for p in _prefixes(named) if not _same(p, name)}
    place = max(others, key=lambda p: (others[p] >= _OFTEN, len(p), others[p]), default=None)
    if place is not None and others[place] >= _OFTEN and others[place] >= 4 * own:
        return f"it names {place} {others[place]} times and {name} {own} times"
    head = [p for p in _names(title, of_counties=is_county, headed=True) if not _same(p, name)]
    if head and own == 0 and (others or _HEADED.search(title)):
        return f"its title names {head[0]}, not {name}"
    return None


def _prefixes(names: Iterable[str]) -> Iterator[str]:
    """Yield the names, and what is left without their last words: "Norfolk Zoning" may be Norfolk."""
    for name in names:
        words = name.split()
        for n in range(len(words), 0, -1):
            if words[n - 1].casefold() not in _HALF_A_NAME:
                yield " ".join(words[:n])


def _mentions(name: str, text: str) -> int:
    return len(re.findall(rf"\b{re.escape(name)}\b", text, re.IGNORECASE))


def place_name(name_or_id: str) -> str:
    """Return "San Mateo, CA" for "san-mateo-ca"; a name as it is."""
    if not re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", name_or_id):
        return name_or_id
    *words, state = name_or_id.split("-")
    return f"{' '.join(words).title()}, {state.upper()}" if words else state.title()


def _core(expected: str) -> tuple[str, bool]:
    """Return the bare name ("Henrico") and whether it is a county's."""
    name = expected.split(",", maxsplit=1)[0].strip()
    county = bool(re.search(r"\bcounty\b", name, re.IGNORECASE))
    bare = re.sub(r"\b(?:city|town|village|county|township|of)\b", " ", name, flags=re.IGNORECASE)
    return " ".join(bare.split()) or name, county


def _names(text: str, *, of_counties: bool, headed: bool = False) -> Counter[str]:
    patterns = [_NAMED, *([_COUNTY] if of_counties else []), *([_HEADED] if headed else [])]
    found = [next(g for g in m.groups() if g) for p in patterns for m in p.finditer(text)]
    tidy = (_tidied(name) for name in found)
    return Counter(name for name in tidy if name)


def _tidied(name: str) -> str:
    """Return the name without the words of a sentence around it; "" if nothing is left."""
    words = name.title().split() if name.isupper() else name.split()
    while words and words[0].casefold().strip("’'") in _NO_PLACE:
        words = words[1:]
    while words and words[-1].casefold() in _NO_PLACE:
        words = words[:-1]
    return " ".join(words)


def _same(place: str, name: str) -> bool:
    """Tell whether one name is part of the other ("New York" and "New York City")."""
    a, b = place.casefold(), name.casefold()
    return a in b or b in a or (b, a) in _ALSO
