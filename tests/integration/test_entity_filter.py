"""Searches that are kept to sections which name a district, a permit, a size or a fee."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from appliance.commands.options import having_of
from appliance.domain import LEGS, CityId, Leg, Query
from appliance.errors import BadRequest
from appliance.retrieve import Recipe, retrieve
from appliance.web.app import create_app
from appliance.wiring import House, open_house
from tests.integration.conftest import TODAY, Database, ingested, permitbox, record

ELM = CityId("elm-hollow-xx")
Write = Callable[..., Path]

COUNT = 30


def records() -> list[dict[str, object]]:
    """Return sections on fences: each third one of district R-1, each fifth one six feet high."""
    return [
        record(
            f"1-{n}",
            f"Rule {n}. A fence in the {'R-1' if n % 3 == 0 else 'B-2'} district needs a fence permit "
            f"and is at most {'six (6)' if n % 5 == 0 else 'four (4)'} feet high.",
        )
        for n in range(COUNT)
    ]


@pytest_asyncio.fixture
async def house(empty: Database, write: Write) -> AsyncIterator[House]:
    async with open_house(empty.settings) as house:
        await ingested(house, write(records()))
        yield house


async def _numbers(
    house: House, *having: str, k: int = 40, legs: tuple[Leg, ...] = LEGS
) -> set[int]:
    query = Query(text="fence height", city=ELM, as_of=TODAY, having=having_of(having))
    found = await retrieve(house.store, house.encoder, query, k, recipe=Recipe(legs=legs))
    assert len(found.passages) <= k
    return {int(p.section.external_id.removeprefix("elm-1-")) for p in found.passages}


@pytest.mark.parametrize("legs", [("dense",), ("lexical",), LEGS])
async def test_every_leg_gives_all_that_name_it_and_nothing_else(
    house: House, legs: tuple[Leg, ...]
) -> None:
    every = set(range(COUNT))
    of_r1 = set(range(0, COUNT, 3))
    assert await _numbers(house, legs=legs) == every
    assert await _numbers(house, "district=r1", legs=legs) == of_r1
    assert await _numbers(house, "district=R-1", "dimension=6 feet", legs=legs) == {0, 15}
    assert await _numbers(house, "district=Q-9", legs=legs) == set()


async def test_a_filter_does_not_cost_places_among_the_best(house: House) -> None:
    found = await _numbers(house, "district=R-1", k=4)
    assert len(found) == 4
    assert all(n % 3 == 0 for n in found)


async def test_a_named_section_is_filtered_too(house: House) -> None:
    async def named(having: str) -> int:
        query = Query(text="Section 1-4", city=ELM, as_of=TODAY, having=having_of([having]))
        found = await retrieve(house.store, house.encoder, query, 5, recipe=Recipe(legs=("named",)))
        return len(found.passages)

    assert await named("district=B-2") == 1
    assert await named("district=R-1") == 0


async def test_stored_entities_are_stretches_of_their_sections(
    house: House, empty: Database
) -> None:
    rows = empty.rows(
        "select e.kind, e.value, e.unit, e.bound,"
        " substr(d.body, s.span_start + e.span_start + 1, e.span_end - e.span_start)"
        " from entity e join section s on s.id = e.section_id join document d on d.id = s.document_id"
        " where s.external_id = 'elm-1-15' order by e.span_start"
    )
    assert rows == [
        ("district", "R-1", None, None, "R-1"),
        ("permit", "fence permit", None, None, "fence permit"),
        ("dimension", "6", "foot", "max", "six (6) feet"),
    ]


async def test_entities_go_with_the_version_that_named_them(
    house: House, empty: Database, write: Write
) -> None:
    await ingested(house, write([r | {"text": "A fence is a wall of wood."} for r in records()]))
    assert (
        empty.one(
            "select count(*) from entity e join section s on s.id = e.section_id"
            " join document d on d.id = s.document_id where d.current"
        )
        == 0
    )
    assert await _numbers(house, "district=R-1") == set()


async def test_the_api_takes_the_same_filters(house: House) -> None:
    transport = httpx.ASGITransport(app=create_app(house))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8080") as client:
        params = {"city": ELM, "q": "fence", "k": 50, "with": ["district=R-1", "dimension=6 feet"]}
        hits = (await client.get("/api/search", params=params)).json()["hits"]
        assert {h["external_id"] for h in hits} == {"elm-1-0", "elm-1-15"}
        refused = await client.get("/api/search", params=params | {"with": "colour=red"})
        assert refused.status_code == 422
        assert "district" in refused.json()["detail"]


def test_the_command_takes_filters_and_refuses_what_is_none(empty: Database, write: Write) -> None:
    assert permitbox("ingest", str(write(records())), database=empty).code == 0
    search = ("search", "fence", "--city", ELM, "--json", "--k", "50")
    ran = permitbox(*search, "--with", "district=R-1", "--with", "dimension=6 feet", database=empty)
    assert {h["external_id"] for h in ran.json["hits"]} == {"elm-1-0", "elm-1-15"}
    refused = permitbox(*search, "--with", "colour=red", database=empty)
    assert refused.code == 2
    assert "district=R-1" in refused.err


def test_a_filter_that_is_none_is_refused() -> None:
    with pytest.raises(BadRequest, match="--with"):
        having_of(["colour=red"])
