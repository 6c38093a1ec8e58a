"""The terms that a section of definitions defines, each with the span of its definition.  Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from appliance.corpus.glossary import entries, is_glossary
from appliance.domain import Definition, Section, Span

# A definition's mark and the quotes around its term are not the term: "(B) “Alley” means".
_TERM = re.compile(
    r"""\s*(?:\(?[A-Za-z0-9]{1,4}[.)]\s+|\.?\d{1,3}(?:-\d+)*(?:\.\d+)*\.?\s+|\*\*|[-•]\s+)?[*“"]*
    (?P<term>[A-Z0-9][^\n:—|“”"]{0,70}?)
    (?=[”"*,]*\s*(?:\([^()\n]{1,40}\))?[*”"]*\s*
       (?:(?:shall\s)?(?:means?|includes?|refers?|has|have|is\sdefined)\b|[:—–]|\s-\s|\.))""",
    re.VERBOSE,
)
_SEPARATOR = re.compile(r"[”\"*.:—–\s-]*")
# "The term "alley" means …" also stands in sections that are no glossary.
_QUOTED = re.compile(
    r"[“\"](?P<term>[^“”\"\n]{2,70})[”\"],?\s+(?:shall\s+)?(?:means?|includes?|has\s+the\s+meaning|have\s+the\s+meaning)\b"
)


def definitions_in(heading: str, text: str) -> list[Definition]:
    """Return the definitions of a section in reading order, each term once."""
    starts = list(entries(text)) if is_glossary(heading) else []
    found = _listed(text, starts) if starts else _quoted(text)
    once: dict[str, Definition] = {}
    for definition in found:
        once.setdefault(definition.term, definition)
    return list(once.values())


def definitions_of(body: str, sections: Sequence[Section]) -> Iterator[tuple[int, Definition]]:
    """Yield what each section of a document defines, with its position; spans are in the body."""
    for position, section in enumerate(sections):
        for definition in definitions_in(section.heading, section.span.of(body)):
            span = definition.span.shifted(section.span.start)
            yield position, replace(definition, span=span)


def _listed(text: str, starts: list[int]) -> list[Definition]:
    matches: list[re.Match[str]] = []
    for start in starts:
        match = _TERM.match(text, start)
        # "Fence. A barrier of wood." looks like two terms: the second is what the first means.
        if match and not (matches and _SEPARATOR.fullmatch(text, matches[-1].end("term"), start)):
            matches.append(match)
    ends = [*(m.start() for m in matches[1:]), len(text)][: len(matches)]
    return [
        _definition(text, m["term"], m.start(), end) for m, end in zip(matches, ends, strict=True)
    ]


def _quoted(text: str) -> list[Definition]:
    matches = list(_QUOTED.finditer(text))
    ends = [*(m.start() for m in matches[1:]), len(text)][: len(matches)]
    found = []
    for match, end in zip(matches, ends, strict=True):
        line = text.find("\n", match.end(), end)
        found.append(_definition(text, match["term"], match.start(), end if line < 0 else line))
    return found


def _definition(text: str, term: str, start: int, end: int) -> Definition:
    end = start + len(text[start:end].rstrip())
    return Definition(
        term=" ".join(term.casefold().split()).strip(" ,"), span=Span(start=start, end=end)
    )
