"""What people call a thing, and what codes call it: words that a question adds to its search.  Pure.

The vocabulary is a data file of general American building and zoning terms.  Its words go into the
search only; nothing that is shown or cited comes from here.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files


@cache
def _terms() -> tuple[tuple[re.Pattern[str], str], ...]:
    table = tomllib.loads(files("appliance.corpus").joinpath("lay_terms.toml").read_text("utf-8"))
    return tuple(
        (_pattern(phrase), words) for group in table.values() for phrase, words in group.items()
    )


def _pattern(phrase: str) -> re.Pattern[str]:
    escaped = r"\s+".join(re.escape(w).replace(r"\*", r"\w*") for w in phrase.split())
    return re.compile(rf"(?<!\w){escaped}(?!\w)")


def legal_terms(question: str) -> list[str]:
    """Return the words of codes that a question's own words stand for, each phrase once, in order."""
    plain = " ".join(question.casefold().replace("\u2019", "'").split())
    return list(dict.fromkeys(words for pattern, words in _terms() if pattern.search(plain)))


def widened(question: str) -> str:
    """Return what is searched for a question: its own words, then what codes call the same things."""
    words = legal_terms(question)
    return f"{question} ({'; '.join(words)})" if words else question
