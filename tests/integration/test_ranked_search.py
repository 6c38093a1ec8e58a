"""Searches as people make them: misspelt, of text that stands in several places, and explained."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest_asyncio

from appliance.answers.features import FEATURES
from appliance.domain import CityId, Query
from appliance.retrieve import PRODUCT, Recipe, Retrieved, gather, retrieve
from appliance.wiring import House, open_house
from tests.integration.conftest import TODAY, Database, ingested, permitbox, record

ELM = CityId("elm-hollow-xx")
Write = Callable[..., Path]
PENALTY = (
    "Whoever breaks a rule of this chapter shall be fined not more than fifty dollars for each day on "
    "which the breach goes on, and the building official may have the work stopped."
)


def records() -> list[dict[str, object]]:
    """Return a code in which one paragraph stands three times, once with another sum."""
    return [
        record(
            "1-1", "A fence in a front yard shall not be higher than four feet.", heading="Fences"
        ),
        record("1-2", PENALTY, heading="Penalty for fences"),
        record("2-1", "A shed shall stand ten feet from the lot line.", heading="Sheds"),
        record("2-2", PENALTY, heading="Penalty for sheds"),
        record("3-1", "A pool needs a fence of five feet around it.", heading="Swimming pools"),
        record("3-2", PENALTY.replace("fifty", "sixty"), heading="Penalty for pools"),
        record("4-1", "The council meets on Mondays.", heading="Council"),
        record("4-2", "Fence viewers are sworn in by the clerk.", heading="Fence viewers"),
    ]


@pytest_asyncio.fixture
async def house(empty: Database, write: Write) -> AsyncIterator[House]:
    async with open_house(empty.settings) as house:
        await ingested(house, write(records()))
        yield house


async def _found(house: House, text: str, recipe: Recipe = PRODUCT, k: int = 8) -> Retrieved:
    query = Query(text=text, city=ELM, as_of=TODAY)
    return await retrieve(house.store, house.encoder, query, k, recipe=recipe)


def _ids(found: Retrieved) -> list[str]:
    return [p.section.external_id for p in found.passages]


async def test_the_same_text_in_two_places_is_one_passage_that_lists_the_other(
    house: House,
) -> None:
    found = await _found(house, "What is the penalty for breaking a rule?")
    (fifty,) = [p for p in found.passages if "fifty" in p.text]
    assert {fifty.section.external_id, *(o.external_id for o in fifty.also)} == {
        "elm-1-2",
        "elm-2-2",
    }
    assert "elm-3-2" in _ids(found), "another sum is another answer"
    assert len(_ids(found)) == len(set(_ids(found))) == 7


async def test_a_misspelt_word_finds_what_the_right_one_finds(house: House) -> None:
    wrong = await _found(house, "Where do sheeds stand?")
    right = await _found(house, "Where do sheds stand?")
    assert {c.written: c.read for c in wrong.corrections} == {"sheeds": "sheds"}
    assert right.corrections == ()
    assert _ids(wrong) == _ids(right)


async def test_the_reranker_reads_in_waves_and_ends_when_its_time_is_up(house: House) -> None:
    query = Query(text="fence height", city=ELM, as_of=TODAY)
    all_read = await gather(
        house.store, house.encoder, query, replace(PRODUCT, rerank=True, seconds=60.0)
    )
    assert set(all_read.late) == {c.id for c in all_read.candidates}
    assert all(-1.0 <= score <= 1.0 for score in all_read.late.values())
    not_read = await gather(house.store, house.encoder, query)
    assert not_read.late == {}


async def test_the_ranker_puts_the_section_of_the_questions_heading_first(house: House) -> None:
    found = await _found(house, "swimming pools fence")
    assert _ids(found)[0] == "elm-3-1"


async def test_every_passage_can_say_why_it_stands_where_it_does(
    house: House, empty: Database
) -> None:
    ran = permitbox(
        *("search", "--city", ELM, "--explain", "--json", "fence of § 1-1"), database=empty
    )
    assert ran.code == 0, ran.err
    first, *others = json.loads(ran.out)["hits"]
    assert first["external_id"] == "elm-1-1"
    assert "named" in first["explain"]["legs"]
    for hit in (first, *others):
        assert set(hit["explain"]["features"]) == set(FEATURES)
        for leg in ("dense", "lexical"):
            if leg in hit["explain"]["legs"]:
                assert hit["explain"]["legs"][leg]["index"] == "exact"
    everywhere = permitbox("search", "--city", "all", "--json", "fence", database=empty)
    assert {hit["city"] for hit in json.loads(everywhere.out)["hits"]} == {ELM}
    nowhere = permitbox("search", "--city", f"{ELM},nowhere-xx", "fence", database=empty)
    assert nowhere.code != 0
    assert "nowhere-xx" in nowhere.err
    shown = permitbox("search", "--city", ELM, "--explain", "--rerank", "fence", database=empty)
    assert "features: fused" in shown.out
    assert "the same in" in permitbox("search", "--city", ELM, "penalty", database=empty).out
