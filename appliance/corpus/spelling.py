"""Words of a question that are misspelt: found by what the city's text lacks, and read as what it has.

Pure, in steps, as the frequencies are the store's: ask for those of `looked_up`,
hand them to `doubtful`, ask for those of `near_terms`, hand them to `respelled`.
Most questions need only the first.

A word is doubtful if the city's text does not have its term, no lay term stands for
it, and it is no ordinary word of English: "gravel" in a code without gravel is not
"travel".  It is read as one that is one edit away: a letter left out, added, changed,
or swapped with the next (Damerau, A Technique for Computer Detection and Correction
of Spelling Errors, 1964: 80 % of misspellings are one such edit).  Of several, the
likeliest by a noisy channel counts (Kernighan, Church and Gale, A Spelling Correction
Program Based on a Noisy Channel Model, 1990): how many chunks hold the word, times how
likely its writer slips so.  The first letter is taken to be right (Yannakoudakis and
Fawthrop, The Rules of Spelling Errors, 1983: it is wrong in about one of fifty).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_lowercase

from appliance.corpus.lay import is_lay
from appliance.corpus.words import terms

SHORTEST = 5  # letters; nearly every shorter word is one edit from another
# Chunks that must hold what a word is read as: a word that a code has once is often a slip of its own.
FEWEST = 2
# A word by itself: not a part of a number, a district or a compound.
_WORD = re.compile(r"(?<![\w'’.§/-])[A-Za-z][a-z]{4,39}(?![\w'’/-]|\.\w)")
_BEGINS_SENTENCE = re.compile(r"(?:\A|[.?!:;]['\"”’)]?\s+|\n)['\"“‘(]?\Z")
# Regular forms of an ordinary word are ordinary: "quits", "helpers", "rentable", "redone".
_ENDINGS = ("s", "es", "ed", "d", "ing", "ings", "er", "ers", "or", "ors", "r", "rs", "able", "ly")
_BEGINNINGS = ("re", "un", "non", "pre", "over", "out")
_BASE = 4  # letters of the word without them
# How likely a slip is, if all four kinds are as frequent: there is one way to leave a given letter out,
# to double it, or to swap it with the next, and 25 ways to write another one.
_LIKELY, _UNLIKELY = 1.0, 1 / 25
# How much more likely an ordinary word is meant than some form that only shares its stem.
_ORDINARY = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """A word as it was written, and what it was read as."""

    written: str
    read: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Respelled:
    """A question with its misspelt words put right: for the search only, never shown as asked."""

    text: str
    corrections: tuple[Correction, ...]


def looked_up(question: str) -> list[str]:
    """Return the terms whose frequency in the city decides which words are doubtful."""
    return list(dict.fromkeys(t for w in _words(question) for t in terms(w)))


def doubtful(
    question: str, frequency: Mapping[str, int], ordinary: Callable[[str], bool]
) -> tuple[str, ...]:
    """Return the words that may be misspelt, lower case, each once, in order.

    `frequency` is of the terms of `looked_up`; `ordinary` tells of a lower-case word whether it is
    one of English.
    """
    return tuple(
        dict.fromkeys(
            word
            for word in map(str.lower, _words(question))
            if not any(frequency.get(t) for t in terms(word))
            and not is_lay(word)
            and not _formed(word, ordinary)
        )
    )


def _formed(word: str, ordinary: Callable[[str], bool]) -> bool:
    """Tell whether a word is an ordinary one or a regular form of one."""
    return any(ordinary(base) for base in (word, *_bases(word)))


def _bases(word: str) -> Iterator[str]:
    for end in _ENDINGS:
        if word.endswith(end) and len(word) - len(end) >= _BASE:
            yield word[: -len(end)]
            yield word[: -len(end)] + "e"
    for begin in _BEGINNINGS:
        if word.startswith(begin) and len(word) - len(begin) >= _BASE:
            yield word[len(begin) :]


def near_terms(words: Iterable[str]) -> list[str]:
    """Return the terms that the words may be misspellings of; about 50 a letter."""
    return list(dict.fromkeys(t for w in words for near, _ in _near(w) for t in terms(near)))


def respelled(
    question: str,
    words: Sequence[str],
    frequency: Mapping[str, int],
    ordinary: Callable[[str], bool],
) -> Respelled:
    """Return the question with each of the doubtful words read as the likeliest one near it.

    `frequency` is of the terms of `near_terms`.  A word with none near it stays.
    """
    read = {w: best for w in words if (best := _likeliest(w, frequency, ordinary)) is not None}
    corrections = tuple(Correction(written=w, read=r) for w, r in read.items())
    text = _WORD.sub(lambda m: read.get(m.group().lower(), m.group()), question)
    return Respelled(text=text, corrections=corrections)


def _likeliest(
    word: str, frequency: Mapping[str, int], ordinary: Callable[[str], bool]
) -> str | None:
    weights: dict[str, float] = {}
    for near, likely in _near(word):
        chunks = min((frequency.get(t, 0) for t in terms(near)), default=0)
        if chunks >= FEWEST:
            weight = chunks * likely * (_ORDINARY if ordinary(near) else 1.0)
            weights[near] = max(weight, weights.get(near, 0.0))
    return max(weights, key=weights.__getitem__, default=None)


def _words(question: str) -> Iterator[str]:
    """Yield the words that can be misspelt: long enough, and no names."""
    for match in _WORD.finditer(question):
        word = match.group()
        if word.islower() or _BEGINS_SENTENCE.search(question, 0, match.start()):
            yield word


def _near(word: str) -> Iterator[tuple[str, float]]:
    """Yield what is one edit away and has the same first letter, and how likely the slip is."""
    for at in range(1, len(word) + 1):
        before, after = word[:at], word[at:]
        if after:
            yield before + after[1:], _LIKELY if after[0] == before[-1] else _UNLIKELY
        if len(after) > 1 and after[0] != after[1]:
            yield before + after[1] + after[0] + after[2:], _LIKELY
        for letter in ascii_lowercase:
            yield before + letter + after, _LIKELY
            if after and letter != after[0]:
                yield before + letter + after[1:], _UNLIKELY
