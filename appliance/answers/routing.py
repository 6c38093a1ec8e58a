"""What kind of question is it, before anything is searched?  Deterministic rules; pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date

from appliance.answers.asked_day import asked_day
from appliance.answers.conversation import standing_alone
from appliance.corpus.figures import figures
from appliance.corpus.named import asked_of
from appliance.domain import City, CityId, Route
from appliance.errors import QuestionRefused

LONGEST_QUESTION = 4000  # code points; a page of text; beyond it nobody asks one question


def checked_question(text: str) -> str:
    """Return the question fit for use.  Raises QuestionRefused with a sentence on what to change."""
    if "\0" in text:
        raise QuestionRefused("The question holds NUL characters; send it as plain text.")
    if len(text) > LONGEST_QUESTION:
        raise QuestionRefused(
            f"The question has {len(text):,} characters and the most is {LONGEST_QUESTION:,}; "
            "ask one thing at a time."
        )
    kept = "".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cs"))
    question = " ".join(kept.split())
    if not re.search(r"\w", question):
        raise QuestionRefused(
            "The question is empty; type one, like 'Do I need a permit for a fence?'"
        )
    return question


def usable(before: Sequence[str]) -> list[str]:
    """Return the earlier questions of a conversation that are questions: no other can be followed."""
    kept = []
    for text in before:
        with suppress(QuestionRefused):
            kept.append(checked_question(text))
    return kept


# ------------------------------------------------------------------ the kinds of question

_GREETING = (
    r"(?:hi|hello|hey|howdy|greetings|good\s+(?:morning|afternoon|evening|day))"
    r"(?:\s+(?:there|all|everyone|permitbox))?"
)
_THANKS = (
    r"(?:(?:ok(?:ay)?|great|perfect|super|got\s+it)[,.!\s]+)?(?:many\s+)?(?:thanks|thank\s+you|thx|cheers)"
    r"(?:\s+(?:a\s+lot|so\s+much|very\s+much|again|for\s+(?:your|the|all)\s+\w+(?:\s+\w+)?))?"
)
_GREETED = re.compile(rf"\A\s*{_GREETING}\b[\s,.!:;-]*", re.IGNORECASE)
_THANKED = re.compile(rf"\A\s*{_THANKS}\b[\s,.!:;-]*", re.IGNORECASE)
_POLITE_END = re.compile(
    r"[\s,.;-]+(?:please|thanks|thank\s+you|thx|cheers)(?:\s+(?:in\s+advance|a\s+lot|so\s+much))?[\s.!]*\Z",
    re.IGNORECASE,
)
_SMALL_TALK = re.compile(
    r"\A\W*(?:how\s+are\s+you(?:\s+(?:today|doing))?|who\s+are\s+you|what\s+(?:are\s+you|can\s+you\s+do|is\s+this)"
    r"|are\s+you\s+(?:a\s+)?(?:bot|robot|human|ai|real)|ok(?:ay)?|great|perfect|bye|goodbye|test(?:ing)?)\W*\Z",
    re.IGNORECASE,
)
_NOT_OURS = re.compile(
    r"\b(?:write|compose|tell|sing|make)\s+(?:me\s+|us\s+)?(?:a|an|some)\s+(?:\w+\s+)?(?:poem|song|joke|story|essay|haiku|limerick|email)\b"
    r"|\bweather\s+(?:forecast|like|today|tomorrow)\b|\btranslate\b.{0,80}\b(?:into|to)\s+[A-Z]\w+"
    r"|\b(?:stock|share)\s+price\b|\brecipe\s+for\b",
    re.IGNORECASE,
)
_LOOKED_UP = re.compile(
    r"\b(?:what|does|do|is|in|of|the|say|says|state|read|show|me|give|quote|print|open|text|full|whole|please|code|can"
    r"|you|i|see|want|to|look|up|find|and|about|under|at|wording|exact|whats|s)\b|[^\w]+",
    re.IGNORECASE,
)
_ASKS_AMOUNT = re.compile(
    r"\bhow\s+(?:much|many|big|large|tall|high|wide|far|long|deep)\b"
    r"|\bwhat(?:['’]?s|\s+(?:is|are|would|will))?\b.{0,60}\b(?:fees?|costs?|charges?|setbacks?|areas?|number|size|spaces)\b"
    r"|\b(?:fee|cost|total|area|setback|parking|spaces)\b[^?]{0,80}\?",
    re.IGNORECASE,
)
_TIMES = frozenset(["date", "day of year", "month of year", "clock", "ordinal"])
_COMPARES = re.compile(
    r"\b(?:compar\w+|differ\w*|versus|vs|between|same\s+(?:in|as)|than|which\s+of)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Routed:
    """What kind of question it is, and what is to be searched for it."""

    route: Route
    question: str  # without courtesies, and with what it follows
    as_of: date | None = None  # the day whose law it asks for, if it says one
    places: tuple[City, ...] = ()  # the other cities of this box that it names


def routed(
    question: str, *, selected: CityId, cities: Sequence[City], before: Sequence[str] = ()
) -> Routed:
    """Return the route of a checked question; `before` are those asked before it, oldest first."""
    own = _POLITE_END.sub("", question).strip() or question
    bare = _GREETED.sub("", _THANKED.sub("", own)).strip()
    if not re.search(r"\w", bare) or _SMALL_TALK.search(bare):
        route = Route.THANKS if _THANKED.match(own) else Route.GREETING
        return Routed(route=route, question=question)
    if _NOT_OURS.search(bare):
        return Routed(route=Route.OUT_OF_SCOPE, question=bare)
    whole = standing_alone(bare, before)
    places = named_places(bare, cities)
    if compares(bare, places, selected):
        return Routed(route=Route.COMPARISON, question=whole, places=places)
    if elsewhere := other_city(bare, selected, cities):
        return Routed(route=Route.OTHER_CITY, question=whole, places=(elsewhere,))
    return Routed(route=_route(bare, whole), question=whole, as_of=asked_day(bare))


def _route(bare: str, whole: str) -> Route:
    if bare != whole:
        return Route.FOLLOW_UP
    if looks_up(bare):
        return Route.LOOKUP
    return Route.CALCULATION if calculates(bare) else Route.RESEARCH


def calculates(question: str) -> bool:
    """Tell whether a question asks for an amount and brings one along: "… for 12 units?"."""
    brought = [f for f in figures(question) if f.unit not in _TIMES and (f.unit or f.nouns)]
    return bool(brought) and _ASKS_AMOUNT.search(question) is not None


def looks_up(question: str) -> bool:
    """Tell whether a question only names parts of the law: "What does § 28-105.9 say?"."""
    mentions = asked_of(question)
    if not mentions:
        return False
    rest = list(question)
    for mention in mentions:
        rest[mention.span.start : mention.span.end] = " " * len(mention.span)
    return not _LOOKED_UP.sub("", "".join(rest))


def compares(question: str, places: Sequence[City], selected: CityId) -> bool:
    """Tell whether a question asks how the codes of several cities differ."""
    if not _COMPARES.search(question):
        return False
    others = [p for p in places if p.id != selected]
    here = len(others) < len(places) or re.search(
        r"\b(?:here|ours?|we|us|this\s+(?:city|town|county))\b", question, re.IGNORECASE
    )
    return len(others) > 1 or (len(others) == 1 and bool(here))


# ------------------------------------------------------------------ places

# fmt: off
_STATES = frozenset([
    "al", "ak", "az", "ar", "ca", "co", "ct", "de", "fl", "ga", "hi", "id", "il", "in", "ia", "ks", "ky",
    "la", "me", "md", "ma", "mi", "mn", "ms", "mo", "mt", "ne", "nv", "nh", "nj", "nm", "ny", "nc", "nd",
    "oh", "ok", "or", "pa", "ri", "sc", "sd", "tn", "tx", "ut", "vt", "va", "wa", "wv", "wi", "wy", "dc",
    "xx",
])
# fmt: on
# Names under which people speak of a place, beside its own.
_NICKNAMES = {"new-york-ny": ("nyc", "new york"), "washington-dc": ("d.c.", "dc", "washington")}
_PLACE_BEFORE = (
    r"\b(?:in|of|for|at|from|the city of|under)\s+(?:the\s+)?(?:(?:city|town|county) of\s+)?"
)
_NO_STREET = r"(?![\w-])(?!\s+(?:street|st|avenue|ave|road|rd|terrier)\b)"


def other_city(question: str, selected: CityId, cities: Sequence[City]) -> City | None:
    """Return the city of this box that the question asks about instead of the selected one.

    Only a name after a preposition counts ("in Norfolk"), and none if the selected city is named
    too: people have streets, colleges and breeds of dog with the names of places.
    """
    if any(_mentions(question, name) for name in _names(selected)):
        return None
    for city in cities:
        if city.id != selected and any(_mentions(question, name) for name in _names(city.id)):
            return city
    return None


def _mentions(question: str, name: str) -> bool:
    pattern = rf"{_PLACE_BEFORE}{re.escape(name)}{_NO_STREET}"
    return re.search(pattern, question, re.IGNORECASE) is not None


def named_places(question: str, cities: Sequence[City]) -> tuple[City, ...]:
    """Return the cities of this box that a question names, in the order of their names there."""
    found = [(at, c.id, c) for c in cities if (at := _first(question, c.id)) is not None]
    return tuple(city for _, _, city in sorted(found, key=lambda f: f[:2]))


def _first(question: str, city: CityId) -> int | None:
    """Return where a city is named.  Capitals tell "Salem" from "salem", unless there are none at all."""
    small = not any(c.isupper() for c in question[1:])
    places = [
        found.start()
        for name in _names(city)
        for found in re.finditer(
            rf"(?<![\w-]){re.escape(name)}{_NO_STREET}", question, re.IGNORECASE
        )
        if small or found[0][0].isupper()
    ]
    return min(places, default=None)


def _names(city: CityId) -> tuple[str, ...]:
    words = city.split("-")
    if words[-1] in _STATES:
        words = words[:-1]
    whole = " ".join(words)
    return (
        whole,
        *([whole.removesuffix(" county")] if words[-1] == "county" else []),
        *_NICKNAMES.get(city, ()),
    )
