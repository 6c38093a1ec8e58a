"""The embedded PostgreSQL dies while a box serves: it is started again, and questions go on."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest
import pytest_asyncio

from appliance.domain import CityId, Query
from appliance.errors import StoreUnavailable
from appliance.retrieve import retrieve
from appliance.settings import Settings
from appliance.wiring import House, open_house
from tests.integration.conftest import SAMPLES, TODAY, ingested

BRACKWATER = CityId("brackwater-county-xx")
PATIENCE = 20.0  # seconds; a quiet machine needs one


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="pbx-keeper-"))
    folder.chmod(0o755)
    yield folder / "home"
    shutil.rmtree(folder)


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def house(home: Path) -> AsyncIterator[House]:
    async with open_house(Settings(home=home)) as house:
        await ingested(house, SAMPLES / "brackwater-county.jsonl")
        yield house


def _postmaster(house: House) -> int:
    file = house.settings.postgres_dir / "data" / "postmaster.pid"
    return int(file.read_text().split("\n", 1)[0])


async def _answers(house: House) -> bool:
    query = Query(text="Do I need a permit for a fence?", city=BRACKWATER, as_of=TODAY)
    try:
        return bool((await retrieve(house.store, house.encoder, query, 5)).passages)
    except StoreUnavailable:  # the one error that a request may meet meanwhile
        return False


async def _until_it_answers(house: House) -> None:
    began = time.monotonic()
    while not await _answers(house):
        assert time.monotonic() - began < PATIENCE, "it was not started again"
        await asyncio.sleep(0.05)


async def _until_another_is_up(house: House, dead: int) -> None:
    """A backend outlives its postmaster for a moment: an answer alone is no sign of a restart."""
    began = time.monotonic()
    while not _is_another(house, dead):
        assert time.monotonic() - began < PATIENCE, "it was not started again"
        await asyncio.sleep(0.05)


async def _until_another_answers(house: House, dead: int) -> None:
    await _until_another_is_up(house, dead)
    await _until_it_answers(house)


def _is_another(house: House, dead: int) -> bool:
    with suppress(FileNotFoundError, ValueError):  # between two servers, or not yet written
        return _postmaster(house) != dead
    return False


@pytest.mark.parametrize("turn", range(3))
async def test_a_killed_server_is_started_again_and_questions_go_on(
    house: House, turn: int
) -> None:
    assert await _answers(house)
    dead = _postmaster(house)
    os.kill(dead, signal.SIGKILL)
    await _until_another_answers(house, dead)


async def test_a_server_that_was_stopped_by_hand_is_started_again(house: House) -> None:
    dead = _postmaster(house)
    os.kill(dead, signal.SIGINT)  # a fast shutdown
    await _until_another_answers(house, dead)


async def test_a_crash_that_the_server_mends_itself_is_waited_for(house: House) -> None:
    """One backend is killed: the server throws out everybody, recovers and stays the same."""
    before = _postmaster(house)
    async with house.pool.connection() as connection:
        cursor = await connection.execute("select pg_backend_pid()")
        ((backend,),) = await cursor.fetchall()
        os.kill(backend, signal.SIGKILL)
        with pytest.raises(psycopg.OperationalError):
            await connection.execute("select 1")
    await _until_it_answers(house)
    assert _postmaster(house) == before


async def test_questions_in_flight_fail_cleanly_and_the_pool_stays_whole(house: House) -> None:
    running = [asyncio.create_task(_answers(house)) for _ in range(30)]
    await asyncio.sleep(0.02)
    dead = _postmaster(house)
    os.kill(dead, signal.SIGKILL)
    await asyncio.gather(*running)  # an error that is none of ours would come out here
    await _until_another_answers(house, dead)
    assert all(await asyncio.gather(*(_answers(house) for _ in range(30))))


async def test_the_last_to_leave_stops_the_server_that_was_started_again(reachable: Path) -> None:
    settings = Settings(home=reachable / "left")
    async with open_house(settings) as house:
        killed = _postmaster(house)
        os.kill(killed, signal.SIGKILL)
        await _until_another_is_up(house, killed)
    assert not (settings.postgres_dir / "data" / "postmaster.pid").exists()
