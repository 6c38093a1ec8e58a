"""What kind of fact does a question ask for: a length, an amount of money, a time, a count?  Pure.

Deterministic rules over the question's own words.  A question that asks for none of these
("Who decides?") is answered in words, not in a quantity.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from appliance.corpus.lay import other_names, renamed
from appliance.corpus.words import terms


class Kind(StrEnum):
    """A kind of fact, named by what it measures."""

    LENGTH = "length"
    AREA = "area"
    SHARE = "share"
    MONEY = "money"
    DURATION = "duration"
    COUNT = "count"  # of the things that the question names
    NOISE = "noise"
    WORDS = "words"  # no quantity


UNITS: dict[Kind, frozenset[str]] = {
    Kind.LENGTH: frozenset({"foot", "inch", "yard", "mile"}),
    Kind.AREA: frozenset({"sqft", "sqyd", "sqmi", "acre"}),
    Kind.SHARE: frozenset({"percent"}),
    Kind.MONEY: frozenset({"dollar", "cent"}),
    Kind.DURATION: frozenset({"minute", "hour", "day", "week", "month", "year"}),
    Kind.COUNT: frozenset({"story", "space", "unit", "person"}),
    Kind.NOISE: frozenset({"decibel"}),
    Kind.WORDS: frozenset(),
}


class Bound(StrEnum):
    """Which end of what is allowed a question asks for."""

    MOST = "most"
    LEAST = "least"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """What a question asks for."""

    kinds: tuple[Kind, ...]  # the likeliest first
    bound: Bound | None = None
    dimension: str | None = None  # of a length: height, width, depth, distance
    counted: frozenset[str] = frozenset()  # stems of the things that are counted


def sought(question: str) -> Sought:
    """Return what a question asks for; WORDS if it asks for no quantity."""
    asked = " ".join(question.casefold().replace("\u2019", "'").split())
    for pattern, kinds in _RULES:
        if match := pattern.search(asked):
            counted = (
                _counted(asked[match.end() :], asked[: match.start()])
                if Kind.COUNT in kinds
                else frozenset()
            )
            return Sought(
                kinds=kinds,
                bound=None if kinds[0] is Kind.DURATION else _bound(asked),
                dimension=_dimension(asked) if Kind.LENGTH in kinds else None,
                counted=counted,
            )
    return Sought(kinds=(Kind.WORDS,))


_TIMES = r"(?:minutes?|hours?|days?|weeks?|months?|years?)"
_PAID = (
    "fees?|fines?|fined|penalt(?:y|ies)|bonds?|deposits?|costs?|prices?|charges?|surcharges?|dollars|rent"
    "|insurance|tickets?|money-?wise"
)
_SIZED = "largest|biggest|smallest|size|square f(?:eet|ootage)|floor area|lot area"
_RULES: tuple[tuple[re.Pattern[str], tuple[Kind, ...]], ...] = tuple(
    (re.compile(pattern), kinds)
    for pattern, kinds in (
        # "How far ahead" is a time and "how much of" a share, so that these come first.
        (
            rf"\bhow (?:far|long) (?:ahead|in advance|beforehand)\b|\bhow many {_TIMES}\b",
            (Kind.DURATION,),
        ),
        (r"\bhow (?:soon|often|quickly|fast|old)\b|\bhow much (?:time|notice)\b", (Kind.DURATION,)),
        (r"\b(?:until|by) when\b|\bdeadlines?\b|\btime limits?\b", (Kind.DURATION,)),
        (r"\bhow many (?:feet|foot|inches|yards)\b", (Kind.LENGTH,)),
        (r"\bhow many (?:square feet|sq\.? ?ft|acres)\b", (Kind.AREA,)),
        (r"\bhow many (?:percent|dollars)\b", (Kind.SHARE, Kind.MONEY)),
        (r"\bhow many (?:decibels|db)\b|\bhow (?:loud|noisy)\b", (Kind.NOISE,)),
        (
            r"\bhow many\b|\bwhat number of\b|\b(?:maximum|minimum|largest) number of\b",
            (Kind.COUNT,),
        ),
        (
            r"\bhow much of\b|\b(?:what|which) (?:share|percent(?:age)?|portion|part|fraction)\b",
            (Kind.SHARE, Kind.AREA),
        ),
        (r"\bhow much (?:space|room|area|floor|land|ground)\b", (Kind.AREA, Kind.SHARE)),
        (r"\blot coverage\b|\bhow transparent\b|\bpercent(?:age)?\b", (Kind.SHARE,)),
        (
            rf"\b(?:{_PAID})\b|\bhow much (?:do|does|is|are|will|would|must)\b",
            (Kind.MONEY,),
        ),
        (r"\bhow (?:tall|high|deep|wide|thick|narrow|short|low|close|near|far)\b", (Kind.LENGTH,)),
        (
            r"\b(?:heights?|setbacks?|widths?|depth|distance|clearance|frontage|how much (?:taller|higher))\b",
            (Kind.LENGTH,),
        ),
        (
            r"\bhow long\b.*\b(?:driveway|fence|wall|sign|dock|pier|vehicle|trailer|block)\b.*\bbe\W*\Z",
            (Kind.LENGTH, Kind.DURATION),
        ),
        (r"\bhow long\b", (Kind.DURATION, Kind.LENGTH)),
        (
            rf"\bhow (?:big|large|small)\b|\b(?:{_SIZED})\b",
            (Kind.AREA, Kind.SHARE, Kind.LENGTH),
        ),
        (r"\bwhen (?:does|do|will|must|should|is)\b|\bhow late\b|\bexpires?\b", (Kind.DURATION,)),
        (r"\bhow much\b", (Kind.MONEY, Kind.AREA, Kind.SHARE)),
    )
)

# What a length may be the length of, by the words of questions and codes alike.
DIMENSIONS: dict[str, re.Pattern[str]] = {
    "height": re.compile(
        r"\b(?:height|heights|high|higher|tall|taller|tallest|highest|story|stories)\b",
        re.IGNORECASE,
    ),
    "width": re.compile(
        r"\b(?:width|wide|wider|narrow|frontage|diameter|thick|thickness|caliper)\b", re.IGNORECASE
    ),
    "depth": re.compile(r"\b(?:depth|deep|deeper)\b", re.IGNORECASE),
    "distance": re.compile(
        r"\b(?:set ?backs?|distances?|close|closer|near|nearer|far|apart|away|from (?:the|any|an?|all|such|its)"
        r"|within|separated)\b",
        re.IGNORECASE,
    ),
}


def _dimension(asked: str) -> str | None:
    """Return the dimension that a question asks for: the one that it names first."""
    found = [(m.start(), name) for name, p in DIMENSIONS.items() if (m := p.search(asked))]
    return min(found)[1] if found else None


_MOST = re.compile(
    r"\b(?:may|can|could|allowed|permitted|most|maximum|max|largest|biggest|tallest|highest|longest"
    r"|limit|before|until|run out|expire|lapse)\b"
)
_LEAST = re.compile(
    r"\b(?:must|have to|has to|need|needs|required?|least|minimum|min|smallest|lowest|how close|how near"
    r"|how far|away from|setbacks?|distance)\b"
)


def _bound(asked: str) -> Bound | None:
    """Return the end that is asked for; where the question's words speak for both, neither."""
    if re.search(r"\bhow (?:close|near|far)\b|\bsetbacks?\b", asked):
        return Bound.LEAST
    most, least = _MOST.search(asked), _LEAST.search(asked)
    if bool(most) == bool(least):
        return None
    return Bound.MOST if most else Bound.LEAST


