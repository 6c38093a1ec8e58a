"""Proof: a citation exists only if code found its quote in the stored text.  Pure.

`prove` is the one place where a `Citation` is built.  A quote may differ from the
text only in ways that are listed in `_plain`: kinds of quotation marks and dashes,
soft hyphens, and white space; each is undone by a map back to the original offsets,
so that what is shown is the stored text itself.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from appliance.corpus.references import names_a_code, parse_citation, same_code
from appliance.domain import (
    Citation,
    CityId,
    Leg,
    Passage,
    Span,
    Standing,
    StoredSection,
    Verdict,
)

# "At least a few words": shorter quotes occur everywhere and prove nothing.
FEWEST_WORDS = 3
FEWEST_CHARACTERS = 12

_ALIKE = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4`", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
}
INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_SPACE = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006"
    "\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
# One character for one, so that offsets stay; runs of white space and what is invisible go after it.
_TO_PLAIN = {**_ALIKE, **dict.fromkeys(_SPACE, " "), **dict.fromkeys(INVISIBLE, "\u00ad")}
# Few characters of a text are such: to look for them is five times as fast as to translate all.
_UNLIKE = re.compile(f"[{''.join(c for c in _TO_PLAIN if c not in ' ' + chr(0xAD))}]")
_RUN = re.compile("(?:\u00ad| (?=[ \u00ad]))[ \u00ad]*")
_WORDS = re.compile(r"\w+")
# Two characters before a place and two after it (a line end between them) that make one word or one
# number: "a|b", "non-|conforming", "owner|'s", "1|,000", "2.|5", "3|/4", "e|\u0301", "$|5", "50|%".
_LETTER = r"[^\W_]"
_HYPHEN = "[-\u2010\u2011'\u2019]"
_JOINT = "[.,:/\u2010-\u2013\u2212-]"
_JOINED = re.compile(
    rf"{_LETTER}\n{_LETTER}|{_LETTER}{_HYPHEN}\n{_LETTER}|{_LETTER}\n{_HYPHEN}{_LETTER}"
    rf"|\d{_JOINT}\n\d|\d\n{_JOINT}\d|\n[\u0300-\u036f]|\$\n\d|\d\n%"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plain:
    """A text with like characters made one, and the way back to the original's offsets."""

    text: str
    cuts: list[int]  # offsets in `text` from which on, ascending, …
    shifts: list[int]  # … the original is so many characters ahead

    def original(self, at: int) -> int:
        """Return the original offset of a character of `text`."""
        place = bisect_right(self.cuts, at)
        return at + self.shifts[place - 1] if place else at


def _plain(text: str) -> _Plain:
    """Even a text out: a run of white space is one blank, what is invisible is nothing."""
    alike = _UNLIKE.sub(lambda found: _TO_PLAIN[found[0]], text)
    parts, cuts, shifts = [], [], []
    done = length = 0
    for run in _RUN.finditer(alike):
        parts.append(alike[done : run.start()])
        length += run.start() - done
        blank = run[0].find(" ")
        if blank >= 0:
            parts.append(" ")
            cuts.append(length)
            shifts.append(run.start() + blank - length)
            length += 1
        cuts.append(length)
        shifts.append(run.end() - length)
        done = run.end()
    parts.append(alike[done:])
    return _Plain(text="".join(parts), cuts=cuts, shifts=shifts)


@lru_cache(maxsize=64)
def _plain_cached(text: str) -> _Plain:
    return _plain(text)


def locate(quote: str, text: str) -> Span | None:
    """Return where `quote` stands in `text`, exactly but for `_plain`; None if it does not.

    It must begin and end where words and numbers do ("2 feet" is not in "1.2 feet", nor "conforming"
    in "non-conforming"), and its first letter may be a capital that the sentence around it gave it.
    """
    hay = _plain_cached(text)
    for form in _forms(quote):
        for at in _finds(form, hay.text):
            end = at + len(form)
            if not _in_word(text, hay, at) and not _in_word(text, hay, end):
                return Span(start=hay.original(at), end=hay.original(end - 1) + 1)
    return None


