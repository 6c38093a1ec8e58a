"""Writing the store: a corpus file's rows, its words, vectors, and the swap of partitions.

Every step is one transaction that is either done or undone, and asks the rows
what is left to do: killed anywhere, the next run goes on.  What a reader sees of a
city changes in single commits.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import date
from typing import Any

from pgvector import HalfVector
from psycopg import AsyncConnection, sql

from appliance.domain import Chunk, City, Document, Section, Span
from appliance.errors import IngestRunning
from appliance.ports import (
    Audits,
    EncodeTask,
    Entity,
    IndexedCity,
    LoadDocument,
    LoadResult,
    StaleCity,
    UnlinkedCity,
    Vectors,
)
from appliance.store.audits import PostgresAudits
from appliance.store.database import Pool, connected
from appliance.store.edges import MENTION_COLUMNS, link_city, mention_rows
from appliance.store.history import (
    Placed,
    drop_recut,
    end_versions,
    held_versions,
    keep_first_reading,
    link_amendments,
    place,
    write_amendments,
)
from appliance.store.partitions import swap
from appliance.store.search import PostgresStore
from appliance.store.sql import statement
from appliance.store.vectors import EXACT_UP_TO, build_partition
from appliance.store.words import weigh_words

_INGEST_LOCK = 0x496E67657374  # "Ingest"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTables:
    """The two tables of one embedding model."""

    embeddings: str  # one row per distinct input
    vectors: str  # partitioned by city


async def prepare_model(pool: Pool, *, name: str, dimension: int) -> ModelTables:
    """Register a model and make its tables if they are not there."""
    async with connected(pool) as connection, connection.transaction():
        await connection.execute("select pg_advisory_xact_lock(%s)", (_INGEST_LOCK + 1,))
        cursor = await connection.execute(
            "select id, dimension from embedding_model where name = %s", (name,)
        )
        row = await cursor.fetchone()
        if row is None:
            cursor = await connection.execute(
                "insert into embedding_model (name, dimension) values (%s, %s) returning id",
                (name, dimension),
            )
            (id_,) = await cursor.fetchone() or (0,)
            await connection.execute("select make_model_tables(%s, %s)", (id_, dimension))
        else:
            id_ = row[0]
    return ModelTables(embeddings=f"embedding_m{id_}", vectors=f"chunk_embedding_m{id_}")


class PostgresLoader:
    """The writing half of the store.  Use `exclusive()` around a whole ingest."""

    def __init__(self, pool: Pool, tables: ModelTables) -> None:
        self._pool = pool
        self._tables = tables
        self.audits: Audits = PostgresAudits(pool, PostgresStore(pool, vectors=tables.vectors))
        self._lock: AsyncConnection | None = None  # the connection that holds the ingest lock

    @asynccontextmanager
    async def exclusive(self) -> AsyncIterator[None]:
        """Hold the ingest lock of this database; it goes with the connection, also on kill -9.

        Raises IngestRunning if another process holds it.
        """
        async with connected(self._pool) as connection:
            cursor = await connection.execute("select pg_try_advisory_lock(%s)", (_INGEST_LOCK,))
            row = await cursor.fetchone()
            await connection.commit()
            if not row or not row[0]:
                raise IngestRunning(
                    "Another ingest is running on this box; wait until it is done, or stop it."
                )
            self._lock = connection
            try:
                yield
            finally:
                self._lock = None
                await connection.execute("select pg_advisory_unlock(%s)", (_INGEST_LOCK,))
                await connection.commit()

    @asynccontextmanager
    async def _writing(self) -> AsyncIterator[AsyncConnection]:
        """Hand over a connection in a transaction, unless the ingest lock was lost.

        It is lost when the server was restarted; another ingest may hold it by now.
        """
        async with connected(self._pool) as connection:
            if self._lock is not None:
                await self._lock.execute("select 1")
                await self._lock.commit()
            async with connection.transaction():
                yield connection

    # -------------------------------------------------------------- rows of a file

    async def file_known(self, path: str, city: str, digest: str, pipeline: str) -> bool:
        """Tell whether this very content was read to its end before."""
        async with connected(self._pool) as connection:
            cursor = await connection.execute(
                statement("file_known"),
                {"path": path, "city": city, "digest": digest, "pipeline": pipeline},
            )
            return await cursor.fetchone() is not None

    async def versions(self, city: City, external_ids: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Return {external id: (version, pipeline)} of the current documents among the ids."""
        async with connected(self._pool) as connection, connection.transaction():
            id_ = await _city_id(connection, city)
            cursor = await connection.execute(
                statement("current_versions"), {"city": id_, "ids": list(external_ids)}
            )
            return {row[0]: (row[2], row[3]) for row in await cursor.fetchall()}

    async def load_file(
        self,
        *,
        path: str,
        city_override: str,
        digest: str,
        pipeline: str,
        documents: Sequence[LoadDocument],
        unchanged: Sequence[tuple[City, str, int]],
        rejected: int,
        reasons: Mapping[str, int],
        whole: bool,
        today: date,
    ) -> LoadResult:
        """Write all that one file brings, in one transaction.

        New and changed documents are inserted, their old versions end; unchanged ones stay.
        Documents that the file brought before and no longer has end too, if it is `whole`: a record
        that cannot be read any more is not the repeal of a law.
        """
        async with self._writing() as connection:
            cities = await _city_ids(connection, [d.city for d in documents], unchanged)
            kept = {(cities[c.id], external): at for c, external, at in unchanged}
            new = {(cities[d.city.id], d.document.external_id) for d in documents}
            gone = (
                await _retire_missing(connection, path, kept.keys() | new, today)
                if whole
                else set()
            )
            await _adopt(connection, path, kept)
            for city_id, group in _by_city(documents, cities).items():
                await _replace(connection, city_id, group, path, pipeline, today)
            for city_id in sorted({c for c, _ in new} | gone):
                await link_amendments(connection, city_id)
            weighed = {
                city_id: await self._sum_up(connection, city_id)
                for city_id in sorted({c for c, _ in new} | gone)
            }
            await connection.execute(
                statement("file_read"),
                {
                    "path": path,
                    "city": city_override,
                    "digest": digest,
                    "pipeline": pipeline,
                    "documents": len(documents) + len(unchanged),
                    "rejected": rejected,
                    "reasons": json.dumps(dict(reasons)),
                },
            )
            await connection.execute(
                statement("audit_again"), {"file": path, "cities": sorted(weighed)}
            )
            for city_id, partition in weighed.items():  # last: readers wait from here on
                await swap(connection, "posting", city_id, partition)
        return LoadResult(
            documents=len(documents),
            sections=sum(len(d.sections) for d in documents),
            chunks=sum(len(d.chunks) for d in documents),
        )

    async def _sum_up(self, connection: AsyncConnection, city_id: int) -> str:
        """Bring a city's words and counts up to its rows; return the partition to swap in."""
        partition = await weigh_words(connection, city_id)
        await connection.execute(statement("summarise_city"), {"city": city_id})
        await connection.execute(
            statement("count_encoded", embeddings=self._tables.embeddings), {"city": city_id}
        )
        await connection.execute(
            "update city set dense_ready = false, lexical_ready = true, edges_ready = false"
            " where id = %s",
            (city_id,),
        )
        return partition

    # -------------------------------------------------------------- references

    async def unlinked_cities(self) -> Sequence[UnlinkedCity]:
        """Return the cities whose graph of references is behind their rows, the smallest first."""
        async with connected(self._pool) as connection:
            cursor = await connection.execute(statement("unlinked_cities"))
            return [UnlinkedCity(id=i, slug=s, mentions=n) for i, s, n in await cursor.fetchall()]

    async def link_references(self, city: int) -> int:
        """Make the city's graph of references anew; return how many edges it has."""
        async with self._writing() as connection:
            return await link_city(connection, city)

    # -------------------------------------------------------------- vectors

    async def stale_cities(self) -> Sequence[StaleCity]:
        """Return the cities whose dense partition is behind their rows, the smallest first."""
        async with connected(self._pool) as connection:
            cursor = await connection.execute(
                statement("stale_cities"),
                {"vectors": self._tables.vectors, "exact_up_to": EXACT_UP_TO},
            )
            rows = await cursor.fetchall()
            stale = []
            for id_, slug in rows:
                cursor = await connection.execute(
                    statement("count_unencoded", embeddings=self._tables.embeddings), {"city": id_}
                )
                (left,) = await cursor.fetchone() or (0,)
                stale.append(StaleCity(id=id_, slug=slug, unencoded=left))
        return stale

    async def next_unencoded(self, city: int, limit: int) -> Sequence[EncodeTask]:
        """Return distinct embedding inputs of the city that have no vector yet."""
        async with connected(self._pool) as connection:
            cursor = await connection.execute(
                statement("unencoded", embeddings=self._tables.embeddings),
                {"city": city, "limit": limit},
            )
            return [
                EncodeTask(input=digest, crumb=crumb, titles=tuple(titles), text=text)
                for digest, crumb, titles, text in await cursor.fetchall()
            ]

    async def keep_vectors(self, tasks: Sequence[EncodeTask], vectors: Vectors) -> None:
        """Store the vectors of these inputs; one that is there already stays."""
        query = sql.SQL(
            "insert into {} (input, vector) values (%s, %s) on conflict do nothing"
        ).format(sql.Identifier(self._tables.embeddings))
        async with self._writing() as connection, connection.cursor() as cursor:
            await cursor.executemany(
                query,
                [(t.input, HalfVector(v)) for t, v in zip(tasks, vectors, strict=True)],
            )

    async def note_progress(self, city: int) -> None:
        """Bring the city's count of encoded chunks up to date."""
        async with connected(self._pool) as connection:
            await connection.execute(
                statement("count_encoded", embeddings=self._tables.embeddings), {"city": city}
            )

    async def indexed_cities(self) -> Sequence[IndexedCity]:
        """Return every city that has chunks, with what its vectors are searched through."""
        async with connected(self._pool) as connection:
            cursor = await connection.execute(
                statement("indexed_cities", vectors=self._tables.vectors),
                {"vectors": self._tables.vectors},
            )
            return [
                IndexedCity(id=i, slug=slug, vectors=count, graph=graph)
                for i, slug, count, graph in await cursor.fetchall()
            ]

    async def build_words(self, city: int) -> None:
        """Read and weigh all words of the city anew and swap its index in."""
        async with self._writing() as connection:
            await swap(connection, "posting", city, await weigh_words(connection, city, anew=True))

    async def build_progress(self) -> int:
        """Return how many vectors the graph that is being built holds; 0 if none is.

        There is one at most: whoever builds holds the ingest lock.
        """
        async with connected(self._pool) as connection:
            cursor = await connection.execute(statement("build_progress"))
            (done,) = await cursor.fetchone() or (0,)
            return int(done)

    async def build_dense(self, city: int) -> None:
        """Build the city's partition of vectors beside the old one and swap it in."""
        async with self._writing() as connection:
            partition = await build_partition(
                connection, self._tables.vectors, self._tables.embeddings, city
            )
            await connection.execute(
                statement("count_encoded", embeddings=self._tables.embeddings), {"city": city}
            )
            await connection.execute(
                "update city set dense_ready = (encoded = chunks) where id = %s", (city,)
            )
            await swap(connection, self._tables.vectors, city, partition)

    # -------------------------------------------------------------- job rows

    async def job(self, kind: str, total: int) -> int:
        """Open a row that says how far a long piece of work is; earlier open ones are closed."""
        async with connected(self._pool) as connection, connection.transaction():
            await connection.execute(
                "update job set state = 'stopped', updated_at = now()"
                " where state = 'running' and kind = %s",
                (kind,),
            )
            cursor = await connection.execute(
                "insert into job (kind, total) values (%s, %s) returning id", (kind, total)
            )
            (id_,) = await cursor.fetchone() or (0,)
            return int(id_)

    async def report(self, job: int, done: int, rate: float, *, state: str = "running") -> None:
        """Say how far the work is."""
        async with connected(self._pool) as connection:
            await connection.execute(
                "update job set done = %s, rate = %s, state = %s, updated_at = now() where id = %s",
                (done, rate, state, job),
            )


