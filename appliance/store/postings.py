"""An inverted index of chunks: packing, merging, and BM25 over it.  Pure; knows arrays and no SQL.

BM25 of a chunk for a question (Robertson and Zaragoza, The Probabilistic Relevance
Framework: BM25 and Beyond, 2009, eq. 3.15) is the sum, over the question's terms, of
idf * tf(k1+1) / (tf + k1(1 - b + b len/avglen)); the parts that a chunk brings, tf
and len, are what the index holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from appliance.corpus.words import K1, B, idf

Ids = NDArray[np.int64]  # of chunks
Numbers = NDArray[np.float64]

ENTRY = np.dtype([("offset", "<u4"), ("count", "<u2"), ("length", "<u2")])

# Scores are added up in an array over all ids from the first to the last; beyond this many (a city
# whose chunks came over years, between those of others) only over the ids that occur.
_WIDEST = 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Posting:
    """The chunks that hold one term."""

    term: str
    base: int
    entries: NDArray[np.void]  # of ENTRY, ascending

    @property
    def chunks(self) -> Ids:
        """Return the ids of the chunks, ascending."""
        return self.entries["offset"].astype(np.int64) + self.base

    def weights(self, average: float) -> Numbers:
        """Return the chunks' side of BM25 for the term."""
        count = self.entries["count"].astype(np.float64)
        return count * (K1 + 1) / (count + K1 * (1 - B + B * self.entries["length"] / average))


def unpacked(term: str, base: int, entries: bytes) -> Posting:
    """Return a posting from its stored form."""
    return Posting(term=term, base=base, entries=np.frombuffer(entries, ENTRY))


