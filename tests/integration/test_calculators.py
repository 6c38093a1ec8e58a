"""Calculators in a real store: proposed, approved, used with proof, and disabled when the law changes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from datetime import date
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from mcp import Client

from appliance.calculate import Calculation, approve, calculate, check, pick, propose_for
from appliance.calculation_json import calculation_json
from appliance.commands.mcp import server_of
from appliance.domain import CityId
from appliance.errors import NoCalculator
from appliance.store.calculators import PostgresCalculators
from appliance.web.app import create_app
from appliance.web.calculation_schemas import CalculationOut, CalculatorsOut
from appliance.wiring import House, open_house
from tests.integration.conftest import Database, Ran, ingested, permitbox, record

ELM = CityId("elm-hollow-xx")
DAY = date(2026, 7, 1)
Write = Callable[..., Path]

PARKING = (
    "Parking spaces are required as listed below.\n\n"
    "| Use | Parking spaces required |\n|---|---|\n"
    "| Church | 1 space per 4 seats, plus 1 per 250 sq. ft. of area set aside for other uses |\n"
    "| Bank | 1 space per 300 sq. ft. of floor area |\n"
)
FRACTIONS = "When spaces required by this title result in a fraction, an additional space shall be provided."
CHURCH = "Parking for a church with 360 seats and 2,600 sq ft of other uses?"


def law(parking: str = PARKING) -> list[dict[str, object]]:
    return [
        record("4-1", parking, heading="Parking"),
        record("4-2", FRACTIONS, heading="Fractions"),
    ]


@pytest_asyncio.fixture
async def house(empty: Database, write: Write) -> AsyncIterator[House]:
    """Yield a house with a small town's law, and its calculators approved."""
    async with open_house(empty.settings) as house:
        await ingested(house, write(law()))
        store = PostgresCalculators(house.pool)
        assert await propose_for(store, ELM) == (2, 2)
        assert await propose_for(store, ELM) == (2, 0)
        for stored in await store.listed(ELM, ["proposed"]):
            await approve(store, stored.id, who="clerk", today=DAY)
        yield house


async def asked(house: House, question: str, **given: str) -> Calculation:
    store = PostgresCalculators(house.pool)
    return await calculate(store, ELM, await pick(store, ELM, question, given), today=DAY)


async def test_a_result_has_its_steps_and_each_its_proven_words(house: House) -> None:
    found = calculation_json(await asked(house, CHURCH))
    assert (found["result"], found["unit"]) == (101, "spaces")  # 90 + 10.4, a fraction counts whole
    assert {n: (v["value"], v["from"]) for n, v in found["inputs"].items()} == {
        "seats": (360, "question"),
        "area_set_aside": (2600, "question"),
    }
    sections = [s["citation"]["external_id"] for s in found["steps"]]
    assert sections == ["elm-4-1", "elm-4-1", "elm-4-2"]
    for step in found["steps"]:
        cited = step["citation"]
        text = {"elm-4-1": PARKING, "elm-4-2": FRACTIONS}[cited["external_id"]]
        assert text[cited["start"] : cited["end"]] == cited["quote"]
    CalculationOut.model_validate(found)


async def test_an_assistant_calculates_as_the_command_does(house: House) -> None:
    async with Client(server_of(house)) as client:
        reply = await client.call_tool("calculate", {"city": ELM, "question": CHURCH})
        found = json.loads(reply.content[0].text)
        assert found["result"] == 101
        CalculationOut.model_validate(found)
        short = {"city": ELM, "question": "Parking for a church?", "inputs": {"seats": "360"}}
        reply = await client.call_tool("calculate", short)
    assert "area" in json.loads(reply.content[0].text)["error"]


async def test_what_nobody_approved_answers_nothing(house: House, empty: Database) -> None:
    empty.run("update calculator set state = 'rejected'")
    with pytest.raises(NoCalculator, match="no calculator"):
        await asked(house, CHURCH)
    assert await propose_for(PostgresCalculators(house.pool), ELM) == (2, 0)


