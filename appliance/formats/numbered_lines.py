"""Headings in a text that marks none: the lines that the code's own numbering makes evident.

Pure.  Knows "CHAPTER 7 BRIDGES", "Sec. 7-1. Tolls.", "2303 PARKING LOTS".  Guesses nothing by size,
boldness or position, which plain text has not and old Word files use for everything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from appliance.domain import Span

# What a parser notes that made use of it.
BY_NUMBER = "The headings were recognised by their numbers."

_LONGEST = 120  # code points of a heading's line; longer ones are sentences
_NUMBER = r"(?:[A-Z]{1,2}-)?\d+[A-Za-z]?(?:[.:–-]\d+[A-Za-z]?)*"
# "ARTICLE II", "Chapter 7. Bridges", "APPENDIX B: TOLLS"; within a sentence the word is small or
# its number is followed by small letters: "Chapter 7 of this title applies".
_CONTAINER = re.compile(
    rf"""(?P<word>(?:SUB)?(?:TITLE|CHAPTER|PART)|(?:Sub)?(?:[Tt]itle|[Cc]hapter|[Pp]art)|ARTICLE|Article
    |DIVISION|Division|APPENDIX|Appendix|SCHEDULE|Schedule)
    \s+(?:{_NUMBER}|[IVXLC]+|[A-Z])(?=\W|\Z)[\s.:—–-]*(?P<title>.*)""",
    re.VERBOSE,
)
_SECTION = re.compile(
    rf"(?:§{{1,2}}|SECTIONS?|Sections?|SEC\.|Secs?\.)\s*{_NUMBER}[\s.:—–-]*(?P<title>.*)"
)
# Without a word before it a number is evident only over a title all in capitals.
_BARE = re.compile(rf"{_NUMBER}\.?\s+(?P<title>[A-Z][A-Z\d ,;:&'’()/.§–-]*[A-Z)])")
_SENTENCE = re.compile(
    r"\b(?:shall|must|may|will|is|are|was|were|has|have|means|includes?|does|do|applies|apply)\b"
)
# A line of a table of contents ends with its page.
_LISTED = re.compile(r"(?:\.{3,}|\s{3,}|\t)\s*[\divxlc-]+\s*\Z")
# Three sections in a row without a word between them are a table of contents.
_MOST_BARE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    span: Span
    word: str  # the container's word in small letters; "" of a section


def with_headings(body: str) -> str:
    """Return the text with "#" before the lines that are headings by their numbers."""
    lines = list(_without_contents(body, list(_numbered(body))))
    levels: dict[str, int] = {}
    written, at = [], 0
    for line in lines:
        below = len(levels) + 1
        level = levels.setdefault(line.word, below) if line.word else below
        text = " ".join(line.span.of(body).split())
        written += [body[at : line.span.start], f"{'#' * min(level, 6)} {text}"]
        at = line.span.end
    return "".join(written) + body[at:]


def is_container(line: str) -> bool:
    """Tell whether a line names a part of a code: "Article 4: Pests"."""
    return bool(_word_of(line.strip()))


def _numbered(body: str) -> Iterator[_Line]:
    """Yield the lines that look like headings; each stands after an empty line."""
    start, after_empty = 0, True
    for line in body.split("\n"):
        text = line.strip()
        word = _word_of(text) if after_empty and text else None
        if word is not None:
            yield _Line(span=Span(start=start, end=start + len(line)), word=word)
        after_empty = not text or word is not None
        start += len(line) + 1


def _word_of(text: str) -> str | None:
    """Return the container's word of a heading, "" of a section's, None if it is no heading."""
    if len(text) > _LONGEST or _LISTED.search(text):
        return None
    for pattern in (_CONTAINER, _SECTION, _BARE):
        match = pattern.fullmatch(text)
        if match is None:
            continue
        title = match["title"]
        if _is_title(title) or (not title and pattern is _CONTAINER):
            return match["word"].casefold() if pattern is _CONTAINER else ""
    return None


def _is_title(text: str) -> bool:
    """Tell whether words are a title: they begin with a capital and make no sentence."""
    begins = text[:1].isupper() or text[:1] in ("[", "“", '"')
    return begins and not _SENTENCE.search(text) and text[-1] not in ",;:"


def _without_contents(body: str, lines: Sequence[_Line]) -> Iterator[_Line]:
    """Yield the lines but those of a table of contents: sections with nothing between them."""
    run: list[_Line] = []
    for line, following in pairwise([*lines, None]):
        assert line is not None
        run.append(line)
        end = len(body) if following is None else following.span.start
        if body[line.span.end : end].strip() or following is None:
            sections = sum(not r.word for r in run)
            yield from run if sections <= _MOST_BARE else _after_contents(run)
            run = []


def _after_contents(run: Sequence[_Line]) -> Sequence[_Line]:
    """Return the last heading of a run that began as contents, with the containers right over it."""
    first = len(run) - 1
    while first and run[first - 1].word:
        first -= 1
    return run[first:]
