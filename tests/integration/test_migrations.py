"""The schema is the sum of its migrations, whatever interrupts them."""

from __future__ import annotations

import asyncio
from typing import Any

import psycopg
import pytest

from appliance.errors import SchemaRefused, StoreUnavailable
from appliance.store import database as module
from appliance.store.database import _check_pgvector, migrate, open_pool
from appliance.store.sql import migrations
from tests.integration.conftest import Database

ALL = migrations()

# Everything that a migration can make, named without object ids.
_SNAPSHOT = {
    "columns": """
        select table_name, column_name, ordinal_position, column_default, is_nullable, data_type,
               udt_name, is_identity, is_generated
        from information_schema.columns where table_schema = 'public' order by 1, 3""",
    "types": """
        select c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attstorage
        from pg_attribute a join pg_class c on c.oid = a.attrelid
        join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = 'public' and a.attnum > 0 and not a.attisdropped
          and c.relkind in ('r', 'p') order by 1, 2""",
    "relations": """
        select c.relname, c.relkind, c.relpersistence, pg_get_partkeydef(c.oid) from pg_class c
        join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'public' order by 1, 2""",
    "indexes": "select indexname, indexdef from pg_indexes where schemaname = 'public' order by 1",
    "constraints": """
        select conrelid::regclass::text, conname, pg_get_constraintdef(oid) from pg_constraint
        where connamespace = 'public'::regnamespace order by 1, 2""",
    "functions": """
        select proname, prosrc from pg_proc p
        where pronamespace = 'public'::regnamespace and not exists (
            select from pg_depend d where d.objid = p.oid and d.deptype = 'e') order by 1""",
    "extensions": "select extname, extversion from pg_extension order by 1",
    "migrations": "select number, name, digest from migration order by 1",
}


def _schema(database: Database) -> dict[str, list[tuple[Any, ...]]]:
    with psycopg.connect(database.dsn) as connection:
        return {
            name: connection.execute(query.encode()).fetchall() for name, query in _SNAPSHOT.items()
        }


def _only(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "migrations", lambda: ALL[:count])


