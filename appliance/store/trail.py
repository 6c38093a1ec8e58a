"""The trail of answers in the store: sealed texts by owner, and counts for operators.  No secret is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from psycopg import AsyncConnection

from appliance.domain import CityId
from appliance.ports import AnswerRecord, AnswerStatistic, OwnAnswer
from appliance.store.database import Pool, connected
from appliance.store.sql import statement


class PostgresTrail:
    """What was asked and answered, over a pool; rows older than `days` go."""

    def __init__(self, pool: Pool, *, days: int) -> None:
        self._pool = pool
        self._days = days

    async def keep(self, record: AnswerRecord) -> None:
        """Add an answer; those that are too old go."""
        async with connected(self._pool) as connection, connection.transaction():
            await connection.execute(
                statement("keep_answer"),
                {
                    "city": record.city,
                    "as_of": record.as_of,
                    "asked_at": record.asked_at,
                    "outcome": record.outcome,
                    "reason": record.reason,
                    "cache": record.cache,
                    "took_ms": record.took_ms,
                    "owner": record.owner,
                    "sealed": record.sealed,
                },
            )
            await connection.execute(statement("expire_answers"), {"days": self._days})

    async def of_owner(
        self, owner: bytes, *, id_: UUID | None = None, limit: int = 100
    ) -> Sequence[OwnAnswer]:
        """Return an asker's own answers, the newest first."""
        async with connected(self._pool) as connection:
            wanted = {"owner": owner, "id": id_, "limit": limit}
            rows = await _fetch(connection, "answers_of_owner", **wanted)
        return [
            OwnAnswer(id=i, city=CityId(c), as_of=d, asked_at=at, outcome=o, sealed=s)
            for i, c, d, at, o, s in rows
        ]

    async def forget(self, owner: bytes, id_: UUID | None = None) -> int:
        """Delete one answer of an asker, or all; return how many."""
        async with connected(self._pool) as connection:
            done = await connection.execute(
                statement("forget_answers"), {"owner": owner, "id": id_}
            )
            return done.rowcount

    async def statistics(self, days: int) -> Sequence[AnswerStatistic]:
        """Return counts and times of the last days, by day, city and outcome."""
        async with connected(self._pool) as connection:
            rows = await _fetch(connection, "answer_statistics", days=days)
        return [
            AnswerStatistic(
                city=CityId(city),
                day=day,
                outcome=outcome,
                reason=reason,
                answers=answers,
                from_cache=cached,
                p50_ms=p50,
                p95_ms=p95,
            )
            for city, day, outcome, reason, answers, cached, p50, p95 in rows
        ]

    async def seal_older(self, owner: bytes, seal: Callable[[str], bytes]) -> int:
        """Seal what an older box has kept in clear, for this owner; return how many."""
        done = 0
        while True:
            async with connected(self._pool) as connection, connection.transaction():
                rows = await _fetch(connection, "unsealed_answers")
                for id_, payload in rows:
                    await connection.execute(
                        statement("seal_answer"),
                        {"id": id_, "owner": owner, "sealed": seal(payload or "{}")},
                    )
            done += len(rows)
            if not rows:
                return done


async def _fetch(
    connection: AsyncConnection, name: str, **parameters: Any
) -> list[tuple[Any, ...]]:
    return await (await connection.execute(statement(name), parameters)).fetchall()
