"""Reading a city's law whole: a part of the store that negative proofs are made with."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

from appliance.domain import CityId, SectionId, Span
from appliance.ports import DefinedTerm, ReadSection, WholeReading
from appliance.store.database import Pool, connected
from appliance.store.sql import statement


class PostgresScanner:
    """The scan over a pool."""

    _pool: Pool

    async def scan(self, city: CityId, pattern: str, as_of: date) -> WholeReading:
        """Read every searchable section in force, and return those in which the pattern occurs."""
        parameters = {"city": city, "pattern": pattern, "as_of": as_of}
        async with connected(self._pool) as connection:
            cursor = await connection.execute(statement("scan"), parameters)
            rows = await cursor.fetchall()
        return WholeReading(
            sections=rows[0][0],
            found=tuple(_read(row) for _, *row in rows if row[0] is not None),
        )

    async def defined_in(self, sections: Sequence[SectionId]) -> Sequence[DefinedTerm]:
        """Return the terms that these sections define."""
        async with connected(self._pool) as connection:
            cursor = await connection.execute(
                statement("defined_in"), {"sections": [int(s) for s in sections]}
            )
            rows = await cursor.fetchall()
        return [
            DefinedTerm(section=SectionId(section), term=term, span=Span(start=start, end=end))
            for section, term, start, end in rows
        ]


def _read(row: Sequence[Any]) -> ReadSection:
    section, external_id, citation, heading, path, inside, begins, words = row
    return ReadSection(
        section=SectionId(section),
        external_id=external_id,
        citation=citation,
        heading=heading,
        path=tuple(path),
        inside=inside,
        begins=begins,
        words=words,
    )
