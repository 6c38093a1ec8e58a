"""Sixty cities of real sections and multiplied real vectors, loaded as an ingest loads them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice

import numpy as np

from appliance.domain import CityId
from appliance.ports import Vectors
from appliance.store.loading import PostgresLoader, prepare_model
from appliance.store.vectors import EXACT_UP_TO
from benchmarks.retrieval.box import Box
from benchmarks.retrieval.dense import K, Question
from benchmarks.retrieval.progress import Clock, Step
from benchmarks.retrieval.texts import Made, Piece, made_city
from benchmarks.retrieval.vectors import (
    CITIES,
    Pool,
    asked,
    bases,
    city_sizes,
    exact,
    multiplied,
    nearness,
    turned,
)

WIDE = 1_024
WIDE_PART = 8  # one chunk in so many is also held with WIDE dimensions


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What cities are made of: real sections, real vectors with their inputs, real questions."""

    pieces: Sequence[Piece]
    pool: Pool
    questions: Vectors


@dataclass(slots=True, kw_only=True)
class Rate:
    """Seconds of a step and how many rows it did."""

    rows: int = 0
    seconds: float = 0.0

    def add(self, rows: int, seconds: float) -> None:
        """Count one more piece of the step."""
        self.rows += rows
        self.seconds += seconds

    @property
    def a_second(self) -> float:
        """Return rows a second."""
        return round(self.rows / self.seconds, 1) if self.seconds else 0.0


@dataclass(slots=True, kw_only=True)
class Loading:
    """What loading took, by step."""

    cities: int = 0
    chunks: int = 0
    rows: Rate = field(default_factory=Rate)  # sections, chunks and words: `load_file`
    vectors: Rate = field(default_factory=Rate)  # `keep_vectors`
    built_small: Rate = field(default_factory=Rate)  # `build_dense`, up to EXACT_UP_TO chunks
    built_large: Rate = field(default_factory=Rate)  # above
    wide_built: Rate = field(default_factory=Rate)  # with WIDE dimensions
    bytes_a_row: float = 0.0  # of a city's vectors
    index_bytes_a_row: float = 0.0  # of the indexes on them, over the rows of cities that have one
    wide_bytes_a_row: float = 0.0
    wide_index_bytes_a_row: float = 0.0
    # Median cosine of a question's first and K-th nearest, in the real vectors and in the largest city loaded.
    real_nearness: tuple[float, float] = (0.0, 0.0)
    made_nearness: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """The cities, and what will be asked of them."""

    loading: Loading
    questions: list[Question]
    wide_questions: list[Question]
    wide_vectors: str  # the partitioned table of the WIDE vectors


def wide_cities(sizes: Sequence[int]) -> set[int]:
    """Return the positions of the cities that are also held with WIDE dimensions.

    Each takes at most half of what is left of that part, so that it holds large and small ones.
    """
    left = sum(sizes) // WIDE_PART
    chosen: set[int] = set()
    for position, size in enumerate(sizes):
        if size <= left / 2:
            chosen.add(position)
            left -= size
    return chosen


async def load_cities(
    box: Box,
    source: Source,
    total: int,
    questions: int,
    clock: Clock,
    *,
    cities: int = CITIES,
    seed: int = 1,
) -> Loaded:
    """Load the cities, the smallest first, and work out the exact answers on the way.

    Only one city's vectors are in memory at a time.
    """
    sizes = city_sizes(total, cities)
    wide = wide_cities(sizes)
    tables = await prepare_model(box.pool, name="bench-wide", dimension=WIDE)
    wide_loader = PostgresLoader(box.pool, tables)
    loaded = Loaded(
        loading=Loading(real_nearness=nearness(source.pool.vectors, source.questions, K)),
        questions=[],
        wide_questions=[],
        wide_vectors=tables.vectors,
    )
    step = Step(what="loading", total=total, clock=clock)
    async with box.indexing(clock):
        for position in reversed(range(len(sizes))):
            if clock.over("loading"):
                break
            rng = np.random.default_rng([seed, position])
            made = made_city(f"city-{position + 1:02}", _from(source.pieces, rng), sizes[position])
            new = await _load(box, source, made, questions, rng, loaded.loading)
            loaded.questions.extend(new.questions)
            if position in wide:
                loaded.wide_questions.extend(await _load_wide(box, wide_loader, made, new, loaded))
            loaded.loading.made_nearness = nearness(new.vectors, source.questions, K)
            step.add(made.chunks)
    await _sizes(box, loaded)
    return loaded


def _from(pieces: Sequence[Piece], rng: np.random.Generator) -> Iterator[Piece]:
    """Yield the pieces from a random one on, over and over."""
    start = int(rng.integers(len(pieces)))
    return islice(cycle(pieces), start, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _City:
    ids: list[int]
    vectors: Vectors
    questions: list[Question]


async def _load(
    box: Box,
    source: Source,
    made: Made,
    count: int,
    rng: np.random.Generator,
    loading: Loading,
) -> _City:
    vectors = multiplied(source.pool, bases(made.originals, source.pool, rng), rng)
    began = time.perf_counter()
    ids = await box.load(made)
    loading.rows.add(made.chunks, time.perf_counter() - began)
    began = time.perf_counter()
    await box.keep(box.loader, made.inputs, vectors)
    loading.vectors.add(made.chunks, time.perf_counter() - began)
    began = time.perf_counter()
    await box.loader.build_dense(box.ids[made.city.id])
    built = loading.built_small if made.chunks <= EXACT_UP_TO else loading.built_large
    built.add(made.chunks, time.perf_counter() - began)
    loading.cities += 1
    loading.chunks += made.chunks
    queries = asked(source.questions, source.pool, count, rng)
    asked_of = _questions(box, made.city.id, ids, vectors, queries)
    return _City(ids=ids, vectors=vectors, questions=asked_of)


def _questions(
    box: Box, city: CityId, ids: Sequence[int], vectors: Vectors, queries: Vectors
) -> list[Question]:
    return [
        Question(
            city=city,
            number=box.ids[city],
            chunks=len(ids),
            vector=query,
            truth=frozenset(ids[i] for i in answer),
        )
        for query, answer in zip(queries, exact(vectors, queries, K), strict=True)
    ]


async def _load_wide(
    box: Box, loader: PostgresLoader, made: Made, city: _City, loaded: Loaded
) -> list[Question]:
    vectors = turned(city.vectors, WIDE)
    await box.keep(loader, made.inputs, vectors)
    began = time.perf_counter()
    await loader.build_dense(box.ids[made.city.id])
    loaded.loading.wide_built.add(made.chunks, time.perf_counter() - began)
    queries = turned(np.stack([q.vector for q in city.questions]), WIDE)
    return _questions(box, made.city.id, city.ids, vectors, queries)


async def _sizes(box: Box, loaded: Loaded) -> None:
    loading = loaded.loading
    rows, indexes = await box.vector_bytes(box.vectors)
    loading.bytes_a_row = _a_row(rows, loading.chunks)
    loading.index_bytes_a_row = _a_row(indexes, loading.built_large.rows)
    rows, indexes = await box.vector_bytes(loaded.wide_vectors)
    large = {q.city: q.chunks for q in loaded.wide_questions if q.chunks > EXACT_UP_TO}
    loading.wide_bytes_a_row = _a_row(rows, loading.wide_built.rows)
    loading.wide_index_bytes_a_row = _a_row(indexes, sum(large.values()))


def _a_row(size: int, rows: int) -> float:
    return round(size / rows, 1) if rows else 0.0
