"""Looking up numbers in the registry by their keys: a part of the store that questions are read with."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

from appliance.domain import ChunkId, CityId, SectionId, Standing
from appliance.ports import MOST_BEARERS, Bearer, Only
from appliance.store.database import Pool, connected
from appliance.store.sql import statement


class PostgresRegister:
    """The registry over a pool."""

    _pool: Pool

    async def bearing(
        self,
        city: CityId,
        keys: Sequence[str],
        kinds: Sequence[str],
        within: Sequence[tuple[Sequence[str], Sequence[str]]] = (),
    ) -> Sequence[Bearer]:
        """Return sections that bear a number with one of the keys, within all of the containers."""
        rows = [
            (place, kind, key)
            for place, (unit, numbers) in enumerate(within)
            for kind in unit
            for key in numbers
        ]
        return await self._bearers(
            "bearing",
            city=city,
            keys=list(keys),
            kinds=list(kinds),
            containers=len(within),
            places=[place for place, _, _ in rows],
            within_kinds=[kind for _, kind, _ in rows],
            within_keys=[key for _, _, key in rows],
        )

    async def beneath(self, city: CityId, key: str) -> Sequence[Bearer]:
        """Return the sections whose own number goes on from the key."""
        return await self._bearers("beneath", city=city, key=key)

    async def first_chunks(
        self, sections: Sequence[SectionId], as_of: date, only: Only = None
    ) -> dict[SectionId, ChunkId]:
        """Return the first searchable chunk in force of each section that has one."""
        parameters = {
            "sections": [int(s) for s in sections],
            "as_of": as_of,
            "only": None if only is None else [int(s) for s in only],
        }
        async with connected(self._pool) as connection:
            cursor = await connection.execute(statement("first_chunks"), parameters)
            rows = await cursor.fetchall()
        return {SectionId(section): ChunkId(chunk) for section, chunk in rows}

    async def _bearers(self, name: str, **parameters: Any) -> list[Bearer]:
        async with connected(self._pool) as connection:
            parameters |= {"most": MOST_BEARERS}
            cursor = await connection.execute(statement(name), parameters)
            return [_bearer(row) for row in await cursor.fetchall()]


def _bearer(row: tuple[Any, ...]) -> Bearer:
    kind, number, weight, section, external_id, citation, heading, path, standing, *dates = row
    return Bearer(
        section=SectionId(section),
        external_id=external_id,
        citation=citation,
        heading=heading,
        path=tuple(path),
        kind=kind,
        number=number,
        weight=weight,
        standing=Standing(standing),
        effective_from=dates[0],
        effective_until=dates[1],
        doc_type=dates[2],
    )
