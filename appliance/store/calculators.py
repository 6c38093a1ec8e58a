"""Calculators in the store: proposed, decided, disabled; and the current law that they stand on.

A calculator is kept in its JSON form, which nothing here reads.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from appliance.domain import CityId, StoredSection
from appliance.errors import NoSuchCalculator
from appliance.ports import CalculatorForm, CalculatorState, StoredCalculator
from appliance.store.database import Pool, connected
from appliance.store.rows import section_of
from appliance.store.sql import statement


class PostgresCalculators:
    """The calculators of a box, over its pool."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def propose(self, city: CityId, forms: Sequence[CalculatorForm]) -> int:
        """Keep proposals that are not known yet; return how many those were.  One transaction."""
        new = 0
        async with connected(self._pool) as connection:
            for form in forms:
                cursor = await connection.execute(
                    statement("propose_calculator"),
                    {
                        "city": city,
                        "external_id": form.external_id,
                        "title": form.title,
                        "form": form.form,
                        "digest": form.digest,
                    },
                )
                new += len(await cursor.fetchall())
        return new

    async def listed(
        self, city: CityId, states: Sequence[CalculatorState]
    ) -> Sequence[StoredCalculator]:
        """Return the city's calculators in some states, by record."""
        rows = await self._rows("calculators_of_city", city=city, states=list(states))
        return [_stored(row) for row in rows]

    async def one(self, calculator: int) -> StoredCalculator:
        """Return one calculator.  Raises NoSuchCalculator."""
        rows = await self._rows("calculator", id=calculator)
        if not rows:
            raise NoSuchCalculator(calculator)
        return _stored(rows[0])

    async def decide(self, calculator: int, state: CalculatorState, *, who: str) -> None:
        """Set what a person decided."""
        await self._run("decide_calculator", id=calculator, state=state, who=who)

    async def disable(self, calculator: int, because: str) -> None:
        """Take an approved calculator out of use until a person confirms it."""
        await self._run("disable_calculator", id=calculator, because=because)

    async def rebind(self, calculator: int, form: str) -> None:
        """Keep where the words of a calculator stand now."""
        await self._run("rebind_calculator", id=calculator, form=form)

    async def records(self, city: CityId, external_ids: Sequence[str]) -> Sequence[StoredSection]:
        """Return the sections of the current versions of some records, in reading order."""
        rows = await self._rows("current_sections", city=city, external_ids=list(external_ids))
        return [section_of(row) for row in rows]

    async def law(self, city: CityId) -> AsyncIterator[StoredSection]:
        """Yield every section of the city's current versions."""
        async with connected(self._pool) as connection, connection.cursor(name="rules") as cursor:
            cursor.itersize = 200
            parameters = {"city": city, "external_ids": None}
            await cursor.execute(statement("current_sections"), parameters)
            async for row in cursor:
                yield section_of(row)

    async def _rows(self, name: str, **parameters: Any) -> list[tuple[Any, ...]]:
        async with connected(self._pool) as connection:
            return await (await connection.execute(statement(name), parameters)).fetchall()

    async def _run(self, name: str, **parameters: Any) -> None:
        async with connected(self._pool) as connection:
            await connection.execute(statement(name), parameters)


def _stored(row: tuple[Any, ...]) -> StoredCalculator:
    id_, city, form, state, because = row
    return StoredCalculator(id=id_, city=CityId(city), form=form, state=state, because=because)