# ------------------------------------------------------------------ rows


async def _city_id(connection: AsyncConnection, city: City) -> int:
    cursor = await connection.execute(
        statement("upsert_city"), {"slug": city.id, "name": city.name, "office": city.office}
    )
    row = await cursor.fetchone()
    assert row is not None  # "returning" gives a row on insert and on update
    return int(row[0])


async def _city_ids(
    connection: AsyncConnection, cities: Iterable[City], unchanged: Sequence[tuple[City, str, int]]
) -> dict[str, int]:
    distinct = {c.id: c for c in [*(c for c, _, _ in unchanged), *cities]}
    return {slug: await _city_id(connection, city) for slug, city in distinct.items()}


def _by_city(
    documents: Sequence[LoadDocument], cities: dict[str, int]
) -> dict[int, list[LoadDocument]]:
    groups: dict[int, list[LoadDocument]] = {}
    for document in documents:
        groups.setdefault(cities[document.city.id], []).append(document)
    return groups


async def _retire_missing(
    connection: AsyncConnection, path: str, present: set[tuple[int, str]], today: date
) -> set[int]:
    """End the documents that this file brought before and has no longer; return their cities."""
    cursor = await connection.execute(statement("of_file"), {"file": path})
    gone = [r for r in await cursor.fetchall() if (r[1], r[2]) not in present]
    if gone:
        await connection.execute(
            statement("end_versions"), {"ids": [r[0] for r in gone], "untils": [today] * len(gone)}
        )
    return {r[1] for r in gone}


