"""What changed in a city's law, since the last ingest or since a day.

Since the last ingest, or a day on which the box held the city already, what it held then is compared
with what it holds now.  Since an earlier day, the law in force before that day is compared with the
law in force today, as far as its versions are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Literal, Protocol

from appliance.corpus.versions import Changes, Entry, compare
from appliance.domain import CityId

Basis = Literal["last ingest", "held before", "law in force"]


class History(Protocol):
    """What the store remembers of earlier states."""

    async def before_last_run(self, city: CityId) -> datetime | None:
        """Return the moment before the last ingest that changed the city; None before the first."""
        ...

    async def held(self, city: CityId, day: date) -> datetime | None:
        """Return the beginning of the day if the box held something of the city before it."""
        ...

    async def since(
        self, city: CityId, moment: datetime | None
    ) -> tuple[Sequence[Entry], Sequence[Entry]]:
        """Return what the box held of the changed documents at the moment, and what it holds now."""
        ...

    async def in_force(self, city: CityId, day: date) -> Sequence[Entry]:
        """Return what of the city was law on the day."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The changes, and between what."""

    basis: Basis
    since: datetime | date | None  # None: since the box first read the city
    changes: Changes


async def difference(
    history: History, city: CityId, *, since: date | None, today: date
) -> Difference:
    """Return what changed in the city since the day, or by the last ingest that changed it."""
    if since is None:
        moment = await history.before_last_run(city)
        before, after = await history.since(city, moment)
        return Difference(basis="last ingest", since=moment, changes=compare(before, after))
    if moment := await history.held(city, since):
        before, after = await history.since(city, moment)
        return Difference(basis="held before", since=since, changes=compare(before, after))
    before = await history.in_force(city, since - timedelta(days=1))
    after = await history.in_force(city, today)
    return Difference(basis="law in force", since=since, changes=compare(before, after))
