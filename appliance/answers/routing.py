"""What kind of question is it, before anything is searched?  Deterministic rules; pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from appliance.domain import City, CityId
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


_STATES = frozenset(
    [
        "al",
        "ak",
        "az",
        "ar",
        "ca",
        "co",
        "ct",
        "de",
        "fl",
        "ga",
        "hi",
        "id",
        "il",
        "in",
        "ia",
        "ks",
        "ky",
        "la",
        "me",
        "md",
        "ma",
        "mi",
        "mn",
        "ms",
        "mo",
        "mt",
        "ne",
        "nv",
        "nh",
        "nj",
        "nm",
        "ny",
        "nc",
        "nd",
        "oh",
        "ok",
        "or",
        "pa",
        "ri",
        "sc",
        "sd",
        "tn",
        "tx",
        "ut",
        "vt",
        "va",
        "wa",
        "wv",
        "wi",
        "wy",
        "dc",
        "xx",
    ]
)
# Names under which people speak of a place, beside its own.
_NICKNAMES = {"new-york-ny": ("nyc", "new york"), "washington-dc": ("d.c.", "dc", "washington")}
_PLACE_BEFORE = r"\b(?:in|of|for|at|from|the city of|under)\s+(?:the\s+)?(?:city of\s+|town of\s+)?"


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


def _names(city: CityId) -> tuple[str, ...]:
    words = city.split("-")
    if words[-1] in _STATES:
        words = words[:-1]
    return (" ".join(words), *_NICKNAMES.get(city, ()))


def _mentions(question: str, name: str) -> bool:
    # Capitals tell "Salem" from "salem"; a question in small letters has none to tell by.
    pattern = rf"{_PLACE_BEFORE}{re.escape(name)}(?![\w-])(?!\s+(?:street|st|avenue|ave|road|rd|terrier)\b)"
    return re.search(pattern, question, re.IGNORECASE) is not None
