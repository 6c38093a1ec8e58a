"""The other ways to search by meaning within one city: one global HNSW and a filter, in three modes.

Each has a connection of its own, on which its settings are in force.  Plans without the index are
switched off, so that a mode is what its name says at every scale.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from pgvector import HalfVector
from pgvector.psycopg import register_vector_async
from psycopg import AsyncConnection, sql

from appliance.ports import Vectors
from benchmarks.retrieval.box import Box

# The name of each mode, and pgvector's settings of it; all else is its default (ef_search 40, at most
# 20,000 tuples).
MODES = {
    "global HNSW": "off",
    "iterative relaxed": "relaxed_order",
    "iterative strict": "strict_order",
}

_NAME = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)


@cache
def _texts() -> dict[str, str]:
    parts = _NAME.split(files("benchmarks.retrieval").joinpath("baselines.sql").read_text("utf-8"))
    return dict(zip(parts[1::2], (p.strip().rstrip(";") for p in parts[2::2]), strict=True))


def baseline(name: str, **names: str | int) -> sql.Composed:
    """Return a statement of baselines.sql; a text becomes an identifier, a number itself."""
    parts = {
        k: sql.Identifier(v) if isinstance(v, str) else sql.Literal(v) for k, v in names.items()
    }
    return sql.SQL(_texts()[name]).format(**parts)  # our own file


@dataclass(frozen=True, slots=True, kw_only=True)
class Global:
    """A connection that searches the global table in one mode."""

    connection: AsyncConnection
    query: sql.Composed

    async def search(self, city: int, vector: Vectors, k: int) -> list[int]:
        """Return the chunks of the city that this mode finds."""
        cursor = await self.connection.execute(
            self.query, {"city": city, "vector": HalfVector(vector), "k": k}
        )
        return [chunk for (chunk,) in await cursor.fetchall()]


@asynccontextmanager
async def searching(dsn: str, table: str, mode: str) -> AsyncIterator[Global]:
    """Hand over a connection in a mode."""
    settings = f"-c hnsw.iterative_scan={MODES[mode]} -c enable_seqscan=off -c enable_sort=off"
    async with await AsyncConnection.connect(dsn, autocommit=True, options=settings) as connection:
        await register_vector_async(connection)
        yield Global(connection=connection, query=baseline("global_search", table=table))


async def make_global(box: Box, vectors: str, table: str, dimension: int) -> None:
    """Copy a model's vectors into one table without an index."""
    names = {"table": table, "vectors": vectors}
    await box.run(
        baseline("global_table", table=table, dimension=dimension),
        baseline("global_plain", table=table),
        baseline("global_fill", **names),
        baseline("global_analyze", table=table),
    )
