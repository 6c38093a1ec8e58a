"""Weighing the words of a city: its inverted index made anew from what has changed.

Killed anywhere, nothing of it is seen; a city whose index another tokenizer made is
made anew at the next start.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from psycopg import AsyncConnection, sql

from appliance.corpus.words import WORDS_VERSION, terms
from appliance.store.database import Pool, connected
from appliance.store.partitions import copy_binary, new_partition, swap
from appliance.store.postings import Ids, Inverted, Posting, inverted, merged, read_back, unpacked
from appliance.store.sql import statement

_log = logging.getLogger(__name__)

PARENT = "posting"


async def weigh_words(connection: AsyncConnection, city_id: int, *, anew: bool = False) -> str:
    """Bring a city's index up to its chunks, in a partition to be swapped in; return its name.

    Chunks that are there already are not read again, unless another tokenizer made their postings
    or it is to be made `anew`.  Document frequencies and mean length are the city's own.
    """
    old = inverted({}) if anew else await _held(connection, city_id)
    chunks = await _searchable(connection, city_id)
    kept = old.without(np.setdiff1d(old.known, chunks))
    fresh = np.setdiff1d(chunks, kept.known)
    index = merged(kept, inverted(await _counts(connection, fresh)))
    partition = await new_partition(connection, PARENT, city_id)
    await copy_binary(
        connection,
        partition,
        ("int4", "text", "int4", "int8", "bytea"),
        ((city_id, *row) for row in index.rows()),
    )
    await connection.execute(sql.SQL("analyze {}").format(sql.Identifier(partition)))
    await connection.execute(
        statement("weighed"),
        {
            "city": city_id,
            "version": WORDS_VERSION,
            "weighed": len(chunks),
            "average": max(1.0, index.words / max(1, len(chunks))),
        },
    )
    return partition


async def weigh_stale(pool: Pool) -> int:
    """Make the indexes of cities anew that another tokenizer made, or none; return how many.

    A city a transaction, so that a kill loses one city's work; whoever else does the same, or loads
    the city, waits.
    """
    async with connected(pool) as connection:
        stale = await _rows(connection, "stale_words", version=WORDS_VERSION)
    for at, (city_id, slug, chunks) in enumerate(stale, start=1):
        _log.warning(
            "The words of %s (%s chunks) are weighed anew, as after every update that reads them"
            " differently: %d of %d.",
            slug,
            f"{chunks:,}",
            at,
            len(stale),
        )
        async with connected(pool) as connection, connection.transaction():
            ((version,),) = await _rows(connection, "lock_words", city=city_id)
            if version != WORDS_VERSION:
                await swap(connection, PARENT, city_id, await weigh_words(connection, city_id))
    return len(stale)


async def postings_of(
    connection: AsyncConnection, city_id: int, wanted: Iterable[str]
) -> tuple[Sequence[Posting], int, float]:
    """Return the city's postings of these terms, over how many chunks they count, and their mean length."""
    async with connection.cursor(binary=True) as cursor:
        await cursor.execute(statement("postings"), {"city": city_id, "terms": sorted(set(wanted))})
        rows = await cursor.fetchall()
    if not rows:
        return [], 0, 1.0
    *_, chunks, average = rows[0]
    return [unpacked(term, base, entries) for term, base, entries, _, _ in rows], chunks, average


async def _held(connection: AsyncConnection, city_id: int) -> Inverted:
    """Return the city's postings, none if another tokenizer made them."""
    async with connection.cursor(binary=True) as cursor:
        await cursor.execute(statement("all_postings"), {"city": city_id, "version": WORDS_VERSION})
        return read_back(await cursor.fetchall())


async def _searchable(connection: AsyncConnection, city_id: int) -> Ids:
    rows = await _rows(connection, "searchable_chunks", city=city_id)
    return np.array([id_ for (id_,) in rows], np.int64)


async def _counts(connection: AsyncConnection, chunks: Ids) -> dict[int, Counter[str]]:
    counts: dict[int, Counter[str]] = {}
    async with connection.cursor(name="words") as cursor:
        cursor.itersize = 2000
        await cursor.execute(statement("chunk_words"), {"ids": chunks.tolist()})
        async for id_, path, heading, titles, text in cursor:
            counts[id_] = Counter(terms("\n".join([*path, heading, *titles, text])))
    return counts


async def _rows(
    connection: AsyncConnection, name: str, **parameters: object
) -> list[tuple[Any, ...]]:
    cursor = await connection.execute(statement(name), parameters)
    return await cursor.fetchall()
