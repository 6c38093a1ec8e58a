"""From a document's body to its sections: the heading tree of Markdown, with code-point spans.

Pure.  A section's span is its own text: from the end of its heading line to the
next heading, so that the spans of a document never overlap and, together with
the heading lines, cover the body.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from appliance.corpus.references import normalise_number
from appliance.corpus.standing import standing_of
from appliance.domain import CityId, Section, Span

_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+([^\n]*)$", re.MULTILINE)
_FENCE = re.compile(r"^ {0,3}(```|~~~)([^\n]*)$", re.MULTILINE)
# How a heading begins: "§ 15.04.010 Permit required", "Sec. 4-12. - Fences", "ARTICLE II. General",
# "Chapter 15.04 Permits", "9.1.7 Use Restrictions", "Appendix B".
_NUMBERED = re.compile(
    r"""^\W{0,3}(?:
        (?P<word>§{1,2}|sections?|secs?\.?|(?:sub)?chapter|article|(?:sub)?title|(?:sub)?part
            |(?:sub)?division|appendix|schedule|exhibit)\s*
        (?P<number>[A-Za-z]{0,2}[.\-]?\d[\w.\-–—:]*|[IVXLC]+\b|[A-Z]\b)
        |(?P<bare>(?:[A-Z]{1,2}-)?\d[\w]*(?:[.\-–:]\w+)+)
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_SECTION_WORDS = frozenset({"§", "§§", "section", "sections", "sec", "sec.", "secs", "secs."})
# "3. Fencing", "2303 PARKING LOTS": a number alone is a section's only among headings, and a year is
# none; "B. - Definitions." is numbered in its article: "15.B".
_ALONE = re.compile(r"(?P<number>\d{1,4}[A-Z]?)(?:\.(?=\s)|(?=\s+[A-Z]{2}))")
_YEAR = re.compile(r"(?:19|20)\d\d")
_LETTER = re.compile(r"(?P<letter>[A-Z])\.\s+(?:[-–—]\s*)?(?=[A-Z\[])")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Heading:
    level: int
    text: str
    span: Span


def number_in_heading(heading: str) -> tuple[str | None, bool]:
    """Return (normalised number, whether it is a section's) of a heading; (None, False) without one.

    The number of a container keeps its word: "chapter 15.04", "article ii".
    """
    match = _NUMBERED.match(heading.strip())
    if match is None:
        return None, False
    if match["bare"]:
        return normalise_number(match["bare"]), True
    word = match["word"].casefold()
    number = normalise_number(match["number"])
    if word in _SECTION_WORDS:
        return number, True
    return f"{word} {number}", False


def number_among_headings(heading: str, above: str | None) -> tuple[str | None, bool]:
    """Return the number of a heading of a document, as `number_in_heading` and by where it stands.

    `above` is the number of the heading over it: a letter counts in a numbered article or section.
    """
    number, is_section = number_in_heading(heading)
    if number is not None:
        return number, is_section
    words = heading.strip().lstrip("*_ ")
    alone = _ALONE.match(words)
    if alone and not (_YEAR.fullmatch(alone["number"]) and words[alone.end("number")] != "."):
        return normalise_number(alone["number"]), True
    letter = _LETTER.match(words)
    if letter and above and any(c.isdigit() for c in above):
        return f"{above.rsplit(' ', 1)[-1]}.{letter['letter'].casefold()}", True
    return None, False


def parse_markdown(body: str, *, city: CityId, document_id: str, title: str) -> tuple[Section, ...]:
    """Return the sections of a Markdown body in reading order.

    Text before the first heading becomes a section without a number.  The external
    id of a numbered section is "city/number"; a repeated number gets "~2", "~3", ….
    """
    headings = list(_headings(body))
    sections: list[Section] = []
    open_: list[tuple[int, int]] = []  # (level, position of the section) from the root down
    seen: dict[str, int] = {}
    if span := _lead(body, headings):
        sections.append(_preamble(title, document_id, span))
    for position, heading in enumerate(headings):
        end = headings[position + 1].span.start if position + 1 < len(headings) else len(body)
        while open_ and open_[-1][0] >= heading.level:
            open_.pop()
        parents = [sections[i] for _, i in open_]
        sections.append(
            _section(
                heading,
                Span(start=heading.span.end, end=end),
                body,
                city=city,
                document_id=document_id,
                path=tuple(p.heading for p in parents),
                parent=open_[-1][1] if open_ else None,
                above=parents[-1].number if parents else None,
                seen=seen,
            )
        )
        open_.append((heading.level, len(sections) - 1))
    return tuple(sections)


def _headings(body: str) -> Iterator[_Heading]:
    fenced = _fenced(body)
    starts = [start for start, _ in fenced]
    for match in _HEADING.finditer(body):
        fence = bisect_right(starts, match.start()) - 1
        text = _without_closing(match[2].strip())
        if text and (fence < 0 or fenced[fence][1] <= match.start()):
            yield _Heading(
                level=len(match[1]), text=text, span=Span(start=match.start(), end=match.end())
            )


def _without_closing(heading: str) -> str:
    """Return a heading without the "##" that may end it."""
    bare = heading.rstrip("#")
    return bare.rstrip() if bare != heading and (not bare or bare[-1].isspace()) else heading


def _fenced(body: str) -> list[tuple[int, int]]:
    """Return the stretches of fenced code; a fence that is never closed fences nothing in."""
    lines = list(_FENCE.finditer(body))
    closing: dict[int, int] = {}  # the next closing line after each fence line, by position
    following: dict[str, int] = {}
    for i in range(len(lines) - 1, -1, -1):
        if lines[i][1] in following:
            closing[i] = following[lines[i][1]]
        if not lines[i][2].strip():
            following[lines[i][1]] = i
    fenced: list[tuple[int, int]] = []
    i = 0
    while i < len(lines):
        if i in closing:
            fenced.append((lines[i].start(), lines[closing[i]].end()))
        i = closing.get(i, i) + 1
    return fenced


def _lead(body: str, headings: list[_Heading]) -> Span | None:
    end = headings[0].span.start if headings else len(body)
    return Span(start=0, end=end) if body[:end].strip() else None


def _preamble(title: str, document_id: str, span: Span) -> Section:
    return Section(
        external_id=document_id,
        citation=title,
        number=None,
        heading=title,
        path=(),
        span=span,
    )


def _section(
    heading: _Heading,
    span: Span,
    body: str,
    *,
    city: CityId,
    document_id: str,
    path: tuple[str, ...],
    parent: int | None,
    above: str | None,
    seen: dict[str, int],
) -> Section:
    number, is_section = number_among_headings(heading.text, above)
    key = f"{city}/{number}" if is_section else f"{document_id}#{number or heading.text}"
    seen[key] = seen.get(key, 0) + 1
    return Section(
        external_id=key if seen[key] == 1 else f"{key}~{seen[key]}",
        citation=_citation(heading.text, number, is_section),
        number=number,
        heading=heading.text,
        path=path,
        span=span,
        parent=parent,
        standing=standing_of(heading.text, span.of(body), None),
    )


def _citation(heading: str, number: str | None, is_section: bool) -> str:
    if number is None:
        return heading
    return f"§ {number}" if is_section else number.capitalize()
