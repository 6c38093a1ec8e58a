"""Sections to chunks: stretches that the encoder can take whole, cut where the law itself pauses.

Pure; the encoder's tokenizer is handed in, as its limit is the one that counts.
The chunks of a section tile its span: every code point is in exactly one chunk,
and a chunk's text is the body at its span, nothing added.  What is embedded is the
breadcrumb, the titles over it and that text (`embedding_input`); what is cited is
the text alone.
Time is linear in the text: it is tokenised once and cut by binary search.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from appliance.corpus.glossary import entries, is_glossary
from appliance.corpus.outline import Outline
from appliance.corpus.tables import Table, find_rows, find_tables, is_row
from appliance.domain import Chunk, ChunkKind, Section, Span
from appliance.errors import ChunkTooLong
from appliance.ports import Tokenizer

# Tokens of a chunk's embedding input that the breadcrumb may take at most; the inner levels and the
# heading stay, outer ones go first.
BREADCRUMB_TOKENS = 48
# Tokens of a chunk's titles and text at most, whatever the encoder takes: a vector of 160 tokens finds
# better than one of 208, which is what the demo encoder's 256 leave (eval/ledger/011: hit@5 on the
# dev cities .81 to .86, the dense leg's MRR on dev-va-tn .72 to .77).
TEXT_TOKENS = 160
# Tokens that the titles over a chunk may take of its input.
TITLE_TOKENS = 32
# Tokens of the header that a table's later rows repeat for the reader: a header is a line or two.
HEADER_TOKENS = 96
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
DEFINITION = 6  # before a definition, stronger than all of these
_CELL = re.compile(r"\|[ \t]*")


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


def embedding_input(crumb: str, titles: Sequence[str], text: str) -> str:
    """Return what the encoder sees of a chunk: where it stands, the titles over it, its text.

    A table's header is not in it: repeated for the encoder it made the rows of different tables
    alike (eval/ledger/011); it is repeated for whoever reads the chunk.
    """
    return "\n".join([crumb, *(" ".join(title.split()) for title in titles), text.strip()])


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
    layout = _Layout(text, section, tokenizer, tokenizer.count(crumb))
    return tuple(
        _chunk(layout, piece, section, position, ordinal)
        for ordinal, piece in enumerate(layout.pieces())
    )


def _chunk(layout: _Layout, piece: Span, section: Section, position: int, ordinal: int) -> Chunk:
    words = piece.of(layout.text)
    titles = layout.titles(piece.start)
    header = layout.header(piece.start)
    tokens = layout.tokens(piece)
    if tokens > layout.limit:
        raise ChunkTooLong(
            f"A chunk of {section.citation} has {tokens} tokens, over the encoder's "
            f"{layout.limit}: please report this text as a fault of the chunker."
        )
    return Chunk(
        section=position,
        ordinal=ordinal,
        span=piece.shifted(section.span.start),
        text=words,
        kind=_kind(words, section),
        tokens=tokens,
        titles=tuple(title.shifted(section.span.start) for title in titles),
        header=header and header.shifted(section.span.start),
    )


def _kind(text: str, section: Section) -> ChunkKind:
    lines = [line for line in text.splitlines() if line.strip()]
    if sum(is_row(line) for line in lines) * 2 > len(lines):
        return ChunkKind.TABLE
    if is_glossary(section.heading):
        return ChunkKind.DEFINITION
    return ChunkKind.PROSE


class _Layout:
    """What the text of one section is made of, and how its chunks are cut from it."""

    def __init__(self, text: str, section: Section, tokenizer: Tokenizer, fixed: int) -> None:
        self.text = text
        self._tokenizer = tokenizer
        self.limit = tokenizer.limit
        self._ends = tokenizer.ends(text)
        self._fixed = fixed
        # One token is spare: the halves of a word that is torn may have one more than the word.
        self._budget = min(tokenizer.limit - fixed - 1, TEXT_TOKENS)
        self._tables = find_tables(text)
        self._table_starts = [t.span.start for t in self._tables]
        self._outline = Outline(text)
        self._entries = entries(text) if is_glossary(section.heading) else ()

    def pieces(self) -> Iterator[Span]:
        """Yield the spans of the chunks, which tile the text."""
        if len(self._ends) <= self._budget:
            yield Span(start=0, end=len(self.text))
            return
        cuts = _cuts(self.text, self._tables, self._entries)
        start = 0
        while start < len(self.text):
            end = self._before_table(start, self._end(start, cuts))
            yield Span(start=start, end=end)
            start = end

    def _end(self, start: int, cuts: _Cuts) -> int:
        budget = self._budget - self._cost(start)
        end = _next_end(self.text, self._ends, cuts, start, budget)
        if _torn(self.text, start) or _torn(self.text, end):
            return _fitting_end(self.text, self._ends, cuts, start, end, budget, self._tokenizer)
        return end

    def _before_table(self, start: int, end: int) -> int:
        """Return `end`, or the beginning of the table that it would tear though it fits a chunk."""
        i = bisect_left(self._table_starts, end) - 1
        if i < 0 or not start < self._table_starts[i] < end < self._tables[i].span.end:
            return end
        table = self._tables[i].span
        fits = self._tokens(table) <= self._budget - self._cost(table.start)
        return table.start if fits and self.text[start : table.start].strip() else end

    def tokens(self, piece: Span) -> int:
        """Return the tokens of a chunk's embedding input."""
        if _clean(self.text, piece.start) and _clean(self.text, piece.end):
            return self._fixed + self._cost(piece.start) + self._tokens(piece)
        inside = len(self._tokenizer.ends(piece.of(self.text)))
        return self._fixed + self._cost(piece.start) + inside

    def _tokens(self, span: Span) -> int:
        return bisect_right(self._ends, span.end) - bisect_right(self._ends, span.start)

    def titles(self, start: int) -> tuple[Span, ...]:
        """Return the titles over a chunk that begins at `start`, in reading order."""
        return self._fitted(self._outline.over(start), TITLE_TOKENS)

    def header(self, start: int) -> Span | None:
        """Return the header of the table that goes on at `start`, cut to HEADER_TOKENS."""
        i = bisect_right(self._table_starts, start) - 1
        if i < 0 or not self._tables[i].header.end < start < self._tables[i].span.end:
            return None
        header = self._tables[i].header
        last = bisect_right(self._ends, header.start) + HEADER_TOKENS - 1
        if last < len(self._ends) and self._ends[last] < header.end:
            return Span(start=header.start, end=self._ends[last])
        return header

    def _fitted(self, titles: Sequence[Span], most: int) -> tuple[Span, ...]:
        """Return the inner titles that fit into `most` tokens together."""
        kept: list[Span] = []
        for title in reversed(titles):
            most -= self._count(title)
            if most < 0:
                break
            kept.append(title)
        return tuple(reversed(kept))

    def _cost(self, start: int) -> int:
        return sum(self._count(title) for title in self.titles(start))

    def _count(self, span: Span) -> int:
        # By itself: at its ends it may have other tokens than in the text.
        return len(self._tokenizer.ends(" ".join(span.of(self.text).split())))