async def _adopt(
    connection: AsyncConnection, path: str, kept: Mapping[tuple[int, str], int]
) -> None:
    """Note that unchanged documents are this file's now, and where in it: what it drops must end.

    So a code goes on to be kept in step when its file is renamed or moved.
    """
    cities: dict[int, dict[str, int]] = {}
    for (city_id, external_id), at in kept.items():
        cities.setdefault(city_id, {})[external_id] = at
    for city_id, places in cities.items():
        await connection.execute(
            statement("adopt"),
            {
                "file": path,
                "city": city_id,
                "ids": list(places),
                "places": list(places.values()),
            },
        )


async def _replace(
    connection: AsyncConnection,
    city_id: int,
    documents: Sequence[LoadDocument],
    path: str,
    pipeline: str,
    today: date,
) -> None:
    """Insert documents and end the versions that they replace; no version is lost."""
    held = await held_versions(connection, city_id, [d.document.external_id for d in documents])
    placed = [place(d, held.get(d.document.external_id, ()), today, pipeline) for d in documents]
    await drop_recut(connection, placed)
    await end_versions(connection, placed)
    await _copy_rows(connection, city_id, placed, path, pipeline)
    await keep_first_reading(connection, city_id, placed)
    await write_amendments(connection, city_id, [p.loaded for p in placed])


