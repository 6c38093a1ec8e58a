"""Proof: a citation exists only if code found its quote in the stored text.  Pure.

`prove` is the one place where a `Citation` is built.  A quote may differ from the
text only in ways that are listed in `_plain`: kinds of quotation marks and dashes,
soft hyphens, and white space; each is undone by a map back to the original offsets,
so that what is shown is the stored text itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
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
# Two characters before a place and two after it (a line end between them) that make one word or one
# number: "a|b", "non-|conforming", "owner|'s", "1|,000", "2.|5", "3|/4", "e|\u0301".
_LETTER = r"[^\W_]"
_HYPHEN = "[-\u2010\u2011'\u2019]"
_JOINT = "[.,:/\u2010-\u2013\u2212-]"
_JOINED = re.compile(
    rf"{_LETTER}\n{_LETTER}|{_LETTER}{_HYPHEN}\n{_LETTER}|{_LETTER}\n{_HYPHEN}{_LETTER}"
    rf"|\d{_JOINT}\n\d|\d\n{_JOINT}\d|\n[\u0300-\u036f]"
)


def _plain(text: str) -> tuple[str, list[int]]:
    """Return the text with like characters made one, and the original offset of each character."""
    out: list[str] = []
    offsets: list[int] = []
    for i, c in enumerate(text):
        plain = " " if c.isspace() else _ALIKE.get(c, c)
        if c in _INVISIBLE or (plain == " " and out and out[-1] == " "):
            continue
        out.append(plain)
        offsets.append(i)
    return "".join(out), offsets


@lru_cache(maxsize=256)
def _plain_cached(text: str) -> tuple[str, list[int]]:
    return _plain(text)


def locate(quote: str, text: str) -> Span | None:
    """Return where `quote` stands in `text`, exactly but for `_plain`; None if it does not.

    It must begin and end where words and numbers do ("2 feet" is not in "1.2 feet", nor "conforming"
    in "non-conforming"), and its first letter may be a capital that the sentence around it gave it.
    """
    wanted = _plain(quote)[0].strip()
    if not wanted:
        return None
    hay, offsets = _plain_cached(text)
    for form in _forms(wanted):
        for at in _finds(form, hay):
            start, end = offsets[at], offsets[at + len(form) - 1] + 1
            if not _in_word(text, start) and not _in_word(text, end):
                return Span(start=start, end=end)
    return None


def _finds(form: str, hay: str) -> Iterator[int]:
    at = hay.find(form)
    while at >= 0:
        yield at
        at = hay.find(form, at + 1)


def _forms(wanted: str) -> Iterable[str]:
    yield wanted
    # A quote in a sentence often brings that sentence's full stop or comma along.
    trimmed = wanted.rstrip(".,;: ")
    if trimmed and trimmed != wanted:
        yield trimmed
    for form in (wanted, trimmed):
        if form and form[0].isalpha():
            yield form[0].swapcase() + form[1:]


def _in_word(text: str, at: int) -> bool:
    """Tell whether the offset stands inside a word or a number of the stored text."""
    left, right = text[max(0, at - 8) : at], text[at : at + 8]
    left = "".join(c for c in left if c not in _INVISIBLE)
    right = "".join(c for c in right if c not in _INVISIBLE)
    return _JOINED.search(f"{left[-2:]}\n{right[:2]}") is not None


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
    leads: tuple[Span, ...] = (),
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
    return Citation(section=section, span=span, quote=span.of(section.text), legs=legs, leads=leads)


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
    if not own and other and names_a_code(asked):
        return Judgement(verdict=Verdict.WRONG_CITY, section=other[0])
    candidates = own or list(here)
    readings = [r for r in quotes_in(claim) if any(long_enough(q) for q in r)]
    if holder := _holder(candidates, readings, as_of):
        standing = Verdict.PROVEN if holder.in_force(as_of) else Verdict.REPEALED
        return Judgement(verdict=standing, section=holder)
    stranger = _holder(elsewhere, readings, as_of) if readings else next(iter(elsewhere), None)
    if stranger and (readings or not candidates):
        return Judgement(verdict=Verdict.WRONG_CITY, section=stranger)
    return _unproven(candidates, as_of, Verdict.MISQUOTED if readings else Verdict.UNSUPPORTED)


def _unproven(candidates: Sequence[StoredSection], as_of: date, verdict: Verdict) -> Judgement:
    """Return the judgement on a claim that nothing holds: `verdict` if a section is in force."""
    if not candidates:
        return Judgement(verdict=Verdict.PHANTOM)
    alive = next((s for s in candidates if s.in_force(as_of)), None)
    if alive is None:
        return Judgement(verdict=Verdict.REPEALED, section=candidates[0])
    return Judgement(verdict=verdict, section=alive)


def _holder(
    sections: Sequence[StoredSection], readings: Sequence[Sequence[str]], as_of: date
) -> StoredSection | None:
    """Return a section that holds all quotes of one reading, one in force before another."""
    holders = [s for s in sections if any(_holds(s, quotes) for quotes in readings)]
    return next((s for s in holders if s.in_force(as_of)), holders[0] if holders else None)


def _holds(section: StoredSection, quotes: Sequence[str]) -> bool:
    """Tell whether the text holds every quote; short ones prove nothing, but can be false."""
    written = [q for q in quotes if q.strip()]
    return any(long_enough(q) for q in written) and all(locate(q, section.text) for q in written)


def _place(section: StoredSection) -> tuple[str, ...]:
    return tuple(section.city.split("-"))
