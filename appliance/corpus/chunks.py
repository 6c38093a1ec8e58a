"""Sections to chunks: stretches that the encoder can take whole, cut where the law itself pauses.

Pure; the encoder's tokenizer is handed in, as its limit is the one that counts.
The chunks of a section tile its span: every code point is in exactly one chunk,
and a chunk's text is the body at its span, nothing added.  What is embedded is
the breadcrumb plus that text (`embedding_input`); what is cited is the text alone.
Time is linear in the text: it is tokenised once and cut by binary search.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from appliance.domain import Chunk, ChunkKind, Section, Span
from appliance.errors import ChunkTooLong
from appliance.ports import Tokenizer

# Tokens of a chunk's embedding input that the breadcrumb may take at most; the inner levels and the
# heading stay, outer ones go first.
BREADCRUMB_TOKENS = 48
# Chunks are cut in the last part of the budget: a strong boundary at 55 % beats a weak one at 100 %.
EARLIEST = 0.55

# Where a text may be cut, strongest first.  A boundary is the offset at which the next chunk begins.
_BOUNDARIES: tuple[tuple[int, re.Pattern[str]], ...] = (
    (5, re.compile(r"\n[ \t]*\n\s*")),
    # A sub-section on its own line, or inline after the end of a clause: "(b) ", "2. ", "iv) ".
    (4, re.compile(r"(?<!\s)[^\S\n]*\n\s*+(?=(?:\([A-Za-z0-9]{1,4}\)|[A-Za-z0-9]{1,3}[.)])\s)")),
    (4, re.compile(r"(?<=[.;:])\s+(?=(?:\([A-Za-z0-9]{1,4}\)|[A-Za-z]\.|\d{1,2}\.)\s)")),
    (3, re.compile(r"\n\s*")),
    (2, re.compile(r"(?<=[.;!?:])\s+(?=[\"“(A-Z0-9])")),
    (1, re.compile(r"\s+")),
)
_CELL = re.compile(r"\|[ \t]*")
_ROW = re.compile(r"^[ \t]*(\|[^\n]*)", re.MULTILINE)
_DEFINITIONS = re.compile(r"\bdefin(?:itions?|ed)\b|\bglossary\b|\bterms\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Cuts:
    """Every offset at which a text may be cut, ascending, with its strength."""

    offsets: list[int]
    strengths: list[int]


def breadcrumb(section: Section) -> str:
    """Return where a chunk stands: "Title 17 Zoning > Chapter 17.20 Fences > 17.20.020 Heights"."""
    heading = section.heading
    if section.citation and section.citation not in heading:
        heading = f"{section.citation} {heading}"
    return " > ".join([*section.path, " ".join(heading.split())])


def embedding_input(crumb: str, text: str) -> str:
    """Return what the encoder sees of a chunk."""
    return f"{crumb}\n{text.strip()}"


def fitted_breadcrumb(section: Section, tokenizer: Tokenizer) -> str:
    """Return the breadcrumb cut to BREADCRUMB_TOKENS: outer levels first, then the heading's end."""
    # Each level is at least one token with its ">", so that only the innermost can stay.
    parts = breadcrumb(section).split(" > ")[-BREADCRUMB_TOKENS:]
    while len(parts) > 1 and tokenizer.count(" > ".join(parts)) > BREADCRUMB_TOKENS:
        parts.pop(0)
    crumb = " > ".join(parts)
    if tokenizer.count(crumb) > BREADCRUMB_TOKENS:
        ends = tokenizer.ends(crumb)
        crumb = crumb[: ends[BREADCRUMB_TOKENS - 3]]
    return crumb


def chunk_section(
    body: str, section: Section, position: int, tokenizer: Tokenizer
) -> tuple[Chunk, ...]:
    """Return the chunks of one section, which tile its span; none if it has no visible text.

    Raises ChunkTooLong if a chunk would be cut by the encoder: that is a fault of this module.
    """
    text = section.span.of(body)
    if not text.strip():
        return ()
    crumb = fitted_breadcrumb(section, tokenizer)
    fixed = tokenizer.count(embedding_input(crumb, "")) + 1
    budget = tokenizer.limit - fixed
    ends = tokenizer.ends(text)
    pieces = list(_pieces(text, ends, budget, tokenizer))
    return tuple(
        _chunk(text, piece, section, position, ordinal, crumb, tokenizer)
        for ordinal, piece in enumerate(pieces)
    )


