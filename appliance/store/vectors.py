"""The vectors of a city as they are searched: a partition, and above a bound an HNSW index on it.

The policy is here and in `search`, not the planner's (pgvector 0.8 costs an index
scan with a filter wrongly: issues 784 and 835).
"""

from __future__ import annotations

from dataclasses import dataclass

import psycopg
from psycopg import AsyncConnection, sql

from appliance.store.partitions import new_partition
from appliance.store.sql import statement

# A partition of so many vectors is scanned: exact, and 5 ms on a quiet core (384 dimensions).  The scan grows
# with the rows, the graph hardly does: see eval/ledger/016-index-policy.md.
EXACT_UP_TO = 5_000

# The graph's links a node and the candidates held while it is built: pgvector's defaults, with which
# recall of the ten best was .99 and more within every city size tried.
_M = 16
_EF_CONSTRUCTION = 64

_LARGEST_EF = 1_000  # what pgvector takes
_MB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class DenseIndex:
    """What a city's partition of vectors is."""

    rows: int
    hnsw: str | None

    def graph_for(self) -> bool:
        """Tell whether a search goes through the graph."""
        return self.hnsw is not None and self.rows > EXACT_UP_TO


def ef_search(k: int, rows: int) -> int:
    """Return how many candidates a walk through the graph holds.

    Sections that repeat each other make a graph of real law hard to walk: with 200 the nearest twelve
    of 61,368 chunks were found to .955, with 800 to .994, for 7 ms more
    (eval/ledger/023-large-graphs.md).
    """
    return min(_LARGEST_EF, max(800 if rows > 50_000 else 400, 4 * k))


async def build_partition(
    connection: AsyncConnection, vectors: str, embeddings: str, city_id: int
) -> str:
    """Copy the city's vectors into a new partition and index it; return its name.

    To be swapped in by the caller, in the same transaction.
    """
    partition = await new_partition(connection, vectors, city_id)
    cursor = await connection.execute(
        statement("fill_vectors", partition=partition, embeddings=embeddings), {"city": city_id}
    )
    rows = cursor.rowcount
    hnsw = await _build_graph(connection, partition, rows) if rows > EXACT_UP_TO else None
    await connection.execute(sql.SQL("analyze {}").format(sql.Identifier(partition)))
    await connection.execute(
        statement("keep_dense_index"),
        {"vectors": vectors, "city": city_id, "rows": rows, "hnsw": hnsw},
    )
    return partition


async def _build_graph(connection: AsyncConnection, partition: str, rows: int) -> str:
    """Build the HNSW index of a partition; return its name, which bears the partition's generation.

    The workers of a parallel build share the graph in POSIX shared memory, of which a container may
    have too little: then one process builds it alone, in its own.
    """
    memory = _graph_bytes(rows, await _dimension(connection, partition)) // _MB + 1
    await connection.execute(
        "select set_config('maintenance_work_mem', %s, true)", (f"{min(2048, max(64, memory))}MB",)
    )
    try:
        async with connection.transaction():
            return await _create_graph(connection, partition)
    except (psycopg.errors.DiskFull, psycopg.errors.OutOfMemory):
        await connection.execute("select set_config('max_parallel_maintenance_workers', '0', true)")
        return await _create_graph(connection, partition)


async def _create_graph(connection: AsyncConnection, partition: str) -> str:
    name = f"{partition}_hnsw"
    await connection.execute(
        sql.SQL(
            "create index {} on {} using hnsw (vector halfvec_cosine_ops)"
            " with (m = {}, ef_construction = {})"
        ).format(sql.Identifier(name), sql.Identifier(partition), _M, _EF_CONSTRUCTION)
    )
    return name


def _graph_bytes(rows: int, dimension: int) -> int:
    """Return what a graph takes while it is built, with a margin: 1.4 KB a row of 384 dimensions."""
    return rows * (2 * dimension + 900)


async def _dimension(connection: AsyncConnection, partition: str) -> int:
    cursor = await connection.execute(statement("dimension"), {"partition": partition})
    (dimension,) = await cursor.fetchone() or (0,)
    return int(dimension)
