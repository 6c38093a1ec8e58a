"""One question to several cities: each city's own search, some at a time, and their passages in one order.

Nothing of one city's search sees another's, so that its rules cannot mix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import anyio

from appliance.domain import CityId, Passage, Query
from appliance.ports import Encoder, Reranker, Searcher, Tokenizer, Vectors
from appliance.retrieve import PRODUCT, Recipe, Retrieved, retrieve

# Searches that run at once: half of the pool, so that one question to all cities leaves room for others.
AT_ONCE = 4


async def retrieve_in(
    store: Searcher,
    encoder: Encoder,
    query: Query,
    cities: Sequence[CityId],
    k: int,
    *,
    recipe: Recipe = PRODUCT,
) -> dict[CityId, Retrieved]:
    """Return the k best passages of each city, in the order of `cities`; the question is encoded once.

    `query.city` is of no account.  Raises NoSuchCity.
    """
    once = _Once(encoder)
    found: dict[CityId, Retrieved] = {}
    room = anyio.Semaphore(AT_ONCE)

    async def one(city: CityId) -> None:
        async with room:
            found[city] = await retrieve(store, once, replace(query, city=city), k, recipe=recipe)

    try:
        async with anyio.create_task_group() as group:
            for city in dict.fromkeys(cities):
                group.start_soon(one, city)
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from failures  # one reason is enough for whoever asked
    return {city: found[city] for city in dict.fromkeys(cities)}


def best_of(found: dict[CityId, Retrieved], k: int) -> list[tuple[Passage, Retrieved]]:
    """Return the k best passages with the search that found each; one city's stay in its own order."""
    if len(found) > 1:
        return merged(found, k)
    return [(passage, of_city) for of_city in found.values() for passage in of_city.passages]


def merged(found: dict[CityId, Retrieved], k: int) -> list[tuple[Passage, Retrieved]]:
    """Return the k best passages of all cities, each with the search that found it.

    Sections that the question names come first, then by cosine, which is one measure for all cities;
    the scores of BM25 and of the ranker are each city's own.  What only words found comes last.
    """
    each = [
        (place, passage, of_city)
        for of_city in found.values()
        for place, passage in enumerate(of_city.passages)
    ]
    each.sort(key=lambda e: ("named" not in e[1].legs, -e[1].similarity, e[0]))
    return [(passage, of_city) for _, passage, of_city in each[:k]]


@dataclass(slots=True)
class _Last:
    text: str
    vector: Vectors


class _Once:
    """An encoder that keeps the question it encoded last: the next city asks the same."""

    def __init__(self, encoder: Encoder) -> None:
        self.model = encoder.model
        self.dimension = encoder.dimension
        self.reranker: Reranker | None = encoder.reranker
        self.tokenizer: Tokenizer = encoder.tokenizer
        self._encoder = encoder
        self._last: _Last | None = None
        self._turn = anyio.Lock()

    async def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Return what the encoder returns."""
        return await self._encoder.encode_documents(texts)

    async def encode_query(self, text: str) -> Vectors:
        """Return the vector of a question, kept if it is the one of before."""
        async with self._turn:
            if self._last is None or self._last.text != text:
                self._last = _Last(text, await self._encoder.encode_query(text))
            return self._last.vector
