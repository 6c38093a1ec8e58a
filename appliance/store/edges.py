"""The graph of a city's sections: contains, next, cites and defines, made anew when rows changed.

What a text mentions is stored with its section.  Where a mention leads depends on
all the city's sections, so that it is worked out once per changed city, in one
transaction: killed, it is done again.  What enacted laws amend is in `history`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import anyio.to_thread
from psycopg import AsyncConnection

from appliance.corpus.labels import CAPTION
from appliance.corpus.resolution import (
    Container,
    Entry,
    Node,
    Registry,
    part_of_heading,
)
from appliance.domain import CityId, Mention, Part, Span, Standing
from appliance.errors import BadRequest
from appliance.ports import CrossReference, LoadDocument
from appliance.store.database import Pool, connected
from appliance.store.sql import statement

EDGE_COLUMNS = (
    "edge (city_id, kind, from_section, from_container, to_section, to_container, mention_id,"
    " unresolved, candidates) "
)
MENTION_COLUMNS = (
    "mention (city_id, section_id, role, kind, unit, number, within, law, span_start, span_end) "
)
EdgeRow = tuple[
    int, str, int | None, int | None, int | None, int | None, int | None, str | None, list[int]
]


# ------------------------------------------------------------------ rows of a document


def mention_rows(
    city_id: int, loaded: LoadDocument, section_ids: Sequence[int]
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of what a document's sections mention and define."""
    for position, mention in loaded.mentions:
        yield (
            *(city_id, section_ids[position], "cites", mention.kind, mention.unit, mention.number),
            *([w for p in mention.within for w in (p.unit, p.number)], mention.law),
            *(mention.span.start, mention.span.end),
        )
    for position, definition in loaded.definitions:
        yield (
            *(city_id, section_ids[position], "defines", "term", "term", definition.term, [], ""),
            *(definition.span.start, definition.span.end),
        )


# ------------------------------------------------------------------ edges of a city


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stored:
    """A stored mention."""

    id: int
    section: int
    mention: Mention | None  # None: a definition


async def link_city(connection: AsyncConnection, city_id: int) -> int:
    """Make all edges of a city anew in the caller's transaction; return how many there are."""
    cursor = await connection.execute(statement("city_name"), {"city": city_id})
    (name,) = await cursor.fetchone() or ("",)
    entries = await _entries(connection, city_id)
    stored = await _mentions(connection, city_id)
    words = re.findall(r"[a-z0-9]+", name.casefold())
    registry = await anyio.to_thread.run_sync(Registry, entries, words)
    await connection.execute(statement("drop_edges"), {"city": city_id})
    await connection.execute(statement("drop_containers"), {"city": city_id})
    containers = await _keep_containers(connection, city_id, registry.containers())
    rows = await anyio.to_thread.run_sync(_edges, city_id, registry, stored, containers)
    async with (
        connection.cursor() as cursor,
        cursor.copy(f"copy {EDGE_COLUMNS} from stdin") as copy,
    ):
        for row in rows:
            await copy.write_row(row)
    await connection.execute(statement("edges_are_ready"), {"city": city_id})
    return len(rows)


async def _entries(connection: AsyncConnection, city_id: int) -> list[Entry]:
    cursor = await connection.execute(
        statement("registry_entries"), {"city": city_id, "captioned": CAPTION}
    )
    return [
        Entry(
            key=id_,
            external_id=external_id,
            document=document,
            citation=citation,
            number=number,
            heading=heading,
            path=tuple(path),
            standing=Standing(standing),
            tables=tuple(tables),
        )
        for id_, external_id, document, citation, number, heading, path, standing, tables in (
            await cursor.fetchall()
        )
    ]


async def _mentions(connection: AsyncConnection, city_id: int) -> list[_Stored]:
    cursor = await connection.execute(statement("city_mentions"), {"city": city_id})
    return [
        _Stored(id=id_, section=section, mention=_mention(*rest) if role == "cites" else None)
        for id_, section, role, *rest in await cursor.fetchall()
    ]


def _mention(
    kind: str, unit: str, number: str, within: Sequence[str], law: str, start: int, end: int
) -> Mention:
    return Mention(
        kind=kind,
        unit=unit,
        number=number,
        span=Span(start=start, end=end),
        within=tuple(
            Part(unit=u, number=n) for u, n in zip(within[::2], within[1::2], strict=True)
        ),
        law=law,
    )


