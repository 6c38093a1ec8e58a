"""One search in several cities: each city's own, some at a time, and their hits in one order."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import date

import anyio

from appliance.domain import CityId, Hit
from appliance.ports import Searcher, Vectors

# Searches that run at once: half of the pool, so that one question to all cities leaves room for others.
_AT_ONCE = 4


async def dense_in(
    store: Searcher, cities: Sequence[CityId], vector: Vectors, k: int, as_of: date
) -> Sequence[Hit]:
    """Return the k nearest chunks of all the cities, by cosine, which is one measure for all."""
    hits = await _each(cities, lambda city: store.dense(city, vector, k, as_of))
    return _ranked([hit for of_city in hits for hit in of_city], k)


async def lexical_in(
    store: Searcher, cities: Sequence[CityId], text: str, k: int, as_of: date
) -> Sequence[Hit]:
    """Return the k best chunks of all the cities by BM25, each score as a share of its city's best.

    A term's weight and the mean length are the city's own, so that scores of two cities can be compared
    only roughly: the best chunks of every city stand together, and how far the next ones are behind
    decides the rest.
    """
    hits = await _each(cities, lambda city: store.lexical(city, text, k, as_of))
    return _ranked(
        [replace(h, score=h.score / of_city[0].score) for of_city in hits for h in of_city], k
    )


async def _each(
    cities: Sequence[CityId], search: Callable[[CityId], Awaitable[Sequence[Hit]]]
) -> list[Sequence[Hit]]:
    """Return what the search gives in each of the cities, in their order."""
    found: dict[CityId, Sequence[Hit]] = {}
    room = anyio.Semaphore(_AT_ONCE)

    async def one(city: CityId) -> None:
        async with room:
            found[city] = await search(city)

    try:
        async with anyio.create_task_group() as group:
            for city in dict.fromkeys(cities):
                group.start_soon(one, city)
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from failures  # one reason is enough for whoever asked
    return [found[city] for city in dict.fromkeys(cities)]


def _ranked(hits: Sequence[Hit], k: int) -> list[Hit]:
    best = sorted(hits, key=lambda h: (-h.score, h.rank, h.chunk))[:k]
    return [replace(hit, rank=rank) for rank, hit in enumerate(best, start=1)]