# ------------------------------------------------------------------ scoring


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Chunks with scores, in no order."""

    chunks: Ids
    scores: Numbers

    def __len__(self) -> int:
        return len(self.chunks)

    def best(self, count: int) -> list[tuple[int, float]]:
        """Return the `count` best as (chunk, score), best first; equal ones by id."""
        chunks, scores = self.chunks, self.scores
        if count < len(scores):
            least = np.partition(scores, len(scores) - count)[len(scores) - count]
            kept = scores >= least
            chunks, scores = chunks[kept], scores[kept]
        order = np.lexsort((chunks, -scores))[:count]
        return list(zip(chunks[order].tolist(), scores[order].tolist(), strict=True))

    def among(self, chunks: Ids) -> Ranking:
        """Return only those of these chunks."""
        kept = np.isin(self.chunks, chunks)
        return Ranking(chunks=self.chunks[kept], scores=self.scores[kept])


def bm25(postings: Sequence[Posting], *, chunks: int, average: float) -> Ranking:
    """Return the BM25 score of every chunk that holds a term; `chunks` is how many there are in all."""
    return summed(
        [p.chunks for p in postings],
        [idf(chunks, len(p.entries)) * p.weights(average) for p in postings],
    )


def summed(chunks: Sequence[Ids], weights: Sequence[Numbers]) -> Ranking:
    """Return each chunk of the lists with the sum of its weights, which are above zero."""
    if not chunks:
        return Ranking(chunks=np.empty(0, np.int64), scores=np.empty(0))
    ids, values = np.concatenate(chunks), np.concatenate(weights)
    first = int(ids.min())
    if int(ids.max()) - first < _WIDEST:
        sums = np.bincount(ids - first, weights=values).astype(np.float64)
        found = np.flatnonzero(sums)
        return Ranking(chunks=found + first, scores=sums[found])
    found, places = np.unique(ids, return_inverse=True)
    sums = np.bincount(places, weights=values).astype(np.float64)
    return Ranking(chunks=found, scores=sums)


# ------------------------------------------------------------------ building


@dataclass(frozen=True, slots=True, kw_only=True)
class Inverted:
    """All postings of a city in flat arrays, by term and then by chunk."""

    terms: Sequence[str]
    term: NDArray[np.int64]  # an index into `terms`
    chunk: Ids
    count: NDArray[np.uint16]
    length: NDArray[np.uint16]

    @property
    def known(self) -> Ids:
        """Return the ids of all chunks, ascending."""
        return np.unique(self.chunk)

    @property
    def words(self) -> int:
        """Return the length of all chunks together."""
        _, first = np.unique(self.chunk, return_index=True)
        return int(self.length[first].sum(dtype=np.int64))

    def without(self, chunks: Ids) -> Inverted:
        """Return the postings of all other chunks."""
        if not len(chunks):
            return self
        kept = ~np.isin(self.chunk, chunks)
        return Inverted(
            terms=self.terms,
            term=self.term[kept],
            chunk=self.chunk[kept],
            count=self.count[kept],
            length=self.length[kept],
        )

    def rows(self) -> Iterator[tuple[str, int, int, bytes]]:
        """Yield (term, chunks that hold it, base, entries) as they are stored."""
        if not len(self.chunk):
            return
        base = int(self.chunk.min())
        packed = np.empty(len(self.chunk), ENTRY)
        packed["offset"], packed["count"] = self.chunk - base, self.count
        packed["length"] = self.length
        entries = packed.tobytes()
        starts = np.flatnonzero(np.diff(self.term, prepend=-1))
        ends = np.append(starts[1:], len(packed))
        for at, start, end in zip(
            self.term[starts].tolist(), starts.tolist(), ends.tolist(), strict=True
        ):
            yield self.terms[at], end - start, base, entries[start * 8 : end * 8]


def inverted(counts: Mapping[int, Counter[str]]) -> Inverted:
    """Return the postings of chunks from how often each holds each term: {chunk: counts}."""
    places: dict[str, int] = {}
    term: list[int] = []
    chunk: list[int] = []
    count: list[int] = []
    length: list[int] = []
    for id_, of_chunk in counts.items():
        term += [places.setdefault(t, len(places)) for t in of_chunk]
        chunk += [id_] * len(of_chunk)
        count += of_chunk.values()
        length += [of_chunk.total()] * len(of_chunk)
    return _sorted(
        list(places),
        np.array(term, np.int64),
        np.array(chunk, np.int64),
        np.array(count, np.uint16),
        np.array(length, np.uint16),
    )


def read_back(rows: Iterable[tuple[str, int, bytes]]) -> Inverted:
    """Return the postings from their stored rows (term, base, entries)."""
    terms, bases, parts = [], [], []
    for term, base, entries in rows:
        terms.append(term)
        bases.append(base)
        parts.append(entries)
    packed = np.frombuffer(b"".join(parts), ENTRY)
    sizes = [len(part) // 8 for part in parts]
    return Inverted(
        terms=terms,
        term=np.repeat(np.arange(len(terms)), sizes),
        chunk=packed["offset"] + np.repeat(np.array(bases, np.int64), sizes),
        count=packed["count"],
        length=packed["length"],
    )


def merged(old: Inverted, new: Inverted) -> Inverted:
    """Return the postings of both, which have no chunk in common."""
    places = {term: i for i, term in enumerate(old.terms)}
    moved = np.array([places.setdefault(t, len(places)) for t in new.terms], np.int64)
    return _sorted(
        list(places),
        np.concatenate([old.term, moved[new.term] if len(new.term) else new.term]),
        np.concatenate([old.chunk, new.chunk]),
        np.concatenate([old.count, new.count]),
        np.concatenate([old.length, new.length]),
    )


def _sorted(
    terms: Sequence[str],
    term: NDArray[np.int64],
    chunk: Ids,
    count: NDArray[np.uint16],
    length: NDArray[np.uint16],
) -> Inverted:
    # One key of both; the stable sort takes runs that are sorted already in one pass.
    first, last = (int(chunk.min()), int(chunk.max())) if len(chunk) else (0, 0)
    order = np.argsort(term * (last - first + 1) + (chunk - first), kind="stable")
    return Inverted(
        terms=terms,
        term=term[order],
        chunk=chunk[order],
        count=count[order],
        length=length[order],
    )
