"""Reading the store: the three legs, the registry, coverage.

Each leg is one transaction within one city; the index policy is here and in
`vectors`, not the planner's.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
from pgvector import HalfVector
from psycopg import AsyncConnection

from appliance.corpus.references import Kind
from appliance.corpus.words import terms
from appliance.domain import (
    ChunkId,
    ChunkKind,
    City,
    CityId,
    Having,
    Hit,
    Leg,
    SectionId,
    Span,
    Standing,
    State,
    StoredSection,
)
from appliance.errors import NoSuchCity, NoSuchSection
from appliance.ports import (
    Audit,
    ChunkPreview,
    Coverage,
    FoundChunk,
    Only,
    Override,
    Shortfall,
    Vectors,
)
from appliance.store.absence import PostgresScanner
from appliance.store.cited import PostgresCited
from appliance.store.database import Pool, connected
from appliance.store.naming import PostgresRegister
from appliance.store.postings import Ranking, bm25
from appliance.store.rows import section_of
from appliance.store.sql import statement
from appliance.store.vectors import DenseIndex, ef_search
from appliance.store.words import postings_of

_log = logging.getLogger(__name__)

# Where a city holds past and future versions, a search looks at so many times k vectors to find k that
# are in force; if that is not enough, at all that are.
_PASSED_OVER = 2


_SECTION_KINDS = ["section", "table", "appendix", "chapter", "article", "part", "whole"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _CityRow:
    id: int
    slug: CityId
    settled_from: date | None
    settled_until: date | None
    dense_ready: bool
    index: DenseIndex

    def settled(self, day: date) -> bool:
        """Tell whether on `day` every stored version is in force, so that no filter is needed."""
        return (self.settled_from is None or self.settled_from <= day) and (
            self.settled_until is None or day < self.settled_until
        )


class PostgresStore(PostgresRegister, PostgresScanner, PostgresCited):
    """The store over a pool; `vectors` is the partitioned table of the encoder's model."""

    def __init__(self, pool: Pool, *, vectors: str) -> None:
        self._pool = pool
        self._vectors = vectors
        self.on_short: Callable[[Shortfall], None] = _log_short  # whoever counts these sets it

    async def cities(self) -> Sequence[Coverage]:
        """Return every city with what is held of it, by id."""
        return [_coverage(row) for row in await self._rows("cities")]

    async def coverage(self, city: CityId) -> Coverage:
        """Return what is held of one city.  Raises NoSuchCity with the nearest names."""
        for coverage in await self.cities():
            if coverage.city.id == city:
                return coverage
        raise await self._no_such_city(city)

    async def sections_having(self, city: CityId, having: Sequence[Having]) -> Sequence[SectionId]:
        """Return the sections that hold all of these entities."""
        wanted = list(dict.fromkeys(having))
        rows = await self._rows(
            "sections_having",
            city=city,
            kinds=[h.kind for h in wanted],
            values=[h.value for h in wanted],
            units=[h.unit for h in wanted],
            count=len(wanted),
        )
        return [SectionId(section) for (section,) in rows]

    async def dense(
        self, city: CityId, vector: Vectors, k: int, as_of: date, only: Only = None
    ) -> Sequence[Hit]:
        """Return the k nearest chunks in force by cosine; none before the city is encoded.

        Exactly in a small city; in a big one through its HNSW index, unless that gives fewer than k
        or the search is among given sections.  Always min(k, those that may be found) rows.
        """
        search = {"vector": HalfVector(vector), "k": k, "as_of": as_of, "only": _ids(only)}
        async with connected(self._pool) as connection:
            row = await self._city(connection, city)
            search["city"] = row.id
            # Of versions that are not in force on the day, more have to be passed over.
            search["depth"] = k * (1 if row.settled(as_of) else _PASSED_OVER)
            if only is None and row.index.graph_for():
                rows = await self._walk(connection, row, search)
                if len(rows) == k:
                    return _hits(rows, "dense", "hnsw")
            rows = await self._scan(connection, row, search)
            if len(rows) < k and row.dense_ready:
                await self._check(connection, row, search, len(rows))
        return _hits(rows, "dense", "exact")

    async def _walk(
        self, connection: AsyncConnection, row: _CityRow, search: dict[str, Any]
    ) -> list[tuple[Any, ...]]:
        settings = {
            "ef_search": ef_search(search["depth"], row.index.rows),
            "rows": row.index.rows,
        }
        await _fetch(connection, "walk_settings", {}, settings)
        rows = await self._ranked(connection, "dense_walk", search)
        await _fetch(connection, "scan_settings", {}, {})
        return rows

    async def _scan(
        self, connection: AsyncConnection, row: _CityRow, search: dict[str, Any]
    ) -> list[tuple[Any, ...]]:
        if search["only"] is None:
            rows = await self._ranked(connection, "dense_scan", search)
            if len(rows) == search["k"] or row.settled(search["as_of"]):
                return rows
        return await self._ranked(connection, "dense_among", search)

    async def _ranked(
        self, connection: AsyncConnection, name: str, search: dict[str, Any]
    ) -> list[tuple[Any, ...]]:
        # Never prepared: a generic plan would be made for all partitions, with an index or without.
        vectors = {"vectors": self._vectors}
        return await _fetch(connection, name, vectors, search, prepare=False)

    async def _check(
        self, connection: AsyncConnection, row: _CityRow, search: dict[str, Any], rows: int
    ) -> None:
        """Tell of a search that gave less than there is."""
        ((eligible,),) = await _fetch(connection, "eligible", {}, search)
        if rows < (promised := min(search["k"], eligible)):
            self.on_short(Shortfall(city=row.slug, leg="dense", rows=rows, promised=promised))

    async def lexical(
        self, city: CityId, text: str, k: int, as_of: date, only: Only = None
    ) -> Sequence[Hit]:
        """Return the k best chunks in force by BM25; none if no term of the text is in the city."""
        async with connected(self._pool) as connection:
            row = await self._city(connection, city)
            postings, chunks, average = await postings_of(connection, row.id, terms(text))
            ranking = bm25(postings, chunks=chunks, average=average)
            if only is not None:
                ids = await _fetch(connection, "chunks_of_sections", {}, {"only": _ids(only)})
                ranking = ranking.among(np.array([id_ for (id_,) in ids], np.int64))
            rows = await _best_in_force(connection, ranking, k, as_of)
        return _hits(rows, "lexical", "exact")

    async def frequencies(self, city: CityId, terms: Sequence[str]) -> dict[str, int]:
        """Return in how many chunks of the city each term occurs (absent: nowhere)."""
        return dict(await self._rows("frequencies", city=city, terms=list(terms)))

    async def named(
        self, city: CityId, numbers: Sequence[str], k: int, as_of: date, only: Only = None
    ) -> Sequence[Hit]:
        """Return the chunks of the sections that bear one of the numbers, own numbers first."""
        if not numbers:
            return []
        search = {"numbers": list(numbers), "k": k, "as_of": as_of, "only": _ids(only)}
        async with connected(self._pool) as connection:
            row = await self._city(connection, city)
            parameters = {**search, "city": row.id, "kinds": _SECTION_KINDS}
            rows = await _fetch(connection, "named", {}, parameters)
        return _hits([(c, s, 1.0 / (1.0 + w)) for c, s, w in rows], "named")

    async def chunks(self, ids: Sequence[ChunkId]) -> Sequence[FoundChunk]:
        """Return the chunks with their whole sections, in the order of `ids`.

        A section's text is read once, however many of its chunks are asked for; of a law of two
        million characters that is still costly: `previews` are for lists of candidates.
        """
        rows = await self._rows("chunks", ids=list(ids))
        sections = await self._sections({row[1] for row in rows})
        found = {
            row[0]: FoundChunk(
                id=ChunkId(row[0]),
                section=sections[row[1]],
                span=Span(start=row[2], end=row[3]),
                kind=ChunkKind(row[4]),
                leads=_spans(row[5]),
            )
            for row in rows
            if row[1] in sections  # a version may be cut anew between the two statements
        }
        return [found[i] for i in ids if i in found]

    async def previews(self, ids: Sequence[ChunkId]) -> Sequence[ChunkPreview]:
        """Return the chunks with their own words and facts of their sections, in the order of `ids`."""
        found = {row[0]: _preview(row) for row in await self._rows("previews", ids=list(ids))}
        return [found[i] for i in ids if i in found]

    async def section(self, section: SectionId) -> StoredSection:
        """Return one section.  Raises NoSuchSection."""
        found = await self._sections([section])
        if section not in found:
            raise NoSuchSection(section)
        return found[section]

    async def _sections(self, ids: Collection[int]) -> dict[int, StoredSection]:
        rows = await self._rows("sections", ids=list(ids))
        return {row[0]: section_of(row) for row in rows}

    async def by_number(
        self,
        city: CityId | None,
        numbers: Sequence[str],
        kinds: Sequence[Kind | str] = ("section", "whole"),
        limit: int = 200,
    ) -> Sequence[StoredSection]:
        """Return every section that bears one of the numbers, own numbers first, past ones last."""
        rows = await self._rows(
            "by_label", numbers=list(numbers), kinds=list(kinds), city=city, limit=limit
        )
        return [section_of(row) for row in rows]

    async def known_labels(self, city: CityId, numbers: Sequence[str]) -> set[tuple[str, str]]:
        """Return which (kind, number) of the numbers exist in the city."""
        rows = await self._rows("known_labels", city=city, numbers=list(numbers))
        return {(kind, number) for kind, number in rows}

    # -------------------------------------------------------------- below: plumbing

    async def _rows(
        self, name: str, identifiers: dict[str, str] | None = None, **parameters: Any
    ) -> list[tuple[Any, ...]]:
        async with connected(self._pool) as connection:
            return await _fetch(connection, name, identifiers or {}, parameters)

    async def _city(self, connection: AsyncConnection, city: CityId) -> _CityRow:
        rows = await _fetch(
            connection, "searched_city", {}, {"slug": city, "vectors": self._vectors}
        )
        if not rows:
            raise await self._no_such_city(city)
        id_, since, until, dense_ready, vectors, hnsw = rows[0]
        return _CityRow(
            id=id_,
            slug=city,
            settled_from=since,
            settled_until=until,
            dense_ready=dense_ready,
            index=DenseIndex(rows=vectors, hnsw=hnsw),
        )

    async def _no_such_city(self, city: str) -> NoSuchCity:
        rows = await self._rows("nearest_cities", slug=city, prefix=f"{city[:4]}%")
        return NoSuchCity(city, [slug for (slug,) in rows])


