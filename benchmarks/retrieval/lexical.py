"""Search by words: the product against the formula, PostgreSQL's own ranking and bm25s.

The formula is worked out plainly here, over the terms themselves and not over their places:
score = sum over the question's terms of idf tf (k1+1) / (tf + k1 (1 - b + b len/avglen)) with
idf = ln(1 + (N - df + 0.5) / (df + 0.5)) (Robertson and Zaragoza, 2009, eq. 3.15).
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from appliance.corpus.words import K1, B, terms
from appliance.domain import CityId
from benchmarks.retrieval.baselines import baseline
from benchmarks.retrieval.box import DAY, Box
from benchmarks.retrieval.dense import OURS, percentile
from benchmarks.retrieval.progress import Clock, Step
from benchmarks.retrieval.texts import Made

K = 10
SIZES = (400, 5_000, 60_000)
# Scores that are nearer than this are a tie: the store keeps 32-bit weights.
TIE = 1e-5

# A question to the positions of the chunks found, best first.
Search = Callable[[str], Awaitable[list[int]]]


class Formula:
    """BM25 over the terms of some texts, by the formula and nothing else."""

    def __init__(self, tokens: Sequence[Sequence[str]]) -> None:
        counts = [Counter(t) for t in tokens]
        self.lengths = np.array([len(t) for t in tokens], dtype=np.float64)
        self._average = max(1.0, float(self.lengths.mean()))
        found: dict[str, list[tuple[int, int]]] = {}
        for position, of in enumerate(counts):
            for term, count in of.items():
                found.setdefault(term, []).append((position, count))
        self._found = {term: np.array(of).T for term, of in found.items()}

    def scores(self, question: str) -> NDArray[np.float64]:
        """Return the score of every text."""
        scores = np.zeros(len(self.lengths))
        for term in set(terms(question)) & self._found.keys():
            places, tf = self._found[term]
            with_term = len(places)
            idf = math.log(1 + (len(scores) - with_term + 0.5) / (with_term + 0.5))
            norm = K1 * (1 - B + B * self.lengths[places] / self._average)
            scores[places] += idf * tf * (K1 + 1) / (tf + norm)
        return scores


def agreement(found: Sequence[int], scores: NDArray[np.float64], k: int) -> float:
    """Return which share of the formula's k best is there; a tie with the k-th counts as one of them.

    1 where the formula finds nothing and nothing was found.
    """
    best = np.sort(scores)[::-1][:k]
    wanted = int((best > 0).sum())
    if wanted == 0:
        return float(not found)
    last = best[wanted - 1] * (1 - TIE)
    return sum(bool(scores[i] >= last) for i in list(found)[:wanted]) / wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class WordFigures:
    """The figures of one way to search by words at one size."""

    contestant: str
    chunks: int
    n: int  # questions
    rows_mean: float
    agreement: float  # of the K best with the formula's, mean
    least: float  # milliseconds
    p50: float
    p95: float


async def compare_words(
    box: Box, cities: Sequence[Made], questions: Sequence[str], clock: Clock
) -> list[WordFigures]:
    """Load each city and ask it all questions, every contestant in turn."""
    rows = []
    step = Step(what="asking by words", total=len(cities) * len(questions), clock=clock)
    for made in cities:
        if clock.over(f"words at {made.chunks:,} chunks"):
            break
        ids = await box.load(made)
        words = [piece.words(chunk) for piece, chunk in made.pieces]
        tokens = [terms(text) for text in words]
        table = f"words_{made.chunks}"
        await _make_text(box, table, ids, words)
        searches = {
            OURS: _ours(box, made.city.id, ids),
            "ts_rank_cd": _ranked(box, table, ids),
            "bm25s": _bm25s(tokens),
        }
        rows += await _ask(searches, Formula(tokens), questions, step)
    return rows


async def _ask(
    searches: dict[str, Search], formula: Formula, questions: Sequence[str], step: Step
) -> list[WordFigures]:
    names = list(searches)
    times: dict[str, list[float]] = {name: [] for name in names}
    agreed: dict[str, list[float]] = {name: [] for name in names}
    counts: dict[str, list[int]] = {name: [] for name in names}
    for name in names:  # untimed
        await searches[name](questions[0])
    for turn, question in enumerate(questions):
        scores = formula.scores(question)
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            began = time.perf_counter()
            found = await searches[name](question)
            times[name].append((time.perf_counter() - began) * 1000)
            agreed[name].append(agreement(found, scores, K))
            counts[name].append(len(found))
        step.add()
    return [
        WordFigures(
            contestant=name,
            chunks=len(formula.lengths),
            n=len(questions),
            rows_mean=round(float(np.mean(counts[name])), 2),
            agreement=round(float(np.mean(agreed[name])), 4),
            least=round(min(times[name]), 2),
            p50=round(percentile(times[name], 50), 2),
            p95=round(percentile(times[name], 95), 2),
        )
        for name in names
    ]


# ------------------------------------------------------------------ the contestants


def _ours(box: Box, city: CityId, ids: Sequence[int]) -> Search:
    position = {id_: i for i, id_ in enumerate(ids)}

    async def search(question: str) -> list[int]:
        return [position[int(h.chunk)] for h in await box.store.lexical(city, question, K, DAY)]

    return search


async def _make_text(box: Box, table: str, ids: Sequence[int], words: Sequence[str]) -> None:
    await box.run(baseline("text_table", table=table))
    async with (
        box.pool.connection() as connection,
        connection.cursor() as cursor,
        cursor.copy(baseline("text_copy", table=table)) as copy,
    ):
        for row in zip(ids, words, strict=True):
            await copy.write_row(row)
    await box.run(
        baseline("text_vectors", table=table),
        baseline("text_index", table=table),
        baseline("global_analyze", table=table),
    )


def _ranked(box: Box, table: str, ids: Sequence[int]) -> Search:
    position = {id_: i for i, id_ in enumerate(ids)}
    query = baseline("text_search", table=table)

    async def search(question: str) -> list[int]:
        async with box.pool.connection() as connection:
            cursor = await connection.execute(query, {"text": question, "k": K})
            return [position[chunk] for (chunk,) in await cursor.fetchall()]

    return search


def _bm25s(tokens: Sequence[Sequence[str]]) -> Search:
    """Return bm25s over our own terms, with Lucene's idf, which is the formula's."""
    import bm25s

    index = bm25s.BM25(k1=K1, b=B, method="lucene")
    index.index([list(t) for t in tokens], show_progress=False)
    k = min(K, len(tokens))

    async def search(question: str) -> list[int]:
        asked = sorted(set(terms(question)))
        places, scores = index.retrieve([asked], k=k, show_progress=False)
        return [int(p) for p, score in zip(places[0], scores[0], strict=True) if score > 0]

    return search
