"""A box for one benchmark: a PostgreSQL in a new folder, the product's own store and loader on it.

The folder goes when the block ends, however it ends but for kill -9; what it is called is told at
the start.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, LiteralString

import anyio.to_thread
import numpy as np
import psycopg
from pgvector.psycopg import register_vector
from psycopg import sql

from appliance.domain import City, CityId
from appliance.errors import BadRequest
from appliance.ports import EncodeTask, Vectors
from appliance.settings import Settings
from appliance.store import embedded
from appliance.store.database import Pool, open_pool
from appliance.store.loading import PostgresLoader, prepare_model
from appliance.store.search import PostgresStore
from benchmarks.retrieval.progress import Clock, Memory, say
from benchmarks.retrieval.texts import Made

DAY = date(2026, 1, 1)  # of all loading and asking

_BYTES_A_CHUNK = 20_000  # of disk: rows, indexes of all contestants, the log of changes
_SPARE = 6_000_000_000
_TELL = 5.0  # seconds between two lines about an index
_BATCH = 4_096  # vectors stored in one transaction

Query = LiteralString | sql.Composed


@dataclass(slots=True, kw_only=True)
class Box:
    """An open store, and the numbers of the cities that were loaded into it."""

    folder: Path
    dsn: str
    pool: Pool
    vectors: str  # the partitioned table of the encoder's model
    loader: PostgresLoader
    store: PostgresStore
    memory: Memory
    ids: dict[CityId, int] = field(default_factory=dict)

    async def rows(self, query: Query, *parameters: object) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        async with self.pool.connection() as connection:
            cursor = await connection.execute(query, parameters)
            return await cursor.fetchall()

    async def run(self, *commands: Query) -> None:
        """Execute commands, each in a transaction of its own."""
        for command in commands:
            async with self.pool.connection() as connection:
                await connection.execute(command)

    @asynccontextmanager
    async def indexing(self, clock: Clock) -> AsyncIterator[None]:
        """Tell now and then how far the index is that is built in the block."""
        teller = asyncio.create_task(self._tell_of_index(clock))
        try:
            yield
        finally:
            teller.cancel()
            await asyncio.wait([teller])

    async def _tell_of_index(self, clock: Clock) -> None:
        while True:
            await asyncio.sleep(_TELL)
            for table, done, total in await self.rows(
                "select relid::regclass::text, tuples_done, tuples_total"
                " from pg_stat_progress_create_index where tuples_total > 0"
            ):
                say(clock, f"index on {table}: {done:,} of {total:,}")

    # -------------------------------------------------------------- loading

    async def load(self, made: Made, *, pipeline: str = "bench") -> list[int]:
        """Load a city's rows and words as an ingest does; return its chunks' ids in their order."""
        await self.loader.load_file(
            path=f"bench/{made.city.id}",
            city_override="",
            digest=f"{made.city.id} {pipeline}",
            pipeline=pipeline,
            documents=made.documents,
            unchanged=(),
            rejected=0,
            reasons={},
            whole=True,
            today=DAY,
        )
        return await self.chunk_ids(made.city)

    async def chunk_ids(self, city: City) -> list[int]:
        """Return the ids of a city's current chunks, in the order of loading; note its number."""
        ((id_,),) = await self.rows("select id from city where slug = %s", city.id)
        self.ids[city.id] = id_
        rows = await self.rows(
            "select c.id from chunk c join document d on d.id = c.document_id"
            " where c.city_id = %s and d.current order by c.id",
            id_,
        )
        return [chunk for (chunk,) in rows]

    async def keep(self, loader: PostgresLoader, inputs: Sequence[bytes], vectors: Vectors) -> None:
        """Store vectors as the encoding half of an ingest does."""
        for start in range(0, len(inputs), _BATCH):
            tasks = [
                EncodeTask(input=i, crumb="", titles=(), text="")
                for i in inputs[start : start + _BATCH]
            ]
            await loader.keep_vectors(tasks, vectors[start : start + _BATCH])

    # -------------------------------------------------------------- sizes

    async def city_bytes(self, city: CityId) -> int:
        """Return the bytes of a city's own partitions: vectors, words, and their indexes."""
        ((size,),) = await self.rows(
            "select coalesce(sum(pg_total_relation_size(oid)), 0) from pg_class"
            " where relkind = 'r' and relname like %s",
            f"%\\_c{self.ids[city]}\\_g%",
        )
        return int(size)

    async def vector_bytes(self, vectors: str) -> tuple[int, int]:
        """Return the bytes of a model's partitions: of the rows, and of the indexes on them."""
        ((rows, indexes),) = await self.rows(
            "select coalesce(sum(pg_table_size(relid)), 0), coalesce(sum(pg_indexes_size(relid)), 0)"
            " from pg_partition_tree(%s::regclass) where isleaf",
            vectors,
        )
        return int(rows), int(indexes)


@asynccontextmanager
async def opened(model: str, dimension: int, chunks: int) -> AsyncIterator[Box]:
    """Make the box, and take it away again.  Raises BadRequest where the disk is too small."""
    with _folder(chunks) as folder:
        running = embedded.running(Settings(home=folder))
        cluster = await anyio.to_thread.run_sync(running.__enter__)
        try:
            async with open_pool(cluster.dsn) as pool:
                tables = await prepare_model(pool, name=model, dimension=dimension)
                with Memory(cluster.pid) as memory:
                    yield Box(
                        folder=folder,
                        dsn=cluster.dsn,
                        pool=pool,
                        vectors=tables.vectors,
                        loader=PostgresLoader(pool, tables),
                        store=PostgresStore(pool, vectors=tables.vectors),
                        memory=memory,
                    )
        finally:
            running.__exit__(
                None, None, None
            )  # in this thread: a cancelled task waits for no other


@contextmanager
def _folder(chunks: int) -> Iterator[Path]:
    """Make a folder that the server's user can reach, too, and remove it at the end."""
    need = _SPARE + chunks * _BYTES_A_CHUNK
    free = shutil.disk_usage(tempfile.gettempdir()).free
    if free < need:
        raise BadRequest(
            f"--scale {chunks} may need {need / 1e9:.0f} GB in {tempfile.gettempdir()}, and "
            f"{free / 1e9:.0f} GB are free: set TMPDIR to another disk, or ask for less."
        )
    folder = Path(tempfile.mkdtemp(prefix="permitbox-bench-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def vectors_of(home: Path, model: str, most: int) -> tuple[list[bytes], Vectors]:
    """Return embedding inputs and vectors of another box's chunks: it is read, and nothing else.

    Raises BadRequest where that box has none of this model.
    """
    with (
        embedded.running(Settings(home=home.expanduser().absolute())) as cluster,
        psycopg.connect(cluster.dsn) as connection,
    ):
        connection.read_only = True
        try:
            register_vector(connection)
            found = _embeddings(connection, model, most)
        except psycopg.ProgrammingError:  # no tables, or no pgvector: a box that was never used
            found = []
    if len(found) < 2:
        raise BadRequest(f"The box in {home} holds no vectors of {model} to start from.")
    vectors = np.stack([v.to_numpy() for _, v in found]).astype(np.float32)
    return [bytes(i) for i, _ in found], vectors


def _embeddings(connection: psycopg.Connection, model: str, most: int) -> list[tuple[Any, ...]]:
    known = "select id from embedding_model where name = %s"
    row = connection.execute(known, [model]).fetchone()
    if row is None:
        return []
    query = sql.SQL("select input, vector from {} order by input limit {}").format(
        sql.Identifier(f"embedding_m{row[0]}"), sql.Literal(most)
    )
    return connection.execute(query, binary=True).fetchall()
