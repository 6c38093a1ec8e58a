"""The audit's half of the store: a city's facts out, verdicts and overrides in.

Every write is one transaction.  Nothing is judged here.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import date, datetime
from typing import Any

import numpy as np

from appliance.corpus.words import terms
from appliance.domain import CityId, Span, State, StoredSection
from appliance.ports import Coverage, Probe, Probed, Refused, Searcher, Verdict
from appliance.store.database import Pool, connected
from appliance.store.postings import Ids, summed
from appliance.store.rows import identity_of
from appliance.store.sql import statement
from appliance.store.words import postings_of

_NONE: Ids = np.empty(0, np.int64)


class PostgresAudits:
    """What an audit reads and writes, over a pool and the store's reading half."""

    def __init__(self, pool: Pool, store: Searcher) -> None:
        self._pool = pool
        self._store = store

    async def due(self) -> Sequence[CityId]:
        """Return the cities that were never audited or have changed since, the smallest first."""
        return [CityId(slug) for (slug,) in await self._rows("audits_due")]

    async def held(self, city: CityId) -> Coverage:
        """Return what is held of the city, with what the last audit said.  Raises NoSuchCity."""
        return await self._store.coverage(city)

    async def counts(self, city: CityId) -> tuple[int, datetime | None, bool]:
        """Return the current documents, the newest time of fetching, and if some came by `--city`."""
        ((documents, fetched, claimed),) = await self._rows("audit_counts", city=city)
        return documents, fetched, bool(claimed)

    async def law(self, city: CityId) -> AsyncIterator[StoredSection]:
        """Yield every section of the city's current versions, document by document."""
        async with connected(self._pool) as connection, connection.cursor(name="law") as cursor:
            cursor.itersize = 500
            await cursor.execute(statement("law_of_city"), {"city": city})
            body = ""
            async for *identity, url, start, end, whole in cursor:
                body = body if whole is None else whole
                text = Span(start=start, end=end).of(body)
                yield StoredSection(**identity_of(identity), text=text, url=url)

    async def refused(self, city: CityId) -> Sequence[Refused]:
        """Return what was turned away of each file that brought something of the city."""
        return [
            Refused(
                file=file,
                held=held,
                of_all=of_all,
                rejected=rejected or 0,
                reasons=reasons or {},
                barren=bool(barren),
                empty=empty,
            )
            for file, held, of_all, rejected, reasons, barren, empty in await self._rows(
                "refused_of_city", city=city
            )
        ]

    async def probe(self, city: CityId, probe: Probe, day: date) -> Probed:
        """Return how many chunks in force on the day hold a word of each of the probe's groups."""
        groups = [set(terms(" ".join(words))) for words in probe.groups]
        async with connected(self._pool) as connection:
            row = await (await connection.execute(statement("city_id"), {"slug": city})).fetchone()
            wanted = {term for group in groups for term in group}
            held, _, average = await postings_of(connection, row[0] if row else 0, wanted)
            found = summed([p.chunks for p in held], [p.weights(average) for p in held])
            for group in groups:
                of_group = [p.chunks for p in held if p.term in group]
                found = found.among(np.concatenate([_NONE, *of_group]))
            cursor = await connection.execute(
                statement("probe"),
                {"ids": found.chunks.tolist(), "scores": found.scores.tolist(), "day": day},
            )
            ((hits, example, example_id),) = await cursor.fetchall()
        return Probed(probe=probe.name, hits=hits, example=example, example_id=example_id)

    async def keep(self, city: CityId, verdict: Verdict) -> None:
        """Write the verdict; the city's state follows it, unless an admin has set another."""
        async with connected(self._pool) as connection, connection.transaction():
            await connection.execute(
                statement("keep_audit"),
                {
                    "city": city,
                    "verdict": verdict.state.value,
                    "coverage": verdict.coverage,
                    "reasons": [f.reason for f in verdict.findings],
                    "fix": verdict.findings[0].fix if verdict.findings else None,
                },
            )
            await connection.execute(statement("settle_state"), {"city": city})

    async def override(self, city: CityId, state: State, *, because: str, who: str) -> None:
        """Set the city's state against its audit; an earlier override ends."""
        async with connected(self._pool) as connection, connection.transaction():
            await connection.execute(statement("clear_override"), {"city": city})
            await connection.execute(
                statement("keep_override"),
                {"city": city, "state": state.value, "because": because, "who": who},
            )
            await connection.execute(statement("settle_state"), {"city": city})

    async def clear(self, city: CityId) -> bool:
        """End the city's override; tell whether there was one."""
        async with connected(self._pool) as connection, connection.transaction():
            cursor = await connection.execute(statement("clear_override"), {"city": city})
            was_set = await cursor.fetchone() is not None
            await connection.execute(statement("settle_state"), {"city": city})
            return was_set

    async def _rows(self, name: str, **parameters: Any) -> list[tuple[Any, ...]]:
        async with connected(self._pool) as connection:
            cursor = await connection.execute(statement(name), parameters)
            return await cursor.fetchall()
