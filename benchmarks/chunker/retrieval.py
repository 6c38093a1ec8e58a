"""Do the questions find their sections as well by our chunks as by docling's?

Both cut the same Markdown; the chunks of both are encoded by the product's encoder,
weighed by its BM25 and ranked by its fusion, and judged by the evaluation's rules.
The leg that looks up section numbers is left out: it does not read chunks.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from appliance.answers.ranking import GIANT, PER_GIANT, fuse
from appliance.clients.encode import MiniLmEncoder
from appliance.corpus.lay import widened
from appliance.corpus.words import (
    average_length,
    document_weights,
    place_counts,
    query_weights,
)
from appliance.domain import ChunkId, Hit, Leg, SectionId
from appliance.ports import Tokenizer, Vectors
from appliance.retrieve import DEPTH
from benchmarks.chunker.documents import Document, Stretch
from benchmarks.chunker.hybrid import Chunked, located, unlocated
from benchmarks.chunker.speed import Ours
from eval.cases import Case
from eval.scores import Found, estimate_difference, ranking_scores

MODES: Mapping[str, tuple[Leg, ...]] = {"dense": ("dense",), "dense+BM25": ("dense", "lexical")}
Scores = Mapping[str, Sequence[Mapping[str, float]]]  # of each mode, of each question, by name
SCORES = ("hit@1", "hit@3", "hit@5", "hit@10", "mrr")


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A chunk of either chunker: what is embedded, and what of which records it shows."""

    words: str
    stretches: tuple[Stretch, ...]  # the largest first


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A city's code, cut by one chunker."""

    pieces: tuple[Piece, ...]
    tokens: tuple[int, ...]
    unlocated: float = 0.0  # share of chunks whose place was not found

    def report(self, limit: int) -> str:
        """Return the shape of the chunks as one line."""
        mixed = statistics.mean(len(p.stretches) > 1 for p in self.pieces)
        over = statistics.mean(t > limit for t in self.tokens)
        return (
            f"{len(self.pieces):,} chunks, mean {statistics.mean(self.tokens):.0f} tokens, "
            f"{over:.1%} over {limit}, {mixed:.1%} of two sections, {self.unlocated:.1%} not located"
        )


def our_cut(document: Document, chunks: Sequence[Ours], tokenizer: Tokenizer) -> Cut:
    """Return our chunks as pieces."""
    pieces = [Piece(words=c.words, stretches=document.stretches(c.chunk.span)) for c in chunks]
    return Cut(pieces=tuple(pieces), tokens=tuple(tokenizer.count(p.words) for p in pieces))


def their_cut(document: Document, chunked: Chunked, tokenizer: Tokenizer) -> Cut:
    """Return docling's chunks as pieces."""
    spans = located(document.body, chunked)
    pieces = [
        Piece(words=chunk.words, stretches=() if span is None else document.stretches(span))
        for chunk, span in zip(chunked.chunks, spans, strict=True)
    ]
    tokens = tuple(tokenizer.count(p.words) for p in pieces)
    return Cut(pieces=tuple(pieces), tokens=tokens, unlocated=unlocated(spans))


class Index:
    """The chunks of one city, to be asked."""

    def __init__(self, cut: Cut, encoder: MiniLmEncoder) -> None:
        """Encode and weigh the chunks; what is over the encoder's limit loses its end."""
        self._cut = cut
        self._encoder = encoder
        fitted = [encoder.tokenizer.fitted(piece.words) for piece in cut.pieces]
        self._vectors: Vectors = encoder.encode_now(fitted)
        counts = [place_counts(piece.words) for piece in cut.pieces]
        average = average_length(c.total() for c in counts)
        self._weights: dict[int, list[tuple[int, float]]] = defaultdict(list)
        for chunk, count in enumerate(counts):
            for place, weight in document_weights(count, average).items():
                self._weights[place].append((chunk, weight))

    def ask(self, question: str, legs: Sequence[Leg]) -> list[Found]:
        """Return what is found, best first: a record once, a giant one a few times."""
        text = widened(question)
        hits = [hit for leg in legs for hit in self._leg(leg, text)]
        ranked = fuse(hits)
        return list(_once(self._cut.pieces[r.chunk].stretches for r in ranked))

    def _leg(self, leg: Leg, text: str) -> Iterator[Hit]:
        scores = self._dense(text) if leg == "dense" else self._lexical(text)
        best = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:DEPTH]
        for rank, (chunk, score) in enumerate(best, start=1):
            # Sections play no part in fusion without the leg of names.
            yield Hit(chunk=ChunkId(chunk), section=SectionId(0), leg=leg, rank=rank, score=score)

    def _dense(self, text: str) -> dict[int, float]:
        vector = self._encoder.encode_now([self._encoder.tokenizer.fitted(text)])[0]
        return dict(enumerate((self._vectors @ vector).tolist()))

    def _lexical(self, text: str) -> dict[int, float]:
        frequency = {place: len(chunks) for place, chunks in self._weights.items()}
        scores: dict[int, float] = defaultdict(float)
        for place, idf in query_weights(text, len(self._cut.pieces), frequency).items():
            for chunk, weight in self._weights[place]:
                scores[chunk] += idf * weight
        return scores


def _once(chunks: Iterator[tuple[Stretch, ...]]) -> Iterator[Found]:
    """Yield the records that chunks show, as the product lists them: no record fills the list."""
    taken: dict[str, int] = defaultdict(int)
    for stretches in chunks:
        for part in stretches:
            most = PER_GIANT if len(part.record.text) > GIANT else 1
            if taken[part.record.id] < most:
                taken[part.record.id] += 1
                yield Found(
                    external_id=part.record.id, citation=part.record.citation, span=part.span
                )


def judged(index: Index, cases: Sequence[Case]) -> Scores:
    """Return the scores of a city's questions by mode."""
    return {
        mode: [ranking_scores(case, index.ask(case.question, legs)) for case in cases]
        for mode, legs in MODES.items()
    }


def joined(scores: Sequence[Scores]) -> Scores:
    """Return the scores of several cities as one."""
    return {mode: [row for of_city in scores for row in of_city[mode]] for mode in MODES}


def compared(
    name: str, ours: Scores, theirs: Scores, *, scores: Sequence[str] = SCORES
) -> Iterator[str]:
    """Yield each score of both and the paired difference, ours less docling's."""
    for mode in MODES:
        for score in scores:
            a = [row[score] for row in ours[mode]]
            b = [row[score] for row in theirs[mode]]
            gap = estimate_difference(b, a)
            yield (
                f"{name}, {mode} {score}: ours {statistics.mean(a):.3f}, "
                f"docling {statistics.mean(b):.3f}, "
                f"difference {gap.value:+.3f} ({gap.low:+.3f} to {gap.high:+.3f}), n={gap.n}"
            )