async def _fetch(
    connection: AsyncConnection,
    name: str,
    identifiers: dict[str, str],
    parameters: dict[str, Any],
    *,
    prepare: bool | None = None,
) -> list[tuple[Any, ...]]:
    cursor = await connection.execute(statement(name, **identifiers), parameters, prepare=prepare)
    return await cursor.fetchall()


async def _best_in_force(
    connection: AsyncConnection, ranking: Ranking, k: int, as_of: date
) -> list[tuple[Any, ...]]:
    """Return (chunk, section, score) of the k best of a ranking that may be found.

    As most of a city is in force, few more than k have to be looked at; where it is not, all are.
    """
    depth = 2 * k
    while True:
        best = dict(ranking.best(depth))
        search = {"ids": list(best), "k": k, "as_of": as_of}
        rows = await _fetch(connection, "in_force", {}, search)
        if len(rows) == k or depth >= len(ranking):
            return [(chunk, section, best[chunk]) for chunk, section in rows]
        depth *= 8


def _hits(rows: Sequence[tuple[Any, ...]], leg: Leg, path: str = "") -> list[Hit]:
    return [
        Hit(
            chunk=ChunkId(chunk),
            section=SectionId(section),
            leg=leg,
            rank=rank,
            score=float(score),
            path=path,
        )
        for rank, (chunk, section, score) in enumerate(rows, start=1)
    ]