async def _keep_containers(
    connection: AsyncConnection, city_id: int, containers: Sequence[Container]
) -> dict[tuple[str, ...], int]:
    """Store the containers; return the id of each path."""
    cursor = await connection.execute(
        "select nextval(pg_get_serial_sequence('container', 'id')) from generate_series(1, %s)",
        (len(containers),),
    )
    ids = [row[0] for row in await cursor.fetchall()]
    columns = "container (id, city_id, path, unit, number)"
    async with connection.cursor() as cursor, cursor.copy(f"copy {columns} from stdin") as copy:
        for id_, container in zip(ids, containers, strict=True):
            part = part_of_heading(container.path[-1])
            await copy.write_row(
                (id_, city_id, list(container.path), part and part.unit, part and part.number)
            )
    return {c.path: id_ for id_, c in zip(ids, containers, strict=True)}


def _edges(
    city_id: int,
    registry: Registry,
    stored: Iterable[_Stored],
    containers: dict[tuple[str, ...], int],
) -> list[EdgeRow]:
    """Return every edge of a city."""
    entries = {e.key: e for e in registry.entries}
    nodes: list[Node] = [*registry.containers(), *registry.entries]
    contains: list[EdgeRow] = [
        (city_id, "contains", *_ends(parent, containers), *_ends(node, containers), None, None, [])
        for node in nodes
        if (parent := registry.parent_of(node))
    ]
    following: list[EdgeRow] = [
        (city_id, "next", entry.key, None, other.key, None, None, None, [])
        for entry in registry.entries
        if (other := registry.next_of(entry))
    ]
    written = [
        _edge_of(city_id, registry, entries[item.section], item, containers) for item in stored
    ]
    return [*contains, *following, *written]


def _edge_of(
    city_id: int,
    registry: Registry,
    source: Entry,
    item: _Stored,
    containers: dict[tuple[str, ...], int],
) -> EdgeRow:
    if item.mention is None:
        return (city_id, "defines", source.key, None, None, None, item.id, None, [])
    found = registry.resolve(item.mention, source)
    ends = (None, None) if found.target is None else _ends(found.target, containers)
    reason = None if found.reason is None else found.reason.value
    candidates = [c.key for c in found.candidates if isinstance(c, Entry)]
    return (city_id, "cites", source.key, None, *ends, item.id, reason, candidates)


def _ends(node: Node, containers: dict[tuple[str, ...], int]) -> tuple[int | None, int | None]:
    """Return (section, container): one of them is None."""
    return (node.key, None) if isinstance(node, Entry) else (None, containers[node.path])


# ------------------------------------------------------------------ reading


class PostgresEdges:
    """Reading the graph."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def references(self, city: CityId, number: str | None) -> list[CrossReference]:
        """Return what the current sections of a city cite, in reading order; of one number both ways.

        Raises BadRequest if the city has no section of that number.
        """
        async with connected(self._pool) as connection:
            cursor = await connection.execute("select id from city where slug = %s", (city,))
            (city_id,) = await cursor.fetchone() or (0,)
            sections = None
            if number is not None:
                sections = await _numbered(connection, city_id, number)
                if not sections:
                    raise BadRequest(f"{city} has no section {number} in its current code.")
            cursor = await connection.execute(
                statement("refs"), {"city": city_id, "section": sections}
            )
            return [_cross_reference(*row) for row in await cursor.fetchall()]


async def _numbered(connection: AsyncConnection, city_id: int, number: str) -> list[int]:
    cursor = await connection.execute(
        statement("sections_numbered"), {"city": city_id, "number": number}
    )
    return [row[0] for row in await cursor.fetchall()]


def _cross_reference(
    source: str,
    source_citation: str,
    target: str | None,
    target_citation: str | None,
    text: str,
    kind: str,
    reason: str | None,
    start: int,
    end: int,
    candidates: Sequence[str],
    standing: str | None,
) -> CrossReference:
    return CrossReference(
        source=source,
        source_citation=source_citation,
        target=target,
        target_citation=target_citation,
        text=text,
        kind=kind,
        reason=reason,
        span=Span(start=start, end=end),
        candidates=tuple(candidates),
        standing=None if standing is None else Standing(standing),
    )
