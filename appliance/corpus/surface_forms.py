"""The forms in which a text may name a thing, and where it does: what a scan for all mentions looks for.  Pure.

A form is a name with its stems: "hot tubs" is also "hot-tub" and "Hot Tub", and as one word
"hottub".  A pattern finds all that might be the form, the stems of what it found decide.
Other names of the thing come from the lay vocabulary, in both directions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from os.path import commonprefix
from typing import Literal

from appliance.corpus.lay import alike, other_names
from appliance.corpus.words import STOP, terms
from appliance.domain import Span

Why = Literal["asked", "also called", "defined term"]

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")
# Between two words of a name: spaces, hyphens, a line end; and words that do not count ("of the").
_SMALL = rf"(?:(?:{'|'.join(sorted(STOP))})[\s-]{{1,3}}){{0,3}}"
_APART = rf"[\s,/‐-―-]{{1,4}}{_SMALL}"
_ENDING = r"[^\W\d_]*"
_OWNER = r"(?:['\u2019][^\W_]+)?"
_SHORTEST_PREFIX = 3
MOST_WORDS = 8  # of one name: more are a sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One name in all its endings."""

    written: str
    why: Why
    stems: tuple[str, ...]
    pattern: re.Pattern[str] = field(
        repr=False, compare=False
    )  # finds every mention, and perhaps more

    def mentions(self, text: str) -> Iterator[Span]:
        """Yield where the text has the form, whatever its endings."""
        for match in self.pattern.finditer(text):
            if _stems(match.group()) == self.stems:
                yield Span(start=match.start(), end=match.end())


def forms_of(things: Iterable[str]) -> tuple[Form, ...]:
    """Return the forms of things as somebody names them, then of their other names, each once."""
    asked = list(things)
    others = [
        n for thing in asked for name in _numbers(thing) for n in (*other_names(name), *alike(name))
    ]
    return distinct(
        [f for thing in asked for f in named(thing, "asked")]
        + [f for name in others for f in named(name, "also called")]
    )


def named(name: str, why: Why) -> list[Form]:
    """Return the forms of one name: as it is, in its irregular plural, and as one word."""
    words = [w for w in _WORD.findall(name.casefold()) if w.replace("\u2019", "'") not in STOP]
    if not 0 < len(words) <= MOST_WORDS:
        return []
    variants = [words, *([*words[:-1], last] for last in _irregular(words[-1]))]
    if len(words) == 2 and all(w.isalpha() for w in words):
        variants.append(["".join(words)])
    return [form for variant in variants if (form := _form(variant, why))]


def distinct(forms: Iterable[Form]) -> tuple[Form, ...]:
    """Return the forms without those whose stems came before."""
    once: dict[tuple[str, ...], Form] = {}
    for form in forms:
        once.setdefault(form.stems, form)
    return tuple(once.values())


def sieve(forms: Sequence[Form]) -> str:
    """Return a POSIX pattern, to be used without regard to case, that every mention's first word meets."""
    firsts = sorted({_prefix(form.written.split()[0]) for form in forms})
    # "Been" begins like "bee", stands everywhere, and is in no name.
    small = sorted(w for w in STOP if w.startswith(tuple(firsts)))
    others = rf"(?!({'|'.join(small)})\M)" if small else ""
    return rf"\m{others}({'|'.join(firsts)})"


def _form(words: Sequence[str], why: Why) -> Form | None:
    stems = _stems(" ".join(words))
    if not stems:
        return None
    each = [_prefix(w) + (_ENDING if w.isalpha() else "") + _OWNER for w in words]
    pattern = re.compile(rf"(?<![^\W_]){_APART.join(each)}(?![^\W_])", re.IGNORECASE)
    return Form(written=" ".join(words), why=why, stems=stems, pattern=pattern)


def _stems(text: str) -> tuple[str, ...]:
    return tuple(terms(text.translate(_PLAIN)))


_PLAIN = dict.fromkeys(map(ord, "-‐‑‒–—―/,"), " ")


def _prefix(word: str) -> str:
    """Return the letters that every ending of a word has: of it and its stem the common ones."""
    stem = _stems(word)
    shared = commonprefix([word, stem[0] if stem else word])  # noqa: RUF071  (letters, not folders)
    return re.escape(shared if len(shared) >= _SHORTEST_PREFIX else word)


def _numbers(name: str) -> tuple[str, ...]:
    """Return a name with and without its plural: the vocabulary has either."""
    single = re.sub(r"(?<=[^\Ws])s$", "", name.strip())
    return (name, *dict.fromkeys(n for n in (single, f"{single}s") if n != name))


_IRREGULAR = (
    *(("lf", "lves"), ("rf", "rves"), ("af", "aves"), ("man", "men")),
    *(("knife", "knives"), ("wife", "wives")),
)


def _irregular(word: str) -> Iterator[str]:
    """Yield the plural or the singular of "shelf", "knife" and "workman", whose stems are two."""
    for one, many in _IRREGULAR:
        if word.endswith(one):
            yield word.removesuffix(one) + many
        elif word.endswith(many):
            yield word.removesuffix(many) + one
