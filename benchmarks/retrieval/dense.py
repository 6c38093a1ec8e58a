"""Search by meaning within one city: the product's index policy against one global index.

All contestants search the same vectors with the same questions, in turn, each question by all of
them before the next; the truth is the exact float32 answer.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

import numpy as np

from appliance.domain import CityId
from appliance.ports import Vectors
from appliance.store.search import PostgresStore
from benchmarks.retrieval.baselines import MODES, baseline, make_global, searching
from benchmarks.retrieval.box import DAY, Box
from benchmarks.retrieval.progress import Clock, Step

K = 12
OURS = "ours"
SMALL = 0.02  # of all rows: the cities for which a filter behind a global index fails

CLASSES = ((0, 1_000), (1_000, 5_000), (5_000, 20_000), (20_000, 60_000), (60_000, 10**9))


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The chunks that a contestant found, best first, and by which way: exact or hnsw."""

    chunks: list[int]
    path: str


# (city, number of the city, vector) to what is found
Search = Callable[[CityId, int, Vectors], Awaitable[Found]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question to one city, with the chunks that answer it best."""

    city: CityId
    number: int
    chunks: int  # of the city
    vector: Vectors
    truth: frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What one contestant made of one question."""

    city: CityId
    chunks: int
    rows: int
    recall: float  # of the exact answer
    milliseconds: float
    path: str = "hnsw"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The figures of one contestant over some cities."""

    contestant: str
    over: str  # which cities
    cities: int
    n: int  # questions
    rows_mean: float
    rows_min: int
    empty: float  # share of replies without a row
    graph: float  # share of replies through an HNSW index
    recall: float  # mean over cities
    recall_worst: float  # of a city
    worst: str
    least: float  # milliseconds: of all, the nearest to what a quiet machine takes
    p50: float
    p95: float


def figures(contestant: str, over: str, replies: Sequence[Reply]) -> Figures:
    """Sum the replies up: recall by city, times over all questions."""
    by_city: dict[CityId, list[float]] = {}
    for reply in replies:
        by_city.setdefault(reply.city, []).append(reply.recall)
    means = {city: statistics.mean(values) for city, values in by_city.items()}
    worst = min(means, key=means.__getitem__)
    times = [r.milliseconds for r in replies]
    return Figures(
        contestant=contestant,
        over=over,
        cities=len(means),
        n=len(replies),
        rows_mean=round(statistics.mean(r.rows for r in replies), 2),
        rows_min=min(r.rows for r in replies),
        empty=round(sum(not r.rows for r in replies) / len(replies), 4),
        graph=round(sum(r.path == "hnsw" for r in replies) / len(replies), 4),
        recall=round(statistics.mean(means.values()), 4),
        recall_worst=round(means[worst], 4),
        worst=worst,
        least=round(min(times), 2),
        p50=round(percentile(times, 50), 2),
        p95=round(percentile(times, 95), 2),
    )


def percentile(times: Sequence[float], share: int) -> float:
    """Return a percentile by linear interpolation."""
    return float(np.percentile(np.asarray(times, dtype=np.float64), share))


def table(replies: Mapping[str, Sequence[Reply]], total: int) -> list[Figures]:
    """Return the figures of all cities, of those under SMALL of all rows, and by size."""
    rows = []
    for contestant, of in replies.items():
        groups = {
            "all": list(of),
            f"under {SMALL:.0%} of the rows": [r for r in of if r.chunks < SMALL * total],
        }
        for low, high in CLASSES:
            name = f"{low + 1:,} to {high:,}" if high < 10**9 else f"over {low:,}"
            groups[name] = [r for r in of if low < r.chunks <= high]
        rows += [figures(contestant, over, part) for over, part in groups.items() if part]
    return rows


# ------------------------------------------------------------------ the race


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """The figures of a race, and what building the global index took."""

    dimension: int
    chunks: int
    global_seconds: float
    global_bytes: int  # of the index
    figures: list[Figures]
    relaxed_over_ours_p95: float | None  # in the cities under SMALL of the rows


async def race(
    box: Box, vectors: str, questions: Sequence[Question], dimension: int, clock: Clock
) -> Race | None:
    """Build the global index over a model's vectors and let all contestants answer in turn.

    None if there was no time to build it.
    """
    name = f"global_{dimension}"
    await make_global(box, vectors, name, dimension)
    began = time.perf_counter()
    try:
        async with asyncio.timeout(clock.left), box.indexing(clock):
            await box.run(baseline("global_index", table=name, index=f"{name}_hnsw"))
    except TimeoutError:
        clock.cut.append(f"the global index of {dimension} dimensions")
        return None
    seconds = time.perf_counter() - began
    ((size,),) = await box.rows("select pg_relation_size(%s::regclass)", f"{name}_hnsw")
    total = sum({q.city: q.chunks for q in questions}.values())
    store = PostgresStore(box.pool, vectors=vectors)
    async with AsyncExitStack() as stack:
        contestants: dict[str, Search] = {}
        for mode in MODES:
            one = await stack.enter_async_context(searching(box.dsn, name, mode))
            contestants[mode] = _global(one.search)
        contestants[OURS] = _ours(store)
        replies = await ask_in_turn(contestants, questions, clock)
    rows = table(replies, total)
    return Race(
        dimension=dimension,
        chunks=total,
        global_seconds=round(seconds, 1),
        global_bytes=int(size),
        figures=rows,
        relaxed_over_ours_p95=_ratio(rows),
    )


def _global(search: Callable[[int, Vectors, int], Awaitable[list[int]]]) -> Search:
    async def ask(_: CityId, number: int, vector: Vectors) -> Found:
        return Found(chunks=await search(number, vector, K), path="hnsw")

    return ask


def _ours(store: PostgresStore) -> Search:
    async def ask(city: CityId, _: int, vector: Vectors) -> Found:
        hits = await store.dense(city, vector, K, DAY)
        return Found(chunks=[int(h.chunk) for h in hits], path=hits[0].path if hits else "")

    return ask


async def ask_in_turn(
    contestants: Mapping[str, Search], questions: Sequence[Question], clock: Clock
) -> dict[str, list[Reply]]:
    """Let every contestant answer every question, the first one being another one each time.

    One question a city goes before, untimed.  The order is random, so that a run which is cut short
    has asked all cities.
    """
    order = [questions[i] for i in np.random.default_rng(1).permutation(len(questions))]
    first = {q.city: q for q in order}
    step = Step(what="asking by meaning", total=len(first) + len(order), clock=clock)
    for question in first.values():
        for search in contestants.values():
            await search(question.city, question.number, question.vector)
        step.add()
    replies: dict[str, list[Reply]] = {name: [] for name in contestants}
    names = list(contestants)
    for turn, question in enumerate(order):
        if turn >= len(first) and clock.over("asking by meaning"):
            break
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            replies[name].append(await _reply(contestants[name], question))
        step.add()
    return replies


async def _reply(search: Search, question: Question) -> Reply:
    began = time.perf_counter()
    found = await search(question.city, question.number, question.vector)
    took = (time.perf_counter() - began) * 1000
    return Reply(
        city=question.city,
        chunks=question.chunks,
        rows=len(found.chunks),
        recall=len(question.truth.intersection(found.chunks)) / len(question.truth),
        milliseconds=took,
        path=found.path,
    )


def _ratio(rows: Sequence[Figures]) -> float | None:
    small = {r.contestant: r for r in rows if r.over.startswith("under")}
    if OURS not in small:
        return None
    return round(small["iterative relaxed"].p95 / small[OURS].p95, 1)
