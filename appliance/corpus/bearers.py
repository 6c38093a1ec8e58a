"""Which of the sections that bear a number a question means: its title, its code, its own number.  Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date
from itertools import groupby

from appliance.corpus.named import LAW, Asked, container_keys, keys_of
from appliance.corpus.references import number_key, parse_citation
from appliance.corpus.sections import number_in_heading
from appliance.domain import Part
from appliance.ports import Bearer

# Words that are in too many codes' names, or in any question, to tell one code from another.
_COMMON = frozenset(
    [
        *("a", "an", "and", "appendix", "article", "chapter", "city", "code", "county", "division"),
        *(
            "for",
            "in",
            "is",
            "it",
            "law",
            "of",
            "on",
            "or",
            "part",
            "sec",
            "section",
            "table",
            "the",
        ),
        *("title", "to", "town", "what"),
    ]
)

Rank = tuple[int, int, int, int, int, int, int]


def chosen(
    asked: Asked, bearers: Sequence[Bearer], *, question: str, place: Iterable[str], day: date
) -> list[list[Bearer]]:
    """Return the bearers that can be meant, best first, in classes that nothing told apart.

    `place` holds the words of the city's name, which name no code.
    """
    keys = keys_of(asked)
    words = _words(question) - set(place)
    fit = _of_code(asked, [b for b in bearers if asked.loose or b.number in asked.readings])
    ranked = sorted(
        ((_rank(asked, b, keys, words, day), i, b) for i, b in enumerate(fit)), key=lambda r: r[:2]
    )
    if ranked and asked.kind != LAW:  # one reading is meant, and a law without its year several
        meant = number_key(ranked[0][-1].number)
        ranked = [r for r in ranked if number_key(r[-1].number) == meant]
    seen: set[int] = set()
    classes: list[list[Bearer]] = []
    for _, group in groupby(ranked, key=lambda r: r[0]):
        fresh = [b for _, _, b in group if b.section not in seen and not seen.add(b.section)]  # type: ignore[func-returns-value]
        if fresh:
            classes.append(fresh)
    return classes


def _of_code(asked: Asked, bearers: list[Bearer]) -> list[Bearer]:
    """Return those of the code and title that stand beside the number: "12 DCMR 105"."""
    of_code = [b for b in bearers if asked.code and _stem(asked.code) in _code_words(b)]
    if not of_code:
        return [] if asked.by_code else bearers
    title = Part(unit="title", number=asked.title)
    return [b for b in of_code if not asked.title or stands_in(b, title)]


def _rank(asked: Asked, bearer: Bearer, keys: Sequence[str], words: set[str], day: date) -> Rank:
    key = number_key(bearer.number)
    return (
        sum(not stands_in(bearer, part) for part in asked.within),
        -len(words & _code_words(bearer)) if asked.kind != LAW else 0,
        bearer.kind != asked.kind or _is_container(asked, bearer),
        keys.index(key) if key in keys else len(keys),
        bearer.number not in asked.readings,
        bearer.weight,
        not bearer.in_force(day),
    )


def _is_container(asked: Asked, bearer: Bearer) -> bool:
    """Tell whether a record whose number reads like a section's is headed "Division 1"."""
    number, plain = number_in_heading(bearer.heading)
    return asked.kind == "section" and number is not None and not plain


def stands_in(bearer: Bearer, part: Part) -> bool:
    """Tell whether a section stands in a container: by its path, its number or its code's title."""
    keys = container_keys(part.number)
    if any(_is_part(level, part.unit, keys) for level in (*bearer.path, bearer.heading)):
        return True
    own = number_key(bearer.number)
    if any(own.startswith(f"{key}.") for key in keys) and part.unit != "appendix":
        return True
    return part.unit == "title" and part.number in parse_citation(bearer.citation).words


def _is_part(level: str, unit: str, keys: Sequence[str]) -> bool:
    number, plain = number_in_heading(level)
    if number is None:
        return False
    word, _, rest = number.rpartition(" ")
    if plain or not word:  # "11-13 Overlay Districts" is chapter 13 of title 11
        return any(number_key(number).endswith(f".{key}") for key in keys) and unit == "chapter"
    return word == unit and bool(set(container_keys(rest)) & set(keys))


def _words(text: str) -> set[str]:
    plain = re.sub(r"\b((?:[A-Za-z]\.){2,})", lambda m: m.group().replace(".", ""), text)
    return {_stem(w) for w in re.findall(r"[a-z]{2,}", plain.casefold())} - _COMMON


def _stem(word: str) -> str:
    """Return a word without its plural, and "administrative" as codes shorten it."""
    word = "admin" if word.startswith("admin") else word
    word = "regulation" if word in ("reg", "regs") else word
    return word.removesuffix("s") if len(word) > 3 else word


def _code_words(bearer: Bearer) -> set[str]:
    """Return the words of the code's name: in the citation, and at the head of the path."""
    name = re.split(r"§|\bsec(?:tion)?\b", bearer.citation, maxsplit=1, flags=re.IGNORECASE)[0]
    return _words(name) | _words(bearer.path[0] if bearer.path else "")
