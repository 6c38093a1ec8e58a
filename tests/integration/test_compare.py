"""Several cities, one question: each cell is its own city's proven law, whatever the others say."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from appliance import compare as compare_module
from appliance.answers.citations import prove
from appliance.ask import ChatAt
from appliance.compare import Comparison, EmptyCell, FoundCell, compare
from appliance.comparison_forms import comparison_json
from appliance.domain import CityId
from appliance.errors import BadRequest, NoSuchCity
from appliance.ports import ChatMessage
from appliance.retrieve import Retrieved
from appliance.store import embedded
from appliance.testing import ScriptedChat
from appliance.web.app import create_app
from appliance.web.schemas import ComparisonOut
from appliance.wiring import House, open_house
from eval.cases import parse_comparison_cases
from eval.cells import measure_cells
from tests.integration.conftest import TODAY, Database, _copy_of, ingested, permitbox

ELM, ASH, OAK = CityId("elm-hollow-xx"), CityId("ash-glen-xx"), CityId("oak-ridge-xx")
FENCES = "How tall may a fence in a front yard be?"


def section(city: str, number: str, heading: str, text: str, **fields: object) -> dict[str, object]:
    return {
        "jurisdiction": city,
        "jurisdiction_name": city.rsplit("-", 1)[0].replace("-", " ").title(),
        "id": f"{city}-{number}",
        "citation": f"Sec. {number}",
        "heading": heading,
        "path": ["Zoning"],
        "text": text,
        "effective_date": "2024-01-01",
    } | fields


# Twins: the same section with one other number, and a city without it.
RECORDS = [
    *(
        section(
            city,
            "10-1",
            "Fences",
            f"A fence in a front yard shall not exceed {height} feet in height. A fence in a rear yard shall"
            f" not exceed {height + 3} feet in height. No fence shall stand in the way of drivers.",
        )
        for city, height in ((ELM, 3), (ASH, 5))
    ),
    section(OAK, "10-1", "Signs", "A sign in a front yard shall not be lit at night."),
    section(
        OAK, "10-2", "Trees", "A tree in a front yard shall be at least ten feet from the street."
    ),
    *(
        section(city, "10-9", "Hens", f"No more than {count} hens may be kept on a lot.")
        for city, count in ((ELM, "six (6)"), (OAK, "four (4)"))
    ),
]


@pytest.fixture(scope="module")
def twins(cluster: embedded.Cluster, migrated: str) -> Database:
    """Return a database for three small cities."""
    return _copy_of(cluster, migrated, "twins")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the corpus file of the three cities."""
    path: Path = tmp_path_factory.mktemp("twins") / "twins.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in RECORDS), "utf-8")
    return path


@pytest.fixture(scope="module")
async def house(twins: Database, corpus: Path) -> AsyncIterator[House]:
    """Yield the house with the three cities."""
    async with open_house(twins.settings) as opened:
        await ingested(opened, corpus)
        yield opened


def client_of(app: FastAPI) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app=app)
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8080")


async def asked(
    house: House, question: str, *cities: CityId, chat: ChatAt | None = None
) -> Comparison:
    return await compare(house.store, house.encoder, chat, question, cities, TODAY)


async def test_twins_keep_their_own_numbers(house: House) -> None:
    table = await asked(house, FENCES, ELM, ASH, OAK)
    elm, ash, oak = table.cells
    assert isinstance(elm, FoundCell)
    assert isinstance(ash, FoundCell)
    assert (elm.text, ash.text) == ("3 feet", "5 feet")
    for cell in (elm, ash):
        citation = cell.citation
        assert citation.section.city == cell.city.id
        assert citation.span.of(citation.section.text) == citation.quote
        assert cell.fact.of(citation.quote) == cell.text
    assert isinstance(oak, EmptyCell), (
        "what Oak Ridge does not say is not taken from its neighbours"
    )
    assert any(s.absent and s.things == ("fence",) for s in oak.scans)
    assert "nothing in it mentions “fence”" in oak.text


async def test_the_order_of_the_cities_changes_no_cell(house: House) -> None:
    one = await asked(house, FENCES, ELM, ASH, OAK)
    other = await asked(house, FENCES, OAK, ASH, ELM)
    alone = [(await asked(house, FENCES, city)).cells[0] for city in (ELM, ASH, OAK)]
    assert list(one.cells) == list(reversed(other.cells)) == alone


