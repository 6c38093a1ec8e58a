"""Answers made before, in the store: digests in, sealed answers out.  What they say is not known here."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from psycopg import AsyncConnection

from appliance.domain import CityId, SectionId
from appliance.ports import CacheCount, CachedAnswer, Looked
from appliance.store.database import Pool, connected
from appliance.store.rows import section_of
from appliance.store.sql import statement

MOST = 2000  # answers of a city: some 10 MB
DAYS = 30  # then an answer is made anew, whatever has not changed


class PostgresAnswerCache:
    """The answers that a box has given, over a pool; `vectors` is the table of the encoder's model."""

    def __init__(self, pool: Pool, *, vectors: str) -> None:
        self._pool = pool
        self._vectors = vectors

    async def look(
        self,
        city: CityId,
        exact: bytes,
        semantic: bytes | None,
        cited: Callable[[bytes], Collection[SectionId]],
    ) -> Looked:
        """Return the answer to the same words, else the newest to a question of the same meaning."""
        keys = {"city": city, "exact": exact, "semantic": semantic}
        async with connected(self._pool) as connection:
            rows = await _fetch(connection, "find_cached", vectors=self._vectors, **keys)
            if not rows:
                return Looked(corpus=None)
            corpus, same_words, key, sealed = rows[0]
            if key is None:
                return Looked(corpus=corpus)
            sections = await _fetch(connection, "sections", ids=list(cited(sealed)))
        found = CachedAnswer(
            how="exact" if same_words else "semantic",
            exact=key,
            sections={SectionId(row[0]): section_of(row) for row in sections},
        )
        return Looked(corpus=corpus, found=found)

    async def keep(
        self, city: CityId, corpus: str, exact: bytes, semantic: bytes | None, sealed: bytes
    ) -> None:
        """Keep an answer; the city's oldest go when they are too old or too many."""
        row = {"corpus": corpus, "exact": exact, "semantic": semantic, "sealed": sealed}
        async with connected(self._pool) as connection, connection.transaction():
            await connection.execute(statement("keep_cached"), {"city": city, **row})
            await connection.execute(
                statement("trim_cached"), {"city": city, "most": MOST, "days": DAYS}
            )

    async def drop(self, exact: bytes) -> None:
        """Forget one answer."""
        async with connected(self._pool) as connection:
            await connection.execute(statement("drop_cached"), {"exact": exact})

    async def clear(self, city: CityId | None) -> int:
        """Forget all answers of a city, or all; return how many."""
        async with connected(self._pool) as connection:
            return (await connection.execute(statement("clear_cached"), {"city": city})).rowcount

    async def counts(self) -> Sequence[CacheCount]:
        """Return what is kept, by city."""
        async with connected(self._pool) as connection:
            rows = await _fetch(connection, "count_cached")
        return [CacheCount(city=c, answers=n, bytes=b, oldest=at) for c, n, b, at in rows]


async def _fetch(
    connection: AsyncConnection, name: str, **parameters: Any
) -> list[tuple[Any, ...]]:
    return await (await connection.execute(statement(name), parameters)).fetchall()
