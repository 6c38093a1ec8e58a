"""Proof: a citation exists only if code found its quote in the stored text.  Pure.

`prove` is the one place where a `Citation` is built.  A quote may differ from the
text only in ways that are listed in `_plain`: kinds of quotation marks and dashes,
soft hyphens, and white space; each is undone by a map back to the original offsets,
so that what is shown is the stored text itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from appliance.corpus.references import names_a_code, parse_citation, same_code
from appliance.domain import Citation, Leg, Passage, Span, StoredSection, Verdict

# "At least a few words": shorter quotes occur everywhere and prove nothing.
FEWEST_WORDS = 3
FEWEST_CHARACTERS = 12

_ALIKE = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4`", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
}
_INVISIBLE = frozenset("\u00ad\u200b\u200c\u200d\u2060\ufeff")
_WORDS = re.compile(r"\w+")


def _plain(text: str) -> tuple[str, list[int]]:
    """Return the text with like characters made one, and the original offset of each character."""
    out: list[str] = []
    offsets: list[int] = []
    for i, c in enumerate(text):
        if c in _INVISIBLE:
            continue
        if c.isspace():
            if out and out[-1] == " ":
                continue
            c = " "
        out.append(_ALIKE.get(c, c))
        offsets.append(i)
    return "".join(out), offsets


@lru_cache(maxsize=256)
def _plain_cached(text: str) -> tuple[str, list[int]]:
    return _plain(text)


def locate(quote: str, text: str) -> Span | None:
    """Return where `quote` stands in `text`, exactly but for `_plain`; None if it does not.

    It must begin and end where words do, and its first letter may be a capital that the
    sentence around the quote gave it.
    """
    wanted = _plain(quote)[0].strip()
    if not wanted:
        return None
    hay, offsets = _plain_cached(text)
    for form in _forms(wanted):
        at = hay.find(form)
        while at >= 0:
            if _whole_words(hay, at, at + len(form)):
                return Span(start=offsets[at], end=offsets[at + len(form) - 1] + 1)
            at = hay.find(form, at + 1)
    return None


def _forms(wanted: str) -> Iterable[str]:
    yield wanted
    # A quote in a sentence often brings that sentence's full stop or comma along.
    trimmed = wanted.rstrip(".,;: ")
    if trimmed and trimmed != wanted:
        yield trimmed
    for form in (wanted, trimmed):
        if form and form[0].isalpha():
            yield form[0].swapcase() + form[1:]


def _whole_words(text: str, start: int, end: int) -> bool:
    before = start == 0 or not (text[start - 1].isalnum() and text[start].isalnum())
    after = end == len(text) or not (text[end - 1].isalnum() and text[end].isalnum())
    return before and after


def long_enough(quote: str) -> bool:
    """Tell whether a quote has enough words to prove anything."""
    return len(_WORDS.findall(quote)) >= FEWEST_WORDS and len(quote.strip()) >= FEWEST_CHARACTERS


def prove(
    section: StoredSection,
    quote: str | Span,
    *,
    as_of: date,
    retrieved: Sequence[Passage] | None,
    legs: tuple[Leg, ...] = (),
) -> Citation | Verdict:
    """Return the proven citation, or what is wrong with it.

    Checked in order: in force on the date; among the passages that were retrieved (None: not asked);
    the quote long enough; the quote an exact span of the section's stored text.
    """
    if not section.in_force(as_of):
        return Verdict.REPEALED
    if retrieved is not None and all(p.section.id != section.id for p in retrieved):
        return Verdict.UNRETRIEVED
    if isinstance(quote, Span):
        span: Span | None = quote
    else:
        if not long_enough(quote):
            return Verdict.UNSUPPORTED
        span = locate(quote, section.text)
    if span is None or span.end > len(section.text) or not len(span):
        return Verdict.MISQUOTED
    return Citation(section=section, span=span, quote=span.of(section.text), legs=legs)


# ------------------------------------------------------------------ a person's citation


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The verdict on a citation that somebody wrote down, and the record it is about."""

    verdict: Verdict
    section: StoredSection | None = None


