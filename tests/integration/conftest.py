"""What the tests on a real PostgreSQL share: one cluster a session, one database a test.

The cluster lies directly in /tmp: as root, a home that the server's user cannot reach would put it
into /var/lib.  A test's database is a copy of a template, which takes some 50 ms.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, LiteralString

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from appliance.ingest import Summary, ingest
from appliance.settings import Secret, Settings
from appliance.store import embedded
from appliance.store.database import migrate
from appliance.wiring import House, open_house

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "appliance" / "samples"
TODAY = date(2026, 7, 1)  # of every ingest that a test runs in its own process
PERMITBOX = (sys.executable, "-c", "from appliance.cli import main; main()")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the slow kill tests last: a quick failure is to be seen early."""
    items.sort(key=lambda item: item.path.name == "test_kill.py")


# ------------------------------------------------------------------ databases


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """One database of the session's cluster."""

    dsn: str

    @property
    def settings(self) -> Settings:
        """Return the settings of a box that uses it."""
        return Settings(home=Path("/nonexistent/permitbox"), dsn=Secret(self.dsn))

    def rows(self, query: LiteralString, *parameters: object) -> list[tuple[Any, ...]]:
        """Return the rows of a query, over a connection of its own: an outside look."""
        with psycopg.connect(self.dsn) as connection:
            return connection.execute(query, parameters).fetchall()

    def one(self, query: LiteralString, *parameters: object) -> Any:
        """Return the only value of a query."""
        ((value,),) = self.rows(query, *parameters)
        return value

    def run(self, command: LiteralString, *parameters: object) -> None:
        """Execute a command."""
        with psycopg.connect(self.dsn) as connection:
            connection.execute(command, parameters)


@pytest.fixture(scope="session")
def reachable() -> Iterator[Path]:
    """Yield a folder that every user can reach; it is removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="pbx-session-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def cluster(reachable: Path) -> Iterator[embedded.Cluster]:
    """Yield the session's PostgreSQL; nothing in it must outlive a crash of the machine."""
    with embedded.running(Settings(home=reachable / "home"), extra={"fsync": "off"}) as running:
        yield running


_numbers = itertools.count(1)


def _copy_of(cluster: embedded.Cluster, template: str, name: str | None = None) -> Database:
    name = name or f"test_{next(_numbers)}"
    with psycopg.connect(cluster.dsn, autocommit=True) as connection:
        connection.execute(
            sql.SQL("create database {} template {} strategy file_copy").format(
                sql.Identifier(name), sql.Identifier(template)
            )
        )
    return Database(dsn=make_conninfo(cluster.dsn, dbname=name))


def _dropped(cluster: embedded.Cluster, database: Database) -> None:
    name = psycopg.conninfo.conninfo_to_dict(database.dsn)["dbname"]
    with psycopg.connect(cluster.dsn, autocommit=True) as connection:
        connection.execute(
            sql.SQL("drop database {} with (force)").format(sql.Identifier(str(name)))
        )


@pytest.fixture(scope="session")
def migrated(cluster: embedded.Cluster) -> str:
    """Return the name of a database that is migrated and holds nothing."""
    database = _copy_of(cluster, "template0", "migrated")
    asyncio.run(migrate(database.dsn))
    return "migrated"


@pytest.fixture(scope="session")
def sampled(cluster: embedded.Cluster, migrated: str) -> str:
    """Return the name of a database that holds the two sample cities, encoded."""
    database = _copy_of(cluster, migrated, "sampled")
    asyncio.run(_load_samples(database))
    return "sampled"


async def _load_samples(database: Database) -> None:
    async with open_house(database.settings) as house:
        await ingested(house, SAMPLES)


@pytest.fixture
def blank(cluster: embedded.Cluster) -> Iterator[Database]:
    """Yield a database without a schema."""
    database = _copy_of(cluster, "template0")
    yield database
    _dropped(cluster, database)


@pytest.fixture
def empty(cluster: embedded.Cluster, migrated: str) -> Iterator[Database]:
    """Yield a migrated database without rows."""
    database = _copy_of(cluster, migrated)
    yield database
    _dropped(cluster, database)


@pytest.fixture
def samples(cluster: embedded.Cluster, sampled: str) -> Iterator[Database]:
    """Yield a database of its own with the two sample cities."""
    database = _copy_of(cluster, sampled)
    yield database
    _dropped(cluster, database)


# ------------------------------------------------------------------ flows


async def ingested(
    house: House, *paths: Path, today: date = TODAY, city: str | None = None
) -> Summary:
    """Ingest and return the summary."""
    return await ingest(
        house.loader, house.encoder, paths, city=city, today=today, tell=lambda _: None
    )


# ------------------------------------------------------------------ corpus files


def record(number: str, text: str, **fields: object) -> dict[str, object]:
    """Return a section record of the town of Elm Hollow."""
    return {
        "jurisdiction": "elm-hollow-xx",
        "id": f"elm-{number}",
        "citation": f"Elm Hollow Code § {number}",
        "heading": f"Section {number}",
        "path": ["Title 1"],
        "text": text,
        "effective_date": "2024-01-01",
    } | fields


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Return a way to write records to a file of the test."""

    def write(records: Iterable[dict[str, object]], name: str = "elm.jsonl") -> Path:
        path = tmp_path / name
        path.write_text("".join(json.dumps(r) + "\n" for r in records), "utf-8")
        return path

    return write


# ------------------------------------------------------------------ the command


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What a command printed, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Return the last line of standard output, read as JSON."""
        return json.loads(self.out.splitlines()[-1])


def environment(**variables: str) -> dict[str, str]:
    """Return our environment without settings of a box, and with these variables."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PERMITBOX_")}
    path = os.pathsep.join([str(ROOT), *(p for p in sys.path if p)])
    return {**kept, "PYTHONPATH": path, **variables}


def permitbox(
    *arguments: str, database: Database | None = None, stdin: bytes = b"", **variables: str
) -> Ran:
    """Run the command as a process of its own and return what came of it."""
    if database is not None:
        variables["PERMITBOX_DSN"] = database.dsn
        variables.setdefault("PERMITBOX_HOME", "/nonexistent/permitbox")
    done = subprocess.run(
        [*PERMITBOX, *arguments],
        input=stdin,
        capture_output=True,
        env=environment(**variables),
        timeout=120,
        check=False,
    )
    return Ran(code=done.returncode, out=done.stdout.decode(), err=done.stderr.decode())
