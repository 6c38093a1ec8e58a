"""A pool of connections to a migrated database.  Knows SQL and versions, nothing of law."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from hashlib import sha256

import psycopg
from pgvector.psycopg import register_vector_async
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from appliance.errors import SchemaRefused, StoreUnavailable
from appliance.store.sql import migrations

Pool = AsyncConnectionPool[AsyncConnection]

# One number for all boxes: whoever migrates a database holds this advisory lock.
_MIGRATION_LOCK = 0x5065726D6974  # "Permit"

# pgvector below 0.8.0 has no halfvec scan as we use it; 0.8.0 to 0.8.3 lose index entries
# (CVE-2026-3172 and the HNSW vacuum faults, fixed by 0.8.4).
_PGVECTOR_NEEDED = (0, 8, 0)
_PGVECTOR_WANTED = (0, 8, 4)


@asynccontextmanager
async def open_pool(dsn: str, *, size: int = 8) -> AsyncIterator[Pool]:
    """Migrate the database and hand over a pool.

    Raises StoreUnavailable when nothing answers, SchemaRefused when the schema is not ours.
    """
    await migrate(dsn)
    pool: Pool = AsyncConnectionPool(
        dsn,
        min_size=1,
        max_size=size,
        open=False,
        configure=_configure,
        check=AsyncConnectionPool.check_connection,
        timeout=30,
        name="permitbox",
    )
    try:
        await _open(pool)
        yield pool
    finally:
        await pool.close()


async def _open(pool: Pool) -> None:
    try:
        await pool.open(wait=True, timeout=30)
    except psycopg.Error as error:
        raise StoreUnavailable(f"The database does not answer: {error}") from error


async def _configure(connection: AsyncConnection) -> None:
    await register_vector_async(connection)
    await connection.commit()


@asynccontextmanager
async def connected(pool: Pool) -> AsyncIterator[AsyncConnection]:
    """Hand over a connection of the pool.  Raises StoreUnavailable when the database is gone."""
    try:
        async with pool.connection() as connection:
            if connection.autocommit:
                # The pool's check sets it for a moment; a task that is cancelled just then leaves it so.
                await connection.set_autocommit(False)
            yield connection
    except psycopg.OperationalError as error:
        raise StoreUnavailable("The database does not answer; try again in a moment.") from error


async def until_lost(dsn: str) -> None:
    """Return when the database does not answer, or has gone away: a connection waits for its end."""
    with suppress(psycopg.OperationalError):
        async with await AsyncConnection.connect(dsn, autocommit=True) as connection:
            async for _ in connection.notifies():
                pass


async def migrate(dsn: str) -> list[int]:
    """Apply the missing migrations, each in a transaction of its own; return their numbers."""
    try:
        async with await AsyncConnection.connect(dsn, autocommit=True) as connection:
            await connection.execute("select pg_advisory_lock(%s)", (_MIGRATION_LOCK,))
            try:
                return await _apply_missing(connection)
            finally:
                await connection.execute("select pg_advisory_unlock(%s)", (_MIGRATION_LOCK,))
    except psycopg.OperationalError as error:
        raise StoreUnavailable(
            f"The database does not answer ({str(error).strip()}); start it or unset PERMITBOX_DSN."
        ) from error
    except psycopg.ProgrammingError as error:  # a DSN that is none, or a right that is missing
        raise SchemaRefused(
            f"The database of PERMITBOX_DSN cannot be used ({str(error).strip()})."
        ) from error


async def _apply_missing(connection: AsyncConnection) -> list[int]:
    await _check_encoding(connection)
    await connection.execute(
        "create table if not exists migration (number int primary key, name text not null,"
        " digest text not null, applied_at timestamptz not null default now())"
    )
    await _check_pgvector(connection)
    cursor = await connection.execute("select number, digest from migration")
    applied: dict[int, str] = dict(await cursor.fetchall())
    known = {number for number, _, _ in migrations()}
    if newer := sorted(set(applied) - known):
        raise SchemaRefused(
            f"The database has migration {newer[-1]}, which this PermitBox does not know: "
            "it was used by a newer version; install that one."
        )
    done = []
    for number, name, text in migrations():
        digest = sha256(text.encode()).hexdigest()
        if number in applied:
            if applied[number] != digest:
                raise SchemaRefused(
                    f"Migration {name} was changed after it was applied; restore its text."
                )
            continue
        async with connection.transaction():
            await connection.execute(text.encode())
            await connection.execute(
                "insert into migration (number, name, digest) values (%s, %s, %s)",
                (number, name, digest),
            )
        done.append(number)
    return done


async def _check_encoding(connection: AsyncConnection) -> None:
    """Refuse a database that does not count in code points, as spans do."""
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise SchemaRefused(
            f"The database has the encoding {encoding}; make one with encoding 'UTF8'."
        )


async def _check_pgvector(connection: AsyncConnection) -> None:
    cursor = await connection.execute(
        "select coalesce(installed_version, default_version)"
        " from pg_available_extensions where name = 'vector'"
    )
    row = await cursor.fetchone()
    if row is None:
        raise SchemaRefused("This PostgreSQL has no pgvector; install pgvector 0.8.4 or later.")
    version = tuple(int(part) for part in str(row[0]).split("."))
    if version < _PGVECTOR_NEEDED:
        raise SchemaRefused(f"pgvector {row[0]} is too old; install 0.8.4 or later.")


async def pgvector_warning(pool: Pool) -> str | None:
    """Return a sentence when the installed pgvector has known faults, else None."""
    async with pool.connection() as connection:
        cursor = await connection.execute(
            "select extversion from pg_extension where extname='vector'"
        )
        row = await cursor.fetchone()
    if row and tuple(int(part) for part in str(row[0]).split(".")) < _PGVECTOR_WANTED:
        return (
            f"pgvector {row[0]} has known faults in HNSW (CVE-2026-3172); update to 0.8.4 or later."
        )
    return None