# After "how many": the things, up to the verb.
_VERB = re.compile(
    r"\b(?:may|can|could|must|should|do|does|did|is|are|am|was|were|will|would|shall|has|have|per|in|on|at"
    r"|to|for|of|that|i|we|you|a|an|the|before|without|from|allowed|permitted|required)\b|[?,.;]"
)


def _counted(rest: str, before: str) -> frozenset[str]:
    """Return the stems of what is counted and of its other names: "hens" is also "chickens"."""
    verb = _VERB.search(rest)
    things = (rest[: verb.start()] if verb else rest).strip()
    if not things:
        return _named_things(before)
    names = [things, *other_names(things), *_PEOPLE.get(things.split()[0], ())]
    # The last word of a name is what is counted: "yard sales", "garage sales".
    return frozenset(stem for name in names if (stems := terms(name)) for stem in stems[-1:])


# Codes speak of people by what they are there.
_PEOPLE = dict.fromkeys(
    ("people", "persons", "helpers", "workers", "roommates"),
    ("persons", "members", "residents", "occupants", "individuals", "employees"),
)


def _named_things(text: str) -> frozenset[str]:
    """Return the stems of the things that a text names before it asks how many: "hens: how many?"."""
    names = [name for _, names in renamed(text) for name in names] or [text]
    return frozenset(stem for name in names for stem in terms(name)[-1:])