def _finds(form: str, hay: str) -> Iterator[int]:
    at = hay.find(form)
    while at >= 0:
        yield at
        at = hay.find(form, at + 1)


@lru_cache(maxsize=64)
def _forms(quote: str) -> tuple[str, ...]:
    """Return the forms, made plain, in which a quote may stand in a text; none of one without words."""
    wanted = _plain(quote).text.strip()
    # A quote in a sentence often brings that sentence's full stop or comma along.
    forms = [form for form in dict.fromkeys((wanted, wanted.rstrip(".,;: "))) if form]
    turned = [form[0].swapcase() + form[1:] for form in forms if form[0].isalpha()]
    return (*forms, *turned)


def _in_word(text: str, hay: _Plain, at: int) -> bool:
    """Tell whether the place stands inside a word or a number of the stored text.

    It is the stored characters that say so: an em dash parts words, a hyphen joins them.
    """
    near = range(max(0, at - 2), min(len(hay.text), at + 2))
    written = [text[hay.original(i)] for i in near]
    before = at - near.start
    return _JOINED.search("".join([*written[:before], "\n", *written[before:]])) is not None


def long_enough(quote: str) -> bool:
    """Tell whether a quote has enough words to prove anything."""
    return len(_WORDS.findall(quote)) >= FEWEST_WORDS and len(quote.strip()) >= FEWEST_CHARACTERS


def out_of_force(section: StoredSection, day: date) -> Verdict | None:
    """Return why a section does not apply on a day; None if it does."""
    if section.in_force(day):
        return None
    later = section.effective_from is not None and section.effective_from > day
    return (
        Verdict.NOT_YET_IN_FORCE
        if later and section.standing is Standing.IN_FORCE
        else Verdict.REPEALED
    )


def prove(
    section: StoredSection,
    quote: str | Span,
    *,
    as_of: date,
    retrieved: Sequence[Passage] | None,
    city: CityId | None = None,
    legs: tuple[Leg, ...] = (),
    leads: tuple[Span, ...] = (),
) -> Citation | Verdict:
    """Return the proven citation, or what is wrong with it.

    Checked in order: of the city (None: not asked); in force on the date; among the passages that
    were retrieved (None: not asked); the quote long enough; the quote an exact span of the section's
    stored text.  A quote that another retrieved section holds (`holder` says which) has the wrong one.
    """
    if city is not None and section.city != city:
        return Verdict.WRONG_CITY
    if (dead := out_of_force(section, as_of)) is not None:
        return dead
    if retrieved is not None and all(p.section.id != section.id for p in retrieved):
        return Verdict.UNRETRIEVED
    span = quote if isinstance(quote, Span) else _quoted(section, quote, retrieved or (), as_of)
    if isinstance(span, Verdict):
        return span
    if span.end > len(section.text) or not len(span):
        return Verdict.MISQUOTED
    return Citation(section=section, span=span, quote=span.of(section.text), legs=legs, leads=leads)


def _quoted(
    section: StoredSection, quote: str, retrieved: Sequence[Passage], day: date
) -> Span | Verdict:
    """Return where the section holds the quote, or what is wrong with it."""
    if not long_enough(quote):
        return Verdict.UNSUPPORTED
    if (span := locate(quote, section.text)) is not None:
        return span
    if holder(quote, (p.section for p in retrieved), day) is not None:
        return Verdict.WRONG_SECTION
    return Verdict.MISQUOTED


def holder(quote: str, sections: Iterable[StoredSection], day: date) -> StoredSection | None:
    """Return the first of the sections in force that holds the quote."""
    return next((s for s in sections if s.in_force(day) and locate(quote, s.text)), None)