async def _next_ids(connection: AsyncConnection, table: str, count: int) -> list[int]:
    cursor = await connection.execute(
        "select nextval(pg_get_serial_sequence(%s, 'id')) from generate_series(1, %s)",
        (table, count),
    )
    return [row[0] for row in await cursor.fetchall()]


async def _copy_rows(
    connection: AsyncConnection,
    city_id: int,
    placed: Sequence[Placed],
    path: str,
    pipeline: str,
) -> None:
    documents = [p.loaded for p in placed]
    document_ids = await _next_ids(connection, "document", len(documents))
    section_ids = await _next_ids(connection, "section", sum(len(d.sections) for d in documents))
    await _copy(
        connection,
        "document (id, city_id, external_id, version, digest, kind, title, body, url, publisher,"
        " fetched_at, effective_from, effective_until, superseded_by, dated_by_box, file, pipeline,"
        " place) ",
        (
            _document_row(id_, city_id, p, path, pipeline)
            for id_, p in zip(document_ids, placed, strict=True)
        ),
    )
    chunk_ids = iter(await _next_ids(connection, "chunk", sum(len(d.chunks) for d in documents)))
    sections, labels, chunks, texts, entities = [], [], [], [], []
    mentions: list[tuple[Any, ...]] = []
    position = 0
    for document_id, d in zip(document_ids, documents, strict=True):
        ids = section_ids[position : position + len(d.sections)]
        position += len(d.sections)
        for i, (section, crumb) in enumerate(zip(d.sections, d.crumbs, strict=True)):
            sections.append(_section_row(ids[i], city_id, document_id, i, section, crumb))
        mentions += mention_rows(city_id, d, ids)
        entities += [_entity_row(city_id, ids[at], entity) for at, entity in d.entities]
        labels += [(city_id, lb.kind, lb.number, lb.weight, ids[lb.section]) for lb in d.labels]
        for chunk, digest in d.chunks:
            searchable = d.sections[chunk.section].standing == "in_force"
            texts.append(_text_row(id_ := next(chunk_ids), chunk, d.document.body))
            chunks.append(
                (id_, city_id, document_id, ids[chunk.section], chunk.ordinal, chunk.span.start)
                + (chunk.span.end, chunk.kind.value, chunk.tokens, digest, searchable)
                + (_edges(chunk.titles), _edges([chunk.header] if chunk.header else []))
            )
    await _copy(
        connection,
        "section (id, city_id, document_id, position, parent, external_id, citation, number,"
        " heading, path, span_start, span_end, standing, crumb, inside) ",
        sections,
    )
    await _copy(connection, "section_label (city_id, kind, number, weight, section_id) ", labels)
    await _copy(
        connection,
        "chunk (id, city_id, document_id, section_id, ordinal, span_start, span_end, kind, tokens,"
        " input, searchable, titles, header) ",
        chunks,
    )
    await _copy(connection, "chunk_text (chunk_id, text, titles, header) ", texts)
    await _copy(connection, MENTION_COLUMNS, mentions)
    await _copy(
        connection,
        "entity (city_id, section_id, kind, value, unit, bound, span_start, span_end) ",
        entities,
    )