async def test_cities_may_be_named_in_the_question_only(house: House) -> None:
    table = await asked(house, "How do the hens on a lot differ between Elm Hollow and Oak Ridge?")
    assert [c.city.id for c in table.cells] == [ELM, OAK]
    table = await asked(house, "How many hens may I keep on a lot in Oak Ridge, and in Elm Hollow?")
    assert [(c.city.id, c.text) for c in table.cells] == [(OAK, "four (4)"), (ELM, "six (6)")]
    with pytest.raises(BadRequest):
        await asked(house, "How many hens may I keep?")
    with pytest.raises(NoSuchCity):
        await asked(house, FENCES, ELM, CityId("nowhere-xx"))


async def test_the_form_is_the_one_that_scripts_read(house: House) -> None:
    table = await asked(house, FENCES, ELM, OAK)
    cells = comparison_json(table)["cells"]
    assert set(cells) == {ELM, OAK}
    assert cells[ELM]["found"] is True
    assert cells[ELM]["text"] == "3 feet"
    assert cells[ELM]["citations"][0]["external_id"] == f"{ELM}-10-1"
    assert cells[ELM]["citations"][0]["quote"].startswith("A fence in a front yard")
    assert cells[OAK]["found"] is False
    assert cells[OAK]["citations"] == []
    assert {"form": "fence", "why": "asked", "sections": 0, "of": "fence"} in cells[OAK]["searched"]
    assert cells[OAK]["sections"] == 3


# ------------------------------------------------------------------ with a model


def copying(messages: Sequence[ChatMessage]) -> str:
    """Pick as a good model does: words out of the passage that has them."""
    body = messages[-1].content
    for height in ("3", "5"):
        if f"exceed {height} feet" in body:
            label = body[: body.index(f"exceed {height} feet")].rsplit("[", 1)[1].split("]")[0]
            return f'[{label}] "shall not exceed {height} feet in height" => "{height} feet"'
    return "NOT IN THE PASSAGES"


async def test_a_model_picks_and_sees_one_city_at_a_time(house: House) -> None:
    chat = ScriptedChat(reply=copying)
    table = await asked(house, FENCES, ELM, ASH, OAK, chat=ChatAt(chat=chat, demo=False))
    assert [c.text for c in table.cells[:2]] == ["3 feet", "5 feet"]
    assert [c.by for c in table.cells if isinstance(c, FoundCell)] == ["scripted", "scripted"]
    assert isinstance(table.cells[2], EmptyCell)
    prompts = [m[-1].content for m in chat.seen]
    assert len(prompts) == 3
    assert not any("exceed 3 feet" in p and "exceed 5 feet" in p for p in prompts)


@pytest.mark.parametrize(
    "reply",
    [
        '[1] "a fence may be forty feet tall in every yard" => "forty feet"',  # invented
        '[1] "A fence in a front yard shall not exceed" => "5 feet"',  # the fact is another city's
        '[99] "A fence in a front yard shall not exceed" => "front yard"',
        "Three feet.",
        '[1] "a" => "a"',
    ],
)
async def test_what_a_model_makes_up_gives_way_to_the_rules(house: House, reply: str) -> None:
    table = await asked(house, FENCES, ELM, chat=ChatAt(chat=ScriptedChat(reply=reply), demo=False))
    (cell,) = table.cells
    assert isinstance(cell, FoundCell)
    assert (cell.text, cell.by) == ("3 feet", "rules")


async def test_a_demo_model_is_not_asked(house: House) -> None:
    chat = ScriptedChat(reply="NOT IN THE PASSAGES")
    table = await asked(house, FENCES, ELM, chat=ChatAt(chat=chat, demo=True))
    assert table.cells[0].text == "3 feet"
    assert not chat.seen


# ------------------------------------------------------------------ the measure


CASES = json.dumps(
    {
        "id": "fences",
        "cities": [ELM, ASH, OAK],
        "question": FENCES,
        "cells": {
            ELM: {"gold": [f"{ELM}-10-1"], "fact": "3 feet"},
            ASH: {"gold": [f"{ASH}-10-1"], "fact": "4 feet"},
            OAK: {"gold": [], "fact": None},
        },
    }
)


async def measured(house: House) -> dict[CityId, dict[str, float]]:
    cases = parse_comparison_cases(CASES, "fences")
    results = measure_cells(house.store, house.encoder, None, cases, file="fences", today=TODAY)
    return {r.of.case.city: dict(r.scores) async for r in results}


