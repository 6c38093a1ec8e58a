"""Does anything in a city's code mention a thing?  Negative proof: every section is read.

"Nothing mentions it" may be said only after all searchable sections in force on the day were
read for every form of the thing: its words in all endings, its other names in the lay
vocabulary, and the terms that the code itself defines by it.  What was looked for, how often it
was found and how many sections were read is part of what is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from appliance.answers.extraction import asked_of, nouns_of, question_terms, things_of
from appliance.corpus.surface_forms import Form, Why, distinct, forms_of, named, sieve
from appliance.domain import CityId, Place, SectionId, Span
from appliance.errors import QuestionRefused
from appliance.ports import ReadSection, Scanner, Store, WholeReading

MOST_PLACES = 20  # are listed; all are counted
# Around a mention, so that its reader sees what it is about.
_BEFORE, _AFTER = 80, 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """A form that was looked for, and in how many sections it stands."""

    form: str
    why: Why
    sections: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Mentioned:
    """A section that mentions the thing, by which form, and the words around the first time."""

    place: Place
    form: str
    why: Why
    words: str  # exact, cut where a word ends; "" where only the heading or the titles name it


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """What an exhaustive reading of a city's code found."""

    city: CityId
    as_of: date
    things: tuple[str, ...]  # as they were named
    sections: int  # that were read
    looked: tuple[Looked, ...]  # every form, its own name's first
    mentioned: tuple[Mentioned, ...]  # MOST_PLACES at most, those by the thing's own name first
    places: int  # how many sections mention it

    @property
    def absent(self) -> bool:
        """Tell whether nothing mentions the thing under any name; False if nothing was read."""
        return self.sections > 0 and not self.places


async def scan(scanner: Scanner, city: CityId, things: Sequence[str], as_of: date) -> Scan:
    """Read all of a city's code for mentions of one thing; several `things` are its names.

    Raises QuestionRefused if they name nothing that could be looked for.
    """
    forms = forms_of(things)
    if not forms:
        raise QuestionRefused("Name a thing to look for, like 'hot tubs'.")
    reading = await scanner.scan(city, sieve(forms), as_of)
    found = _found(forms, reading)
    if defined := distinct([*forms, *await _defined(scanner, forms, reading, found)])[len(forms) :]:
        more = await scanner.scan(city, sieve(defined), as_of)
        forms, reading = (*forms, *defined), _both(reading, more)
        found |= _found(defined, more)
    return _scanned(city, things, as_of, forms, reading, found)


async def scan_each(
    scanner: Scanner, city: CityId, things: Sequence[str], as_of: date
) -> tuple[Scan, ...]:
    """Read all of a city's code once for mentions of several things, each for itself.

    Terms that the code defines by a thing are not followed: where there is one, the thing is mentioned.
    """
    forms = {thing: found for thing in dict.fromkeys(things) if (found := forms_of([thing]))}
    every = [form for found in forms.values() for form in found]
    if not every:
        return ()
    reading = await scanner.scan(city, sieve(every), as_of)
    return tuple(
        _scanned(city, [thing], as_of, found, reading, _found(found, reading))
        for thing, found in forms.items()
    )


MOST_THINGS = 4  # of a question are looked for, the rarest of the city first


async def scan_question(store: Store, city: CityId, question: str, as_of: date) -> tuple[Scan, ...]:
    """Read all of a city's code for the things that a question names, each for itself.

    For a question that found no answer: what is said then of its words is read, not guessed.
    """
    frequency = await store.frequencies(city, question_terms(question))
    asked = asked_of(question, frequency, (await store.coverage(city)).chunks)
    weight = {stem: c.weight for c in asked.concepts for name in c.names for stem in name}
    things = things_of(question)
    things.sort(key=lambda t: -max((weight.get(stem, 0.0) for stem in t[1]), default=0.0))
    return await scan_each(store, city, [words for words, _ in things[:MOST_THINGS]], as_of)


def nowhere(scans: Sequence[Scan], question: str) -> tuple[str, ...]:
    """Return the things of a question that nothing in the code mentions, under no name.

    Only nouns, as far as rules can tell them: that a code has no "idle" says nothing.
    """
    nouns = nouns_of(question)
    return tuple(t for s in scans if s.absent for t in s.things if t in nouns)