async def test_a_changed_text_disables_until_a_person_confirms(
    house: House, empty: Database, write: Write
) -> None:
    changed = PARKING.replace("1 space per 4 seats", "1 space per 3 seats")
    await ingested(house, write(law(changed)))
    with pytest.raises(NoCalculator, match=r"disabled: .*no longer says"):
        await asked(house, CHURCH)
    with pytest.raises(NoCalculator, match="None of the 1"):  # the bank's words are as they were
        await asked(house, CHURCH)
    ((church, because),) = empty.rows("select id, because from calculator where state = 'disabled'")
    assert "no longer says" in because
    store = PostgresCalculators(house.pool)
    with pytest.raises(NoCalculator, match="cannot be used"):
        await approve(store, church, who="clerk", today=DAY)
    assert await propose_for(store, ELM) == (2, 1)
    (new,) = await store.listed(ELM, ["proposed"])
    await approve(store, new.id, who="clerk", today=DAY)
    assert (await asked(house, CHURCH)).computed.result == 131


async def test_the_same_words_in_a_new_version_stay_in_use(
    house: House, empty: Database, write: Write
) -> None:
    before = empty.one("select form->'bindings'->0->>'version' from calculator order by id limit 1")
    await ingested(house, write(law(f"Amended 2026.\n\n{PARKING}")))
    results = await check(PostgresCalculators(house.pool), ELM, today=DAY)
    assert [r.outcome for r in results] == ["moved", "moved"]
    assert (await asked(house, CHURCH)).computed.result == 101
    after = empty.one("select form->'bindings'->0->>'version' from calculator order by id limit 1")
    assert after != before


async def test_the_rule_on_fractions_is_checked_too(house: House, write: Write) -> None:
    await ingested(house, write(law()[:1]))  # the section on fractions is gone
    results = await check(PostgresCalculators(house.pool), ELM, today=DAY)
    assert [r.outcome for r in results] == ["disabled", "disabled"]


async def test_the_api_and_the_page(house: House) -> None:
    transport = httpx.ASGITransport(app=create_app(house))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        listed = (await client.get("/api/calculators", params={"city": ELM})).json()
        CalculatorsOut.model_validate(listed)
        bank = next(c for c in listed["calculators"] if c["label"] == "Bank")
        body = {"city": ELM, "calculator": bank["id"], "inputs": {"floor_area": 6000}}
        assert (await client.post("/api/calculate", json=body)).json()["result"] == 20
        missing = await client.post("/api/calculate", json=body | {"inputs": {}})
        assert missing.status_code == 422
        assert "floor_area (floor area, in sq ft)" in missing.json()["detail"]
        form = await client.get("/calculate", params={"city": ELM, "calculator": bank["id"]})
        assert form.status_code == 200
        assert 'name="in.floor_area"' in form.text
        asked = {"city": ELM, "calculator": bank["id"], "in.floor_area": "0.5 acre"}
        page = await client.get("/calculate", params=asked)
        assert "73 spaces" in page.text
        section = bank["start"]
        assert f"?start={section}&amp;end={bank['end']}" in page.text
        hostile = {"city": "<b>", "q": "<script>alert(1)</script>", "calculator": "9" * 40}
        refused = await client.get("/calculate", params=hostile)
        assert refused.status_code == 422
        assert "<script>alert" not in refused.text


async def test_the_command(house: House, empty: Database) -> None:
    def run(*words: str) -> Ran:
        return permitbox("calc", *words, database=empty)

    city = ("--city", ELM, "--json")
    found, missing = await asyncio.gather(
        asyncio.to_thread(run, *city, CHURCH, "--input", "seats=400"),
        asyncio.to_thread(run, *city, "Parking for a church?", "--input", "moons=3"),
    )
    assert (found.json["result"], found.json["unit"]) == (111, "spaces")
    assert found.json["citation"]["external_id"] == "elm-4-1"
    assert missing.code == 2
    assert "takes no input moons; it takes seats (seats, a number); area_set_aside" in missing.err