def _log_short(shortfall: Shortfall) -> None:
    _log.error("A search gave less than there is: %s.", shortfall)


def _ids(only: Only) -> list[int] | None:
    return None if only is None else [int(section) for section in only]


def _spans(edges: Sequence[int]) -> tuple[Span, ...]:
    return tuple(Span(start=a, end=b) for a, b in zip(edges[::2], edges[1::2], strict=True))


def _coverage(row: tuple[Any, ...]) -> Coverage:
    slug, name, office, sections, chunks, encoded, newest, topics, dense_ready, state, *audit = row
    return Coverage(
        city=City(id=CityId(slug), name=name, office=office),
        sections=sections,
        chunks=chunks,
        newest=newest,
        encoded=encoded,
        dense_ready=dense_ready,
        topics=tuple(topics),
        state=State(state),
        audit=_audit(audit),
    )


def _audit(row: Sequence[Any]) -> Audit | None:
    verdict, coverage, reasons, fix, *override = row
    if verdict is None:
        return None
    return Audit(
        verdict=State(verdict),
        coverage=coverage,
        reasons=tuple(reasons),
        fix=fix,
        override=_override(override),
    )


def _override(row: Sequence[Any]) -> Override | None:
    state, because, who, made_at, verdict = row
    if state is None:
        return None
    return Override(
        state=State(state), because=because, who=who, made_at=made_at, verdict=State(verdict)
    )


def _preview(row: Sequence[Any]) -> ChunkPreview:
    return ChunkPreview(
        id=ChunkId(row[0]),
        section=SectionId(row[1]),
        document=row[2],
        city=CityId(row[3]),
        external_id=row[4],
        citation=row[5],
        number=row[6],
        heading=row[7],
        path=tuple(row[8]),
        crumb=row[9],
        inside=row[10],
        length=row[11],
        standing=Standing(row[12]),
        effective_from=row[13],
        effective_until=row[14],
        doc_type=row[15],
        span=Span(start=row[16], end=row[17]),
        ordinal=row[18],
        kind=ChunkKind(row[19]),
        text=row[20],
        titles=tuple(row[21]),
        header=row[22],
    )
