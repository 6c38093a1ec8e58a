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
def _table() -> dict[str, dict[str, str]]:
    return tomllib.loads(files("appliance.corpus").joinpath("lay_terms.toml").read_text("utf-8"))


@cache
def _terms() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return the patterns, in lower case but for short forms in capitals, and the words they add."""
    return tuple(
        (_pattern(phrase), words) for group in _table().values() for phrase, words in group.items()
    )


def _pattern(phrase: str) -> re.Pattern[str]:
    escaped = r"\s+".join(re.escape(w).replace(r"\*", r"\w*") for w in phrase.split())
    return re.compile(rf"(?<!\w){escaped}(?!\w)")


def legal_terms(question: str) -> list[str]:
    """Return the words of codes that a question's own words stand for, each phrase once, in order."""
    return list(dict.fromkeys(words.replace(_BETWEEN, " ") for words in _added(question)))


def other_names(question: str) -> list[str]:
    """Return what codes call the things that a question names, name by name, each once, in order."""
    return list(dict.fromkeys(name for words in _added(question) for name in words.split(_BETWEEN)))


def renamed(question: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return the phrases of a question that codes call otherwise, each with the names they use."""
    written = " ".join(question.replace("\u2019", "'").split())
    forms = [written.casefold(), "" if written.isupper() else written]
    found = [
        (match.group(), tuple(words.split(_BETWEEN)))
        for pattern, words in _terms()
        for form in forms
        if (match := pattern.search(form))
    ]
    return list(dict.fromkeys(found))


def alike(name: str) -> list[str]:
    """Return what stands for the same things as a name of codes: "poultry" has hens and chickens.

    Lay words that are the beginnings of several ("rezon*") are left out.
    """
    wanted = " ".join(name.casefold().split())
    found: list[str] = []
    for group in _table().values():
        for phrase, words in group.items():
            names = words.split(_BETWEEN)
            if wanted in names:
                found += [phrase.rstrip("*")] if phrase.rstrip("*").isalpha() else []
                found += names
    return [n for n in dict.fromkeys(found) if n != wanted]


_BETWEEN = " | "


def _added(question: str) -> list[str]:
    written = " ".join(question.replace("\u2019", "'").split())
    # A question in capitals has no short forms that could be told from words.
    forms = [written.casefold(), "" if written.isupper() else written]
    return [words for pattern, words in _terms() if any(pattern.search(form) for form in forms)]


def widened(question: str) -> str:
    """Return what is searched for a question: its own words, then what codes call the same things."""
    words = legal_terms(question)
    return f"{question} ({'; '.join(words)})" if words else question


@cache
def _lay_words() -> re.Pattern[str]:
    words = {w for group in _table().values() for phrase in group for w in phrase.split()}
    endings = "(?:s|es|d|ed|ing|er|ers)?"  # not any: "apartmentts" is no form of "apartment"
    return re.compile("|".join(re.escape(w).replace(r"\*", endings) for w in sorted(words)))


def is_lay(word: str) -> bool:
    """Tell whether a lower-case word is one, or a part of one, that `legal_terms` knows."""
    return _lay_words().fullmatch(word) is not None
