"""Partitions of a city: built beside the one in use and put in its place.  Knows no law and no words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from psycopg import AsyncConnection, sql


async def new_partition(connection: AsyncConnection, parent: str, city_id: int) -> str:
    """Make an empty table that can become the city's partition; return its name."""
    cursor = await connection.execute("select nextval('generation')")
    (generation,) = await cursor.fetchone() or (0,)
    name = f"{parent}_c{city_id}_g{generation}"
    await connection.execute(
        sql.SQL("create table {} (like {} including all)").format(
            sql.Identifier(name), sql.Identifier(parent)
        )
    )
    # Attaching then needs no scan to see that every row belongs there.
    await connection.execute(
        sql.SQL("alter table {} add check (city_id = {})").format(
            sql.Identifier(name), sql.Literal(city_id)
        )
    )
    return name


async def copy_binary(
    connection: AsyncConnection,
    table: str,
    types: Sequence[str],
    rows: Iterable[tuple[Any, ...]],
) -> None:
    """Write rows to a table, in the order of its columns."""
    command = sql.SQL("copy {} from stdin (format binary)").format(sql.Identifier(table))
    async with connection.cursor() as cursor, cursor.copy(command) as copy:
        copy.set_types(types)
        for row in rows:
            await copy.write_row(row)


async def swap(connection: AsyncConnection, parent: str, city_id: int, partition: str) -> None:
    """Put the new partition in the place of the city's old one, in the caller's transaction.

    Dropping the old one locks the whole table, so that all readers wait for the commit: this is to
    be a transaction's last step.
    """
    cursor = await connection.execute(
        "select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid"
        " where i.inhparent = %s::regclass and c.relname like %s",
        (parent, f"{parent}\\_c{city_id}\\_g%"),
    )
    for (old,) in await cursor.fetchall():
        await connection.execute(sql.SQL("drop table {}").format(sql.Identifier(old)))
    await connection.execute(
        sql.SQL("alter table {} attach partition {} for values in ({})").format(
            sql.Identifier(parent), sql.Identifier(partition), sql.Literal(city_id)
        )
    )