async def test_cells_are_measured_and_none_is_contaminated(house: House) -> None:
    assert await measured(house) == {
        ELM: {"right": 1.0, "wrong": 0.0, "missing": 0.0, "contaminated": 0.0},
        ASH: {"right": 0.0, "wrong": 1.0, "missing": 0.0, "contaminated": 0.0},
        OAK: {"false_find": 0.0, "contaminated": 0.0},
    }


def of_any_city(*arguments: Any, city: CityId, **options: Any) -> object:
    """Prove without asking whose law it is."""
    del city
    return prove(*arguments, **options)


async def test_a_cell_with_another_citys_law_is_caught(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault is planted: every cell gets what the first city's passages say."""
    given = compare_module.retrieve_in

    async def mixed(*arguments: Any, **options: Any) -> dict[CityId, Retrieved]:
        found = await given(*arguments, **options)
        return dict.fromkeys(found, found[ELM])

    monkeypatch.setattr(compare_module, "retrieve_in", mixed)
    # The proof itself stops it: another city's section proves nothing, so that the cell stays empty.
    assert (await measured(house))[OAK] == {"false_find": 0.0, "contaminated": 0.0}
    # Without that, the measure sees it.
    monkeypatch.setattr(compare_module, "prove", of_any_city)
    scores = await measured(house)
    assert scores[ELM]["contaminated"] == 0.0
    assert scores[ASH]["contaminated"] == 1.0
    assert scores[OAK] == {"false_find": 1.0, "contaminated": 1.0}


# ------------------------------------------------------------------ the API and the page


async def test_the_api_gives_the_form_that_it_describes(house: House) -> None:
    async with client_of(create_app(house)) as client:
        body = {"cities": [ELM, OAK], "question": FENCES, "as_of": TODAY.isoformat()}
        given = await client.post("/api/compare", json=body)
        assert given.status_code == 200, given.text
        cells = ComparisonOut.model_validate_json(given.text).cells
        assert (cells[ELM].text, cells[OAK].found) == ("3 feet", False)
        assert (
            given.json()["cells"] == comparison_json(await asked(house, FENCES, ELM, OAK))["cells"]
        )
        for wrong, status in (
            ({"question": FENCES}, 422),  # names no city
            ({"question": FENCES, "cities": ["nowhere-xx"]}, 404),
            ({"question": " ", "cities": [ELM]}, 422),
        ):
            refused = await client.post("/api/compare", json=wrong)
            assert refused.status_code == status, refused.text
            assert refused.headers["content-type"] == "application/problem+json"


async def test_the_page_has_a_row_for_each_city(house: House) -> None:
    async with client_of(create_app(house)) as client:
        page = await client.get("/compare", params={"city": [ELM, OAK], "q": FENCES})
        assert page.status_code == 200
        assert "<mark>3 feet</mark>" in page.text
        assert "nothing in it mentions “fence”" in page.text
        assert page.text.count("<tr") == 3
        assert (await client.get("/compare")).status_code == 200
        lost = await client.get("/compare", params={"city": "nowhere-xx", "q": FENCES})
        assert lost.status_code == 404
        assert 'role="alert"' in lost.text


def test_the_command_prints_a_cell_for_each_city(house: House, twins: Database) -> None:
    del house  # has loaded the cities
    cities = f"{ELM},{OAK}"
    ran = permitbox("compare", "--cities", cities, "--json", FENCES, database=twins)
    assert ran.code == 0, ran.err
    assert {c: v["found"] for c, v in ran.json["cells"].items()} == {ELM: True, OAK: False}


def test_the_measure_counts_cells_with_their_intervals(
    house: House, twins: Database, tmp_path: Path
) -> None:
    del house  # has loaded the cities
    cases, lines = tmp_path / "fences.jsonl", tmp_path / "out.jsonl"
    cases.write_text(CASES + "\n", "utf-8")
    ran = permitbox(
        *("eval", "cells", "--cases", str(cases), "--no-model", "--out", str(lines), "--json"),
        database=twins,
    )
    assert ran.code == 0, ran.err
    scores = ran.json["scores"]
    assert {name: s["count"] for name, s in scores.items()} == {
        "right": 1,
        "wrong": 1,
        "missing": 0,
        "false_find": 0,
        "contaminated": 0,
    }
    assert scores["contaminated"]["n"] == 3
    assert scores["contaminated"]["high"] > 0
    assert len(lines.read_text("utf-8").splitlines()) == 3