def _torn(text: str, at: int) -> bool:
    """Tell whether a cut is not at white space: the halves may have other tokens than the whole."""
    return 0 < at < len(text) and not text[at - 1].isspace() and not text[at].isspace()


def _clean(text: str, at: int) -> bool:
    """Tell whether a cut is beside a blank or a line's end: both sides have the whole's tokens."""
    return at in (0, len(text)) or text[at - 1] in " \n" or text[at] in " \n"


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
    # One token is spare, see `_Layout`.
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


def _cuts(text: str, tables: Sequence[Table], definitions: Sequence[int]) -> _Cuts:
    """Return every place to cut, leaving headers and the inside of table rows whole."""
    strength = dict.fromkeys(definitions, DEFINITION)
    whole = _merged(sorted((*find_rows(text), *(t.header for t in tables))))
    starts = [span.start for span in whole]
    for value, pattern in _BOUNDARIES:
        for match in pattern.finditer(text):
            at = match.end()
            if not _inside(at, whole, starts):
                strength.setdefault(at, value)
    # Rows of one table hold together better than paragraphs around it.
    for table in tables:
        for row in table.rows:
            if row.start in strength:
                strength[row.start] = 2
    offsets = sorted(strength)
    return _Cuts(offsets=offsets, strengths=[strength[o] for o in offsets])


def _merged(spans: Sequence[Span]) -> list[Span]:
    """Return ascending spans with those that overlap made one."""
    apart: list[Span] = []
    for span in spans:
        if apart and span.start < apart[-1].end:
            before = apart.pop()
            apart.append(Span(start=before.start, end=max(before.end, span.end)))
        else:
            apart.append(span)
    return apart


def _inside(at: int, spans: Sequence[Span], starts: Sequence[int]) -> bool:
    i = bisect_left(starts, at) - 1
    return i >= 0 and spans[i].start < at < spans[i].end


def _cell_cuts(text: str, start: int, end: int) -> _Cuts:
    """Return the cuts between cells: only for a row that alone is over the budget."""
    offsets = [m.end() for m in _CELL.finditer(text, start, end)] or [
        m.end() for m in re.compile(r"\s+").finditer(text, start, end)
    ]
    return _Cuts(offsets=offsets, strengths=[0] * len(offsets))