async def test_step_by_step_gives_the_schema_of_all_at_once(
    blank: Database, empty: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    for count in range(1, len(ALL) + 1):
        _only(count, monkeypatch)
        assert await migrate(blank.dsn) == [ALL[count - 1][0]]
    assert _schema(blank) == _schema(empty)


async def test_a_migrated_database_is_left_alone(empty: Database) -> None:
    before = _schema(empty)
    assert await migrate(empty.dsn) == []
    assert _schema(empty) == before


def test_migrations_are_numbered_from_one_without_gaps() -> None:
    assert [number for number, _, _ in ALL] == list(range(1, len(ALL) + 1))


# ------------------------------------------------------------------ interrupted


@pytest.mark.parametrize("step", range(len(ALL)))
@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
async def test_a_migration_that_fails_in_the_middle_leaves_nothing(
    blank: Database, empty: Database, monkeypatch: pytest.MonkeyPatch, step: int, share: float
) -> None:
    _only(step, monkeypatch)
    await migrate(blank.dsn)
    before = _schema(blank)
    number, name, text = ALL[step]
    broken = text[: int(len(text) * share)].rpartition(";\n")[0] + ";\nselect 1 / 0;\n"
    monkeypatch.setattr(module, "migrations", lambda: (*ALL[:step], (number, name, broken)))
    with pytest.raises(psycopg.errors.DivisionByZero):
        await migrate(blank.dsn)
    assert _schema(blank) == before
    monkeypatch.undo()
    await migrate(blank.dsn)
    assert _schema(blank) == _schema(empty)


@pytest.mark.parametrize("step", range(len(ALL)))
async def test_a_migration_whose_session_is_killed_leaves_nothing(
    blank: Database, empty: Database, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    number, name, text = ALL[step]
    slow = f"{text}\nselect pg_sleep(60);"
    monkeypatch.setattr(module, "migrations", lambda: (*ALL[:step], (number, name, slow)))
    run = asyncio.create_task(migrate(blank.dsn))
    killed = False
    while not killed:
        await asyncio.sleep(0.05)
        killed = bool(
            blank.rows(
                "select pg_terminate_backend(pid) from pg_stat_activity"
                " where datname = current_database() and wait_event = 'PgSleep'"
            )
        )
    with pytest.raises(StoreUnavailable):
        await run
    monkeypatch.undo()
    await migrate(blank.dsn)
    assert _schema(blank) == _schema(empty)


async def test_processes_that_migrate_at_once_do_it_once(blank: Database, empty: Database) -> None:
    runs = await asyncio.gather(*(migrate(blank.dsn) for _ in range(8)))
    assert sorted(number for run in runs for number in run) == [number for number, _, _ in ALL]
    assert _schema(blank) == _schema(empty)


# ------------------------------------------------------------------ refused


async def test_a_schema_from_a_newer_version_is_refused(empty: Database) -> None:
    empty.run("insert into migration (number, name, digest) values (9999, '9999_x.sql', '')")
    with pytest.raises(SchemaRefused, match=r"migration 9999, .* newer version"):
        await migrate(empty.dsn)


async def test_a_migration_that_was_edited_after_it_ran_is_refused(empty: Database) -> None:
    empty.run("update migration set digest = 'x' where number = 1")
    with pytest.raises(SchemaRefused, match=r"0001_ground.sql was changed"):
        await migrate(empty.dsn)


async def test_a_database_that_is_not_utf8_is_refused(cluster: Any) -> None:
    name = "latin"
    with psycopg.connect(cluster.dsn, autocommit=True) as connection:
        connection.execute("create database latin encoding 'LATIN1' locale 'C' template template0")
        try:
            with pytest.raises(SchemaRefused, match="LATIN1"):
                await migrate(psycopg.conninfo.make_conninfo(cluster.dsn, dbname=name))
        finally:
            connection.execute("drop database latin with (force)")


@pytest.mark.parametrize(
    ("dsn", "error"),
    [
        ("this is no dsn", SchemaRefused),
        ("host=/nonexistent dbname=x", StoreUnavailable),
        ("host=127.0.0.1 port=1 dbname=x", StoreUnavailable),
        ("postgresql://127.0.0.1:1/x?nonsense=1", SchemaRefused),
    ],
)
async def test_a_database_that_cannot_be_reached_is_one_sentence(
    dsn: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        async with open_pool(dsn):
            pytest.fail("nothing is there")


async def test_a_user_without_the_right_to_make_extensions_is_refused(
    blank: Database, cluster: Any
) -> None:
    blank.run("create role clerk login")
    try:
        with pytest.raises(SchemaRefused, match="permission denied"):
            await migrate(psycopg.conninfo.make_conninfo(blank.dsn, user="clerk"))
    finally:
        blank.run("drop role clerk")


class _Answers:
    """A connection that gives one row, whatever it is asked."""

    def __init__(self, row: tuple[str] | None) -> None:
        self._row = row

    async def execute(self, query: str) -> _Answers:
        return self

    async def fetchone(self) -> tuple[str] | None:
        return self._row


@pytest.mark.parametrize("version", ["0.8.0", "0.8.4", "0.10.0", "1.0"])
async def test_a_pgvector_that_we_can_use_is_let_pass(version: str) -> None:
    await _check_pgvector(_Answers((version,)))  # type: ignore[arg-type]


@pytest.mark.parametrize("version", ["0.5.1", "0.7.4"])
async def test_an_old_pgvector_is_refused(version: str) -> None:
    with pytest.raises(SchemaRefused, match=f"pgvector {version} is too old"):
        await _check_pgvector(_Answers((version,)))  # type: ignore[arg-type]


async def test_a_postgresql_without_pgvector_is_refused() -> None:
    with pytest.raises(SchemaRefused, match="no pgvector"):
        await _check_pgvector(_Answers(None))  # type: ignore[arg-type]
