"""The same words in several places of a code: one candidate that lists the others.  Pure.

Codes repeat themselves: a paragraph on penalties under forty ids, one standard in
each of six districts.  Ten such candidates are one answer and push nine others away.

Two texts are the same if nothing but case, spaces, and the shape of quotes and
dashes is different, or if the Jaccard index of their shingles of five words is at
least .9 (Broder, On the Resemblance and Containment of Documents, 1997) and what
decides a case agrees word for word: every number, every "not" and "unless", every
letter of a class.  A fee of $50 and a fee of $60 are two answers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeVar

from appliance.corpus.number_words import TENS, UNITS

SHINGLE = 5  # words
RESEMBLANCE = 0.9

T = TypeVar("T")
Words = tuple[str, ...]

# Quotes and dashes only part words: their shapes do not count.
_WORD = re.compile(r"[a-z]+|\d+(?:[.,]\d+)*|[½¼¾⅓⅔⅛$%§°]")
# Words that are a number, turn a rule round, set its bound, or name the yard, the time or the unit that
# it is about.
_DECISIVE = frozenset(
    (
        *UNITS,
        *TENS,
        *("hundred", "thousand", "million", "half", "third", "quarter", "once", "twice", "double"),
        *("first", "second", "fourth", "fifth", "inch", "inches", "foot", "feet", "yard", "yards"),
        *("mile", "miles", "square", "acre", "acres", "day", "days", "week", "weeks", "month"),
        *("months", "year", "years", "hour", "hours", "minute", "minutes", "percent", "dollars"),
        *("not", "no", "nor", "neither", "never", "none", "except", "unless", "without", "only"),
        *("if", "or", "and", "all", "any", "each", "every", "either", "both", "may", "must"),
        *("shall", "should", "will", "cannot", "can", "prohibited", "permitted", "allowed"),
        *("required", "exempt", "excluding", "including", "minimum", "maximum", "least", "most"),
        *("more", "less", "than", "greater", "over", "under", "above", "below", "within"),
        *("before", "after", "until", "front", "rear", "side", "corner", "interior", "exterior"),
        *("north", "south", "east", "west", "upper", "lower"),
    )
)
_ROMAN = re.compile(r"[ivxlc]+")


def collapsed(items: Sequence[T], words_of: Callable[[T], str]) -> list[tuple[T, tuple[T, ...]]]:
    """Return the items whose words no earlier one has, each with the later ones that repeat it.

    `words_of` gives what is compared: a chunk's text and the titles over it.  The order stays, and
    every item occurs once.  Items of different cities must not be put in together.
    """
    groups: list[tuple[T, list[T]]] = []
    exact: dict[Words, int] = {}
    # Only texts that agree in what decides can be near duplicates.
    rivals: dict[Words, _Resemblances] = {}
    for item in items:
        words = _words(words_of(item))
        at = exact.get(words) if words else None
        if at is None and words:
            of_kind = rivals.setdefault(tuple(filter(_decides, words)), _Resemblances())
            at = of_kind.nearest(words, len(groups))
            exact[words] = len(groups) if at is None else at
        if at is None:
            groups.append((item, []))
        else:
            groups[at][1].append(item)
    return [(first, tuple(others)) for first, others in groups]


def same(one: str, other: str) -> bool:
    """Tell whether two texts are duplicates, exact or near."""
    return len(collapsed((one, other), str)) == 1


class _Resemblances:
    """Texts by their shingles; shingles are made from the second text on, as most have no rival."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Words, int]] = []
        self._sizes: dict[int, int] = {}
        self._having: dict[Words, list[int]] = {}

    def nearest(self, words: Words, number: int) -> int | None:
        """Return the first text that resembles this one, else None and keep it under `number`."""
        if not self._sizes and not self._waiting:
            self._waiting.append((words, number))
            return None
        for first, at in self._waiting:
            self._keep(shingles(first), at)
        self._waiting.clear()
        own = shingles(words)
        shared = Counter(at for shingle in own for at in self._having.get(shingle, ()))
        for at in sorted(shared):
            if shared[at] >= RESEMBLANCE * (len(own) + self._sizes[at] - shared[at]):
                return at
        self._keep(own, number)
        return None

    def _keep(self, own: frozenset[Words], number: int) -> None:
        self._sizes[number] = len(own)
        for shingle in own:
            self._having.setdefault(shingle, []).append(number)


def shingles(words: Words) -> frozenset[Words]:
    """Return the runs of five words of a text; a shorter text is one run."""
    if len(words) < SHINGLE:
        return frozenset([words])
    return frozenset(zip(*(words[i:] for i in range(SHINGLE)), strict=False))


def _words(text: str) -> Words:
    return tuple(_WORD.findall(text.casefold()))


@lru_cache(maxsize=20_000)
def _decides(word: str) -> bool:
    return (
        word in _DECISIVE
        or not word[0].isalpha()
        or (len(word) == 1 and word != "a")
        or _ROMAN.fullmatch(word) is not None
    )