def quotes_in(claim: str) -> list[list[str]]:
    """Return the ways to read the double quotes of a claim, the likeliest first.

    Law text holds quotation marks itself, so "from the first mark to the last" is one reading and
    "every pair is a quote of its own" the other.
    """
    marks = [i for i, c in enumerate(_straight(claim)) if c == '"']
    if len(marks) < 2:
        return []
    whole = [claim[marks[0] + 1 : marks[-1]]]
    pairs = [claim[a + 1 : b] for a, b in zip(marks[::2], marks[1::2], strict=False)]
    return [pairs, whole] if len(marks) > 2 else [whole]


def _straight(text: str) -> str:
    return "".join(_ALIKE.get(c, c) if _ALIKE.get(c) == '"' else c for c in text)


def judge(
    citation: str,
    claim: str,
    *,
    place: Iterable[str],
    here: Sequence[StoredSection],
    elsewhere: Sequence[StoredSection],
    as_of: date,
) -> Judgement:
    """Judge a citation as a person writes it, with a claim that may quote the text.

    `here` are the sections of the city, `elsewhere` those of other cities, that bear the number;
    `place` are the words of the city's name.  Where several records bear it, one that holds the
    quote is enough.
    """
    asked = parse_citation(citation).words
    words = tuple(place)
    own = [s for s in here if same_code(asked, parse_citation(s.citation).words, words)]
    other = [s for s in elsewhere if same_code(asked, parse_citation(s.citation).words, _place(s))]
    names_other = not own and names_a_code(asked) and bool(other)
    readings = [r for r in quotes_in(claim) if any(long_enough(q) for q in r)]
    if names_other:
        return Judgement(verdict=Verdict.WRONG_CITY, section=other[0])
    candidates = own or list(here)
    if not readings:
        return _without_quote(candidates, elsewhere, as_of)
    holder = _holder(candidates, readings, as_of)
    if holder is not None:
        standing = Verdict.PROVEN if holder.in_force(as_of) else Verdict.REPEALED
        return Judgement(verdict=standing, section=holder)
    if stranger := _holder(elsewhere, readings, as_of):
        return Judgement(verdict=Verdict.WRONG_CITY, section=stranger)
    if not candidates:
        return Judgement(verdict=Verdict.PHANTOM)
    alive = [s for s in candidates if s.in_force(as_of)]
    if not alive:
        return Judgement(verdict=Verdict.REPEALED, section=candidates[0])
    return Judgement(verdict=Verdict.MISQUOTED, section=alive[0])


def _without_quote(
    candidates: Sequence[StoredSection], elsewhere: Sequence[StoredSection], as_of: date
) -> Judgement:
    if candidates:
        alive = [s for s in candidates if s.in_force(as_of)]
        if not alive:
            return Judgement(verdict=Verdict.REPEALED, section=candidates[0])
        return Judgement(verdict=Verdict.UNSUPPORTED, section=alive[0])
    if elsewhere:
        return Judgement(verdict=Verdict.WRONG_CITY, section=elsewhere[0])
    return Judgement(verdict=Verdict.PHANTOM)


def _holder(
    sections: Sequence[StoredSection], readings: Sequence[Sequence[str]], as_of: date
) -> StoredSection | None:
    """Return a section that holds all quotes of one reading, one in force before another."""
    holders = [s for s in sections if any(_holds(s, quotes) for quotes in readings)]
    return next((s for s in holders if s.in_force(as_of)), holders[0] if holders else None)


def _holds(section: StoredSection, quotes: Sequence[str]) -> bool:
    long = [q for q in quotes if long_enough(q)]
    return bool(long) and all(locate(q, section.text) for q in long)


def _place(section: StoredSection) -> tuple[str, ...]:
    return tuple(section.city.split("-"))