def _chunk(
    text: str,
    piece: Span,
    section: Section,
    position: int,
    ordinal: int,
    crumb: str,
    tokenizer: Tokenizer,
) -> Chunk:
    words = piece.of(text)
    tokens = tokenizer.count(embedding_input(crumb, words))
    if tokens > tokenizer.limit:
        raise ChunkTooLong(
            f"A chunk of {section.citation} has {tokens} tokens, over the encoder's "
            f"{tokenizer.limit}: please report this text as a fault of the chunker."
        )
    return Chunk(
        section=position,
        ordinal=ordinal,
        span=piece.shifted(section.span.start),
        text=words,
        kind=_kind(words, section),
        tokens=tokens,
    )


def _kind(text: str, section: Section) -> ChunkKind:
    lines = [line for line in text.splitlines() if line.strip()]
    rows = sum(line.lstrip().startswith("|") for line in lines)
    if rows * 2 > len(lines):
        return ChunkKind.TABLE
    if _DEFINITIONS.search(section.heading):
        return ChunkKind.DEFINITION
    return ChunkKind.PROSE


def _pieces(text: str, ends: Sequence[int], budget: int, tokenizer: Tokenizer) -> Iterator[Span]:
    """Yield the spans of the chunks of one text, each of at most `budget` tokens."""
    if len(ends) <= budget:
        yield Span(start=0, end=len(text))
        return
    cuts = _cuts(text)
    start = 0
    while start < len(text):
        end = _next_end(text, ends, cuts, start, budget)
        if _torn(text, start) or _torn(text, end):
            end = _fitting_end(text, ends, cuts, start, end, budget, tokenizer)
        yield Span(start=start, end=end)
        start = end


def _torn(text: str, at: int) -> bool:
    """Tell whether a cut is not at white space: the halves may have other tokens than the whole."""
    return 0 < at < len(text) and not text[at - 1].isspace() and not text[at].isspace()


def _fitting_end(
    text: str,
    ends: Sequence[int],
    cuts: _Cuts,
    start: int,
    end: int,
    budget: int,
    tokenizer: Tokenizer,
) -> int:
    """Return `end`, or one before it at which the piece by itself keeps the limit."""
    allowed = budget
    # One token is spare, see `chunk_section`.
    while allowed > 1 and (over := len(tokenizer.ends(text[start:end])) - budget - 1) > 0:
        allowed = max(1, allowed - over)
        end = _next_end(text, ends, cuts, start, allowed)
    return end


def _next_end(text: str, ends: Sequence[int], cuts: _Cuts, start: int, budget: int) -> int:
    first = bisect_right(ends, start)  # tokens before this index end at or before `start`
    if len(ends) - first <= budget:
        return len(text)
    # The next token must begin after the cut; its end is not inside the piece.
    furthest = ends[first + budget - 1]
    earliest = ends[first + int(budget * EARLIEST)]
    return (
        _best_cut(cuts, earliest, furthest)
        or _best_cut(cuts, start + 1, furthest)
        or _best_cut(_cell_cuts(text, start, furthest), start + 1, furthest)
        or furthest
    )


def _best_cut(cuts: _Cuts, low: int, high: int) -> int | None:
    """Return the strongest cut in [low, high], the latest of equals."""
    a, b = bisect_left(cuts.offsets, low), bisect_right(cuts.offsets, high)
    if a >= b:
        return None
    best = max(range(a, b), key=lambda i: (cuts.strengths[i], i))
    return cuts.offsets[best]


def _cuts(text: str) -> _Cuts:
    """Return every place to cut, leaving the inside of table rows whole."""
    strength: dict[int, int] = {}
    rows = [m.span(1) for m in _ROW.finditer(text)]  # a cut comes after a row's indentation
    starts = [a for a, _ in rows]
    for value, pattern in _BOUNDARIES:
        for match in pattern.finditer(text):
            at = match.end()
            if not _inside_row(at, rows, starts):
                strength.setdefault(at, value)
    # Rows of one table hold together better than paragraphs around it: a cut between two rows is
    # weaker than a cut before the table.
    for (_, above), (below, _) in pairwise(rows):
        if text[above:below].strip() == "" and below in strength:
            strength[below] = 2
    offsets = sorted(strength)
    return _Cuts(offsets=offsets, strengths=[strength[o] for o in offsets])


def _inside_row(at: int, rows: list[tuple[int, int]], starts: list[int]) -> bool:
    i = bisect_left(starts, at) - 1
    return i >= 0 and rows[i][0] < at < rows[i][1]


def _cell_cuts(text: str, start: int, end: int) -> _Cuts:
    """Return the cuts between cells: only for a row that alone is over the budget."""
    offsets = [m.end() for m in _CELL.finditer(text, start, end)] or [
        m.end() for m in re.compile(r"\s+").finditer(text, start, end)
    ]
    return _Cuts(offsets=offsets, strengths=[0] * len(offsets))
