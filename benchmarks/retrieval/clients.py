"""Whole searches: their parts, many clients at once, many cities at once.

Cities are asked in proportion to the square root of their size: large ones more often than small
ones, and small ones often enough to count.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import TypeVar

import anyio
import numpy as np

from appliance.clients.encode import MiniLmEncoder
from appliance.domain import CityId, Query
from appliance.ports import Encoder, Vectors
from appliance.retrieve import DEPTH, Recipe, retrieve
from benchmarks.retrieval.box import DAY, Box
from benchmarks.retrieval.dense import percentile
from benchmarks.retrieval.progress import Clock, Step

CROWDS = (1, 8, 20, 32)
SECONDS = 4.0  # of each crowd
TEXTS = 60  # distinct questions
SINGLE = 60  # searches taken apart
MANY = 36  # cities of one search
MANY_REPEATS = 15
_K = 12

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Milliseconds of one thing."""

    what: str
    n: int
    least: float
    p50: float
    p95: float
    a_second: float | None = None  # all clients together


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """Whole searches, how many at once, and their parts one at a time."""

    parts: list[Times]
    many_cities: Times
    crowds: list[Times]


class Remembering:
    """The encoder, asked for each text once: what is measured with it is all the rest."""

    def __init__(self, encoder: MiniLmEncoder) -> None:
        self.model = encoder.model
        self.dimension = encoder.dimension
        self.reranker = encoder.reranker
        self.tokenizer = encoder.tokenizer
        self._encoder = encoder
        self._known: dict[str, Vectors] = {}

    async def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Return what the encoder returns."""
        return await self._encoder.encode_documents(texts)

    async def encode_query(self, text: str) -> Vectors:
        """Return the text's vector, from memory but the first time."""
        if text not in self._known:
            self._known[text] = await self._encoder.encode_query(text)
        return self._known[text]


def times(what: str, milliseconds: Sequence[float], a_second: float | None = None) -> Times:
    """Sum milliseconds up."""
    return Times(
        what=what,
        n=len(milliseconds),
        least=round(min(milliseconds), 2),
        p50=round(percentile(milliseconds, 50), 2),
        p95=round(percentile(milliseconds, 95), 2),
        a_second=a_second,
    )


async def measure_clients(
    box: Box,
    encoder: MiniLmEncoder,
    cities: dict[CityId, int],
    questions: Sequence[str],
    clock: Clock,
    *,
    seconds: float = SECONDS,
    single: int = SINGLE,
) -> Crowd:
    """Ask whole searches of the cities ({id: chunks}): taken apart, over many, by crowds."""
    texts = questions[:TEXTS]
    asked = _drawn(cities, texts)
    remembering = Remembering(encoder)
    step = Step(what="whole searches", total=single + MANY_REPEATS + 2 * len(CROWDS), clock=clock)
    for text in texts:  # untimed: every text is known from here on
        query = Query(text=text, city=asked[0][0], as_of=DAY)
        await retrieve(box.store, remembering, query, _K)
    parts = await _parts(box, encoder, remembering, asked[:single], step)
    many = await _many(box, remembering, list(cities)[:MANY], texts, step)
    crowds = []
    for count in CROWDS:
        for name, one in (("without the encoder", remembering), ("with it", encoder)):
            if not clock.over(f"{count} clients"):
                what = f"{count} clients, {name}"
                crowds.append(await _crowd(box, one, asked, count, seconds, what))
            step.add()
    return Crowd(parts=parts, many_cities=many, crowds=crowds)


def _drawn(cities: dict[CityId, int], questions: Sequence[str]) -> list[tuple[CityId, str]]:
    rng = np.random.default_rng(1)
    weights = np.sqrt(np.array(list(cities.values()), dtype=np.float64))
    names = list(cities)
    chosen = rng.choice(len(names), size=20_000, p=weights / weights.sum())
    texts = rng.integers(len(questions), size=len(chosen))
    return [(names[c], questions[t]) for c, t in zip(chosen, texts, strict=True)]


# ------------------------------------------------------------------ one search, taken apart


async def _parts(
    box: Box,
    encoder: MiniLmEncoder,
    remembering: Remembering,
    asked: Sequence[tuple[CityId, str]],
    step: Step,
) -> list[Times]:
    """Time each part of the searches alone, then the searches whole."""
    spent: dict[str, list[float]] = {}

    async def timed(part: str, work: Awaitable[_T]) -> _T:
        began = time.perf_counter()
        result = await work
        spent.setdefault(part, []).append((time.perf_counter() - began) * 1000)
        return result

    for city, text in asked:
        vector = await timed("encode", encoder.encode_query(text))
        dense = await timed("dense", box.store.dense(city, vector, DEPTH, DAY))
        lexical = await timed("lexical", box.store.lexical(city, text, DEPTH, DAY))
        found = list(dict.fromkeys(h.chunk for h in [*dense, *lexical]))[: 4 * _K + 40]
        await timed("previews of candidates", box.store.previews(found))
        await timed("chunks of passages", box.store.chunks(found[:_K]))
        query = Query(text=text, city=city, as_of=DAY)
        named = retrieve(box.store, remembering, query, _K, recipe=Recipe(legs=("named",)))
        await timed("named, with its passages", named)
        await timed("whole, without the encoder", retrieve(box.store, remembering, query, _K))
        await timed("whole", retrieve(box.store, encoder, query, _K))
        step.add()
    return [times(part, of) for part, of in spent.items()]


async def _many(
    box: Box, encoder: Encoder, cities: Sequence[CityId], questions: Sequence[str], step: Step
) -> Times:
    """Ask each question of many cities, by meaning and by words, all at once."""
    spent = []
    for text in islice(cycle(questions), MANY_REPEATS):
        vector = await encoder.encode_query(text)
        began = time.perf_counter()
        async with anyio.create_task_group() as group:
            for city in cities:
                group.start_soon(box.store.dense, city, vector, _K, DAY)
                group.start_soon(box.store.lexical, city, text, _K, DAY)
        spent.append((time.perf_counter() - began) * 1000)
        step.add()
    return times(f"{len(cities)} cities, both legs", spent)


# ------------------------------------------------------------------ many clients


async def _crowd(
    box: Box,
    encoder: Encoder,
    asked: Sequence[tuple[CityId, str]],
    clients: int,
    seconds: float,
    what: str,
) -> Times:
    """Let so many clients ask one search after the other until the time is over."""
    spent: list[float] = []
    left = iter(asked)
    began = time.perf_counter()

    async def client() -> None:
        for city, text in left:
            start = time.perf_counter()
            if start - began > seconds:
                return
            query = Query(text=text, city=city, as_of=DAY)
            await retrieve(box.store, encoder, query, _K)
            spent.append((time.perf_counter() - start) * 1000)

    async with anyio.create_task_group() as group:
        for _ in range(clients):
            group.start_soon(client)
    took = time.perf_counter() - began
    return times(what, spent, round(len(spent) / took, 1))