def sentence(scan: Scan, name: str) -> str:
    """Return what the scan proved, for people; `name` is the city's."""
    things = " or ".join(f"“{t}”" for t in scan.things)
    read = f"{scan.sections:,} sections in force on {scan.as_of} were read"
    if not scan.sections:
        return f"No section of the code of {name} in this box was in force on {scan.as_of}."
    if scan.absent:
        others = [f.form for f in scan.looked if f.why != "asked"]
        also = f", nor its other names ({', '.join(others)})" if others else ""
        return f"Nothing in the code of {name} in this box mentions {things}{also}: {read}."
    own = any(f.sections for f in scan.looked if f.why == "asked")
    if own:
        return f"The code of {name} mentions {things} in {_sections(scan.places)}: {read}."
    under = ", ".join(f"“{f.form}”" for f in scan.looked if f.sections)
    return (
        f"Nothing in the code of {name} mentions {things} by that name, but {_sections(scan.places)} "
        f"may under {under}: {read}."
    )


def _sections(count: int) -> str:
    return "1 section" if count == 1 else f"{count:,} sections"


# ------------------------------------------------------------------ reading

_Found = dict[SectionId, list[tuple[Form, Span | None]]]  # None: in the heading or the titles


def _found(forms: Sequence[Form], reading: WholeReading) -> _Found:
    """Return for each section the forms that it has, each with the first place in the words read."""
    found: _Found = {}
    for section in reading.found:
        for form in forms:
            first = next(form.mentions(section.words), None)
            if first or any(next(form.mentions(t), None) for t in _over(section)):
                found.setdefault(section.section, []).append((form, first))
    return found


def _over(section: ReadSection) -> Iterator[str]:
    yield section.heading
    yield from section.path


async def _defined(
    scanner: Scanner, forms: Sequence[Form], reading: WholeReading, found: _Found
) -> list[Form]:
    """Return the terms that the code defines by the thing's own name: "fowl means chickens and ducks"."""
    words = {s.section: s for s in reading.found if s.section in found}
    asked = [f for f in forms if f.why == "asked"]
    return [
        form
        for term in await scanner.defined_in(list(words))
        if any(_in(f, term.span, words[term.section]) for f in asked)
        for form in named(term.term, "defined term")
    ]


def _in(form: Form, span: Span, section: ReadSection) -> bool:
    start = max(0, span.start - section.begins)
    return any(form.mentions(section.words[start : max(0, span.end - section.begins)]))


def _both(first: WholeReading, second: WholeReading) -> WholeReading:
    held = {s.section for s in first.found}
    found = (*first.found, *(s for s in second.found if s.section not in held))
    return WholeReading(sections=first.sections, found=found)


# ------------------------------------------------------------------ what is said of it


def _scanned(
    city: CityId,
    things: Sequence[str],
    as_of: date,
    forms: Sequence[Form],
    reading: WholeReading,
    found: Mapping[SectionId, Sequence[tuple[Form, Span | None]]],
) -> Scan:
    counts = {f.stems: 0 for f in forms}
    for hits in found.values():
        for form, _ in hits:
            counts[form.stems] += 1
    sections = {s.section: s for s in reading.found}
    ways: list[Why] = ["asked", "also called", "defined term"]
    mentioned = [_mentioned(sections[i], *_best(hits)) for i, hits in found.items()]
    mentioned.sort(key=lambda m: (ways.index(m.why), not m.words, m.place.section))
    return Scan(
        city=city,
        as_of=as_of,
        things=tuple(things),
        sections=reading.sections,
        looked=tuple(Looked(form=f.written, why=f.why, sections=counts[f.stems]) for f in forms),
        mentioned=tuple(mentioned[:MOST_PLACES]),
        places=len(found),
    )


def _best(hits: Sequence[tuple[Form, Span | None]]) -> tuple[Form, Span | None]:
    """Return the form that a section is listed by: the first that stands in the text itself."""
    return next((hit for hit in hits if hit[1] is not None), hits[0])


def _mentioned(section: ReadSection, form: Form, at: Span | None) -> Mentioned:
    around = _around(section.words, at) if at else Span(start=0, end=0)
    return Mentioned(
        place=Place(
            section=section.section,
            external_id=section.external_id,
            citation=section.citation,
            heading=section.heading,
            span=around.shifted(section.inside + section.begins),
        ),
        form=form.written,
        why=form.why,
        words=around.of(section.words),
    )


def _around(words: str, at: Span) -> Span:
    """Return the mention with some words on both sides, cut between words."""
    start = max(0, at.start - _BEFORE)
    end = min(len(words), at.end + _AFTER)
    while 0 < start < at.start and not words[start - 1].isspace():
        start += 1
    while at.end < end < len(words) and not words[end].isspace():
        end -= 1
    return Span(start=start, end=end)
