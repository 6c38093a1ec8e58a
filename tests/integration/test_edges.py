"""The graph of references in a real store: what it holds, that it follows the rows, that it can be redone."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from appliance.commands.refs import reference_json
from appliance.domain import CityId
from appliance.errors import BadRequest
from appliance.ports import CrossReference
from appliance.store.edges import PostgresEdges
from appliance.wiring import House, open_house
from tests.integration.conftest import Database, ingested, permitbox, record

ELM = CityId("elm-hollow-xx")
Write = Callable[..., Path]

FENCES = "A fence follows § 4-2 and Chapter 9, and Code of Virginia § 4-2.\nSee also this section."
WALLS = 'A wall of § 4-3 is no fence. The term "wall" means stone.'
PATH = ["Title 4", "Chapter 9. Lots"]


@pytest_asyncio.fixture
async def house(empty: Database) -> AsyncIterator[House]:
    async with open_house(empty.settings) as house:
        yield house


async def refs(house: House, number: str | None = None) -> list[CrossReference]:
    return await PostgresEdges(house.pool).references(ELM, number)


async def leads(house: House) -> set[tuple[str, str, str | None]]:
    return {(r.source, r.text, r.target or r.reason) for r in await refs(house)}


def elm(number: str, text: str) -> dict[str, object]:
    return record(number, text, path=PATH)


async def test_mentions_lead_to_sections_and_chapters_or_say_why_not(
    house: House, write: Write
) -> None:
    await ingested(house, write([elm("4-1", FENCES), elm("4-2", WALLS)]))
    assert await leads(house) == {
        ("elm-4-1", "§ 4-2", "elm-4-2"),
        ("elm-4-1", "Chapter 9", "Title 4 > Chapter 9. Lots"),
        ("elm-4-1", "Code of Virginia § 4-2", "external_law"),
        ("elm-4-1", "this section", "elm-4-1"),
        ("elm-4-2", "§ 4-3", "no_such_section"),
    }


async def test_a_reference_is_the_text_at_its_span(house: House, write: Write) -> None:
    text = "𝕊𝕊 " + FENCES
    await ingested(house, write([elm("4-1", text), elm("4-2", WALLS)]))
    texts = {"elm-4-1": text, "elm-4-2": WALLS}
    found = await refs(house)
    assert len(found) == 5
    for reference in found:
        assert reference.span.of(texts[reference.source]) == reference.text


async def test_the_fields_of_the_fixed_interface(house: House, write: Write) -> None:
    await ingested(house, write([elm("4-1", "See § 4-2."), elm("4-2", WALLS)]))
    first, second = [reference_json(r) for r in await refs(house)]
    assert json.loads(json.dumps(first)) == {
        "from": "elm-4-1",
        "to": "elm-4-2",
        "text": "§ 4-2",
        "kind": "section",
        "resolved": True,
        "reason": None,
        "start": 4,
        "end": 9,
        "candidates": [],
    }
    assert (second["to"], second["resolved"], second["reason"]) == (None, False, "no_such_section")


def test_the_command_prints_lines_for_a_script_and_for_people(samples: Database) -> None:
    asked = ("refs", "--city", "brackwater-county-xx")
    lines = [
        json.loads(line) for line in permitbox(*asked, "--json", database=samples).out.splitlines()
    ]
    assert any(line["resolved"] for line in lines)
    assert all((line["to"] is None) is not line["resolved"] for line in lines)
    open_ = permitbox(*asked, "--unresolved", "--json", database=samples).out.splitlines()
    assert [json.loads(line) for line in open_] == [line for line in lines if not line["resolved"]]
    people = permitbox(*asked, database=samples)
    assert people.code == 0
    assert len(people.out.splitlines()) == len(lines)
    assert f"{len(lines):,} references" in people.err


def test_a_city_or_section_that_is_not_held_is_one_sentence(samples: Database) -> None:
    nowhere = permitbox("refs", "--city", "nowhere-xx", database=samples)
    assert nowhere.code == 2
    assert "nowhere-xx" in nowhere.err
    none = permitbox("refs", "--city", "alder-falls-xx", "--section", "99-99", database=samples)
    assert none.code == 2
    assert "no section 99-99" in none.err


async def test_the_sections_of_a_number_show_both_directions(house: House, write: Write) -> None:
    await ingested(house, write([elm("4-1", FENCES), elm("4-2", WALLS), elm("4-9", "Nothing.")]))
    assert {(r.source, r.text) for r in await refs(house, "4-2")} == {
        ("elm-4-1", "§ 4-2"),
        ("elm-4-2", "§ 4-3"),
    }
    with pytest.raises(BadRequest, match="no section 7-7"):
        await refs(house, "7-7")


async def test_the_graph_follows_what_a_later_file_brings(
    house: House, empty: Database, write: Write
) -> None:
    path = write([elm("4-1", FENCES), elm("4-2", WALLS)])
    await ingested(house, path)
    write([elm("4-1", FENCES), elm("4-2", WALLS), elm("4-3", "A gate.")])
    await ingested(house, path)
    assert ("elm-4-2", "§ 4-3", "elm-4-3") in await leads(house)
    write([elm("4-1", FENCES), elm("4-3", "A gate.")])
    await ingested(house, path)
    assert await leads(house) == {
        ("elm-4-1", "§ 4-2", "no_such_section"),
        ("elm-4-1", "Chapter 9", "Title 4 > Chapter 9. Lots"),
        ("elm-4-1", "Code of Virginia § 4-2", "external_law"),
        ("elm-4-1", "this section", "elm-4-1"),
    }
    assert empty.one("select count(*) from edge where mention_id is null and kind = 'cites'") == 0


async def test_an_unchanged_city_is_not_linked_again(
    house: House, empty: Database, write: Write
) -> None:
    path = write([elm("4-1", FENCES), elm("4-2", WALLS)])
    await ingested(house, path)
    assert await house.loader.unlinked_cities() == []
    before = empty.rows("select xmin::text, ctid::text from edge order by 2")
    await ingested(house, path)
    assert empty.rows("select xmin::text, ctid::text from edge order by 2") == before


async def test_a_graph_whose_making_was_killed_is_made_by_the_next_run(
    house: House, empty: Database, write: Write
) -> None:
    path = write([elm("4-1", FENCES), elm("4-2", WALLS)])
    await ingested(house, path)
    whole = await leads(house)
    # As a kill between the last file and the graph leaves it: rows stored, the city not linked.
    empty.run("delete from edge")
    empty.run("update city set edges_ready = false")
    await ingested(house, path)
    assert await leads(house) == whole


async def test_making_a_graph_twice_gives_the_same(
    house: House, empty: Database, write: Write
) -> None:
    await ingested(house, write([elm("4-1", FENCES), elm("4-2", WALLS)]))
    city = empty.one("select id from city")
    query = (
        "select e.kind, f.external_id, t.external_id, e.unresolved from edge e"
        " left join section f on f.id = e.from_section left join section t on t.id = e.to_section"
        " order by 1, 2, 3, 4"
    )
    before = empty.rows(query)
    await house.loader.link_references(city)
    assert empty.rows(query) == before
    assert {row[0] for row in before} == {"contains", "next", "cites", "defines"}


async def test_edges_contain_follow_and_define(house: House, empty: Database, write: Write) -> None:
    await ingested(house, write([elm("4-1", FENCES), elm("4-2", WALLS)]))
    assert empty.rows(
        "select p.path, s.external_id from edge e join container p on p.id = e.from_container"
        " join section s on s.id = e.to_section where e.kind = 'contains' order by 2"
    ) == [(PATH, "elm-4-1"), (PATH, "elm-4-2")]
    assert empty.rows(
        "select a.external_id, b.external_id from edge e join section a on a.id = e.from_section"
        " join section b on b.id = e.to_section where e.kind = 'next'"
    ) == [("elm-4-1", "elm-4-2")]
    assert empty.rows(
        "select s.external_id, m.number from edge e join mention m on m.id = e.mention_id"
        " join section s on s.id = e.from_section where e.kind = 'defines'"
    ) == [("elm-4-2", "wall")]