def _text_row(id_: int, chunk: Chunk, body: str) -> tuple[Any, ...]:
    titles = [title.of(body) for title in chunk.titles]
    return (id_, chunk.text, titles, None if chunk.header is None else chunk.header.of(body))


def _entity_row(city_id: int, section_id: int, e: Entity) -> tuple[Any, ...]:
    return (city_id, section_id, e.kind, e.value, e.unit, e.bound, e.span.start, e.span.end)


def _document_row(
    id_: int, city_id: int, placed: Placed, path: str, pipeline: str
) -> tuple[Any, ...]:
    doc: Document = placed.loaded.document
    version = placed.loaded.version
    return (
        (id_, city_id, doc.external_id, version, doc.digest, doc.kind, doc.title, doc.body)
        + (doc.source.url, doc.source.publisher, doc.source.fetched_at)
        + (placed.begins, doc.effective_until, doc.superseded_by, placed.dated_by_box)
        + (path, pipeline, placed.loaded.place)
    )


def _section_row(
    id_: int, city_id: int, document_id: int, position: int, s: Section, crumb: str
) -> tuple[Any, ...]:
    return (id_, city_id, document_id, position, s.parent, s.external_id, s.citation, s.number) + (
        s.heading,
        list(s.path),
        s.span.start,
        s.span.end,
        s.standing.value,
        crumb,
        s.inside,
    )


async def _copy(connection: AsyncConnection, target: str, rows: Iterable[tuple[Any, ...]]) -> None:
    async with connection.cursor() as cursor, cursor.copy(f"copy {target} from stdin") as copy:
        for row in rows:
            await copy.write_row(row)


def _edges(spans: Sequence[Span]) -> list[int]:
    return [edge for span in spans for edge in (span.start, span.end)]
