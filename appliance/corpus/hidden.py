"""The numbered sections that hide in one record: "20.8.16 Review of Revisions …" in "Chapter 20".  Pure.

Publishers' exports put whole chapters into one record.  A number that extends the
record's own, where a section can begin and in the order of the numbers, is a section
of the code: it gets its own entry in the registry, under the record's external id.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace

from appliance.corpus.references import normalise_number
from appliance.corpus.standing import standing_of
from appliance.domain import Section, Span

FEWEST = 3  # fewer are mentions
# A record shorter than this is read as one: its hidden sections are a sentence or two each.  They are
# still names under which it is found.
LONG = 6_000  # code points
# What comes before a number that is only mentioned.
_MENTION = re.compile(
    r"(?:\b(?:sub)?sec(?:tion|s|tions)?\.?|§+|\b(?:sub)?paragraphs?|\bchapters?|\barticles?|\btables?"
    r"|\bfigures?|\bexhibits?|\bpart|\band|\bor|\bto|\bthrough|\bthru|\bin|\bof|\bby|\bwith|\bunder|\bper"
    r"|\bsee|\bfrom|\bthan|\bno\.?|\bord(?:inance)?\.?|[(,&$/–—-])\s*\Z",
    re.IGNORECASE,
)
# The word "Section" begins a line only where a section begins.
_OWN_WORD = re.compile(r"(?:\A|\n|[.;:]\s)\s*(?:sec(?:tion)?\.?|§)\s*\Z", re.IGNORECASE)
# Up to a stop, or to where an export that lost its lines goes on: "Location A. Fences", "… 1.1.1 Title".
_TITLE = re.compile(
    r"[.:]?[ \t]*[-–—]?\s*(?P<title>[A-Z][^.:;—\n|]{2,89}?)"
    r"(?=[ \t]+(?:[A-Z]|\d{1,3})\.|[.:;—\n|]|\Z)"
)
_MOST_TITLE_WORDS = 12
_BEFORE = 24  # code points before a number that tell how it is meant


@dataclass(frozen=True, slots=True, kw_only=True)
class _Start:
    """A place at which a hidden section may begin."""

    number: str  # as it is written
    order: tuple[int, ...]
    span: Span  # of the number


def with_hidden(body: str, section: Section) -> tuple[Section, ...]:
    """Return the sections of one record: itself, up to its first hidden one, and those.

    A record that is short or hides no sections comes back alone and unchanged.
    """
    starts = _starts(body, section) if len(section.span) > LONG else []
    if len(starts) < FEWEST:
        return (section,)
    first = starts[0].span.start
    sections = [replace(section, span=Span(start=section.span.start, end=first))]
    ends = [s.span.start for s in starts[1:]] + [section.span.end]
    parents: list[tuple[tuple[int, ...], int]] = [((), 0)]
    for start, end in zip(starts, ends, strict=True):
        while parents[-1][0] != start.order[: len(parents[-1][0])]:
            parents.pop()
        sections.append(_hidden(body, sections, parents[-1][1], start, end))
        parents.append((start.order, len(sections) - 1))
    return tuple(sections)


def hidden_numbers(body: str, section: Section) -> tuple[str, ...]:
    """Return the normalised numbers of the sections that hide in a section."""
    starts = _starts(body, section)
    return tuple(normalise_number(s.number) for s in starts) if len(starts) >= FEWEST else ()


def _hidden(
    body: str, sections: Sequence[Section], parent: int, start: _Start, end: int
) -> Section:
    record = sections[0]
    span = Span(start=start.span.start, end=end)
    heading = _heading(body, start)
    above = sections[parent]
    return Section(
        external_id=record.external_id,
        citation=_citation(record, start.number),
        number=normalise_number(start.number),
        heading=heading,
        path=(*above.path, above.heading),
        span=span,
        parent=parent,
        standing=standing_of(heading, span.of(body), None),
        inside=record.inside + span.start - record.span.start,
    )


def _heading(body: str, start: _Start) -> str:
    title = _TITLE.match(body, start.span.end)
    if title is None or len(title["title"].split()) > _MOST_TITLE_WORDS:
        return start.number
    return f"{start.number} {title['title'].strip()}"


def _citation(record: Section, number: str) -> str:
    """Return the record's citation with the hidden section's number in the place of its own."""
    own = _own_number(record)
    at = record.citation.casefold().rfind(own)
    if at < 0:
        return f"§ {number}"
    before = record.citation[:at]
    if re.search(r"\b(?:chapter|article|part|title)\s*\Z", before, re.IGNORECASE):
        return f"§ {number}"
    return before + number + record.citation[at + len(own) :].rstrip(".")


def _own_number(record: Section) -> str:
    return (record.number or "").rsplit(" ", 1)[-1]


def _starts(body: str, section: Section) -> list[_Start]:
    """Return the longest ascending run of places where hidden sections begin, the later of equals.

    A table of contents at the head of a chapter names the same numbers first.
    """
    own = _own_number(section)
    if not own[-1:].isalnum() or not any(c.isdigit() for c in own):
        return []
    text = section.span.of(body)
    found = [
        _start(m, section.span.start)
        for m in _number_pattern(own).finditer(text)
        if not _is_mention(text, m.start())
    ]
    return _longest_ascending(found)


def _number_pattern(own: str) -> re.Pattern[str]:
    return re.compile(
        r"(?<![\w.\-])"
        + re.escape(own)
        + r"(?P<rest>(?:[.\-]\d{1,3})+[a-z]?)(?=[.:]?\s+[-–—]?\s*[A-Z“\"(])",
    )


def _is_mention(text: str, at: int) -> bool:
    before = text[max(0, at - _BEFORE) : at]
    if _OWN_WORD.search(before if at > _BEFORE else "\n" + before):
        return False
    return _MENTION.search(before) is not None


def _start(match: re.Match[str], offset: int) -> _Start:
    order = tuple(int(part) for part in re.findall(r"\d+", match["rest"]))
    if match["rest"][-1].isalpha():  # "3.2c" follows "3.2"
        order = (*order, ord(match["rest"][-1]))
    span = Span(start=offset + match.start(), end=offset + match.end())
    return _Start(number=match.group(), order=order, span=span)


def _longest_ascending(found: Sequence[_Start]) -> list[_Start]:
    """Return the longest subsequence whose numbers strictly ascend; of equals the one that ends last.

    Patience sorting from the end of the text, in n log n.
    """
    tails: list[tuple[int, ...]] = []  # negated orders, ascending
    heads: list[int] = []
    link: list[int | None] = [None] * len(found)
    for i in range(len(found) - 1, -1, -1):
        key = tuple(-part for part in found[i].order) + (1,)
        place = bisect_left(tails, key)
        link[i] = heads[place - 1] if place else None
        if place == len(tails):
            tails.append(key)
            heads.append(i)
        elif key != tails[place]:
            tails[place], heads[place] = key, i
    run: list[_Start] = []
    at = heads[-1] if heads else None
    while at is not None:
        run.append(found[at])
        at = link[at]
    return run