# ------------------------------------------------------------------ a person's citation


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The verdict on a citation that somebody wrote down, and the record it is about.

    Of a quote that stands elsewhere that is the record which holds it.
    """

    verdict: Verdict
    section: StoredSection | None = None
    why: str | None = None  # one phrase for people; None if it is proven


def quotes_in(claim: str) -> list[list[str]]:
    """Return the ways to read the double quotes of a claim, the likeliest first.

    Law text holds quotation marks itself, so "from the first mark to the last" is one reading and
    "every pair is a quote of its own" the other.  That one needs marks that open and close in turn:
    else the words between two pairs would escape the check.
    """
    marks = _marks(claim)
    if len(marks) < 2:
        return []
    whole = [claim[marks[0] + 1 : marks[-1]]]
    pairs = list(zip(marks[::2], marks[1::2], strict=False))
    in_turn = len(marks) % 2 == 0 and all(_opens(claim, a) and _closes(claim, b) for a, b in pairs)
    if len(marks) == 2 or not in_turn:
        return [whole]
    return [[claim[a + 1 : b] for a, b in pairs], whole]


def _marks(claim: str) -> list[int]:
    """Return where the quotation marks stand; one too many that is first, on a digit, is of inches."""
    marks = [i for i, c in enumerate(_straight(claim)) if c == '"']
    if len(marks) % 2 and claim[marks[0] - 1 : marks[0]].isdigit():
        return marks[1:]
    return marks


def _opens(claim: str, at: int) -> bool:
    return claim[at] not in "\u201d\u00bb" and (at == 0 or not claim[at - 1].isalnum())


def _closes(claim: str, at: int) -> bool:
    return claim[at] not in "\u201c\u201e\u00ab" and not claim[at + 1 : at + 2].isalnum()


def _straight(text: str) -> str:
    return text.translate(_STRAIGHT)


_STRAIGHT = str.maketrans({mark: alike for mark, alike in _ALIKE.items() if alike == '"'})


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """A citation as a person writes it, with its claim, read for a city."""

    asked: tuple[str, ...]  # words of the code's name
    place: tuple[str, ...]  # words of the city's name
    readings: tuple[tuple[str, ...], ...]  # ways to read the quotes of the claim

    @property
    def quote(self) -> str | None:
        """Return the longest quote of the likeliest reading."""
        return max(self.readings[0], key=len) if self.readings else None


def read_writing(citation: str, claim: str, place: Iterable[str]) -> Writing:
    """Read a citation and a claim; only readings with a quote that could prove something are kept."""
    return Writing(
        asked=_code_words(citation),
        place=tuple(place),
        readings=tuple(
            tuple(r) for r in quotes_in(claim) if any(long_enough(quote) for quote in r)
        ),
    )


def judge_here(writing: Writing, here: Sequence[StoredSection], *, as_of: date) -> Judgement | None:
    """Judge by the sections of the code that is named alone; None: one must look further."""
    holding = _holder(of_the_code(writing, here), writing.readings, as_of)
    return None if holding is None else _held(holding, as_of)


def judge(
    citation: str,
    claim: str,
    *,
    place: Iterable[str],
    here: Sequence[StoredSection],
    elsewhere: Sequence[StoredSection],
    as_of: date,
    others: Sequence[StoredSection] = (),
    foreign: bool = False,
) -> Judgement:
    """Judge a citation as a person writes it, with a claim that may quote the text.

    `here` are the sections of the city, `elsewhere` those of other cities, that bear the number;
    `others` are sections of the city that may hold the quote, whatever their number; `place` are the
    words of the city's name; `foreign`: the citation names another city.  Where several records bear
    the number, one that holds the quote is enough.
    """
    return judge_writing(
        read_writing(citation, claim, place),
        here=here,
        elsewhere=elsewhere,
        others=others,
        foreign=foreign,
        as_of=as_of,
    )


def judge_writing(
    writing: Writing,
    *,
    here: Sequence[StoredSection],
    elsewhere: Sequence[StoredSection],
    as_of: date,
    others: Sequence[StoredSection] = (),
    foreign: bool = False,
) -> Judgement:
    """Judge a citation that was read, as `judge` does."""
    if found := judge_here(writing, here, as_of=as_of):
        return found
    own = of_the_code(writing, here)
    if not own and names_a_code(writing.asked):
        named = [s for s in elsewhere if _same_code(writing.asked, s, _place(s))]
        if named or foreign:
            return _of_another_city(next(iter(named), None))
    candidates = own or list(here)
    if holding := _holder(candidates, writing.readings, as_of):
        return _held(holding, as_of)
    return _elsewhere(writing, candidates, elsewhere, others, as_of) or _unproven(
        candidates, as_of, quoted=bool(writing.readings)
    )


def of_the_code(writing: Writing, here: Sequence[StoredSection]) -> list[StoredSection]:
    """Return the sections of the code that the citation names, all if it names none."""
    return [s for s in here if _same_code(writing.asked, s, writing.place)]


def _same_code(asked: tuple[str, ...], section: StoredSection, place: tuple[str, ...]) -> bool:
    return same_code(asked, _code_words(section.citation), place)


@lru_cache(maxsize=4096)
def _code_words(citation: str) -> tuple[str, ...]:
    return parse_citation(citation).words


def _elsewhere(
    writing: Writing,
    candidates: Sequence[StoredSection],
    elsewhere: Sequence[StoredSection],
    others: Sequence[StoredSection],
    day: date,
) -> Judgement | None:
    """Judge a quote that the cited section does not hold by what does: this city's text, another's."""
    inner = _holder([s for s in others if s.in_force(day)], writing.readings, day)
    if inner and candidates:
        why = f"the quote stands in {inner.citation}, not in {candidates[0].citation}"
        return Judgement(verdict=Verdict.WRONG_SECTION, section=inner, why=why)
    stranger = _holder(elsewhere, writing.readings, day)
    if not writing.readings and not candidates:
        stranger = next(iter(elsewhere), None)
    if stranger:
        return _of_another_city(stranger)
    if inner:
        why = f"the city's code has no such section; the quote stands in {inner.citation}"
        return Judgement(verdict=Verdict.PHANTOM, why=why)
    return None


def _of_another_city(section: StoredSection | None) -> Judgement:
    whose = f"it is of {section.city}" if section else "it names the code of another city"
    return Judgement(verdict=Verdict.WRONG_CITY, section=section, why=whose)


def _held(section: StoredSection, day: date) -> Judgement:
    """Return the judgement on a claim whose quotes a section holds."""
    dead = out_of_force(section, day)
    if dead is None:
        return Judgement(verdict=Verdict.PROVEN, section=section)
    why = f"only a text that is {_when(section, day)} holds the quote"
    return Judgement(verdict=dead, section=section, why=why)


def _when(section: StoredSection, day: date) -> str:
    """Say in a few words why a section does not apply on a day."""
    if section.standing is not Standing.IN_FORCE:
        return section.standing.value.replace("_", " ")
    if section.effective_from is not None and section.effective_from > day:
        return f"in force from {section.effective_from}"
    return f"in force until {section.effective_until}"


def _unproven(candidates: Sequence[StoredSection], as_of: date, *, quoted: bool) -> Judgement:
    """Return the judgement on a claim that nothing holds."""
    if not candidates:
        return Judgement(verdict=Verdict.PHANTOM, why="the city's code has no such section")
    alive = next((s for s in candidates if s.in_force(as_of)), None)
    if alive is None:
        first = candidates[0]
        why = f"{first.citation} is {_when(first, as_of)}"
        return Judgement(
            verdict=out_of_force(first, as_of) or Verdict.REPEALED, section=first, why=why
        )
    if quoted:
        why = f"{alive.citation} does not hold the quote"
        return Judgement(verdict=Verdict.MISQUOTED, section=alive, why=why)
    why = "nothing exact is claimed of it: a quote of three words or more, in double quotes"
    return Judgement(verdict=Verdict.UNSUPPORTED, section=alive, why=why)


def _holder(
    sections: Sequence[StoredSection], readings: Sequence[Sequence[str]], as_of: date
) -> StoredSection | None:
    """Return a section that holds all quotes of one reading, one in force before another."""
    holders = (s for s in sections if any(_holds(s, quotes) for quotes in readings))
    dead = None
    for section in holders:
        if section.in_force(as_of):
            return section
        dead = dead or section
    return dead


def _holds(section: StoredSection, quotes: Sequence[str]) -> bool:
    """Tell whether the text holds every quote; short ones prove nothing, but can be false."""
    written = [q for q in quotes if q.strip()] if section.text else []
    return any(long_enough(q) for q in written) and all(locate(q, section.text) for q in written)


def _place(section: StoredSection) -> tuple[str, ...]:
    return tuple(section.city.split("-"))
