"""Named sections on a real PostgreSQL: the store's registry is its twin's, and a search says what is near."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from appliance.corpus.records import Read, read_records
from appliance.corpus.references import normalise_number, number_key
from appliance.domain import CityId, Query
from appliance.naming import named_hits, resolve_named
from appliance.testing import ListedRegister
from appliance.wiring import open_house
from tests.integration.conftest import TODAY, Database, ingested, permitbox, record

ELM = CityId("elm-hollow-xx")
FENCE = "No person shall build a fence without a permit from the building official."
Write = Callable[..., Path]

NUMBERS = ("1-105", "1-105.9", "1-105.10", "1-105.11", "1-106.1a", "15.04.020", "2-1")
QUESTIONS = (
    "sec 1 105 9",
    "section 105.9 of title 1",
    "what does 15.4.20 say",
    "§ 1-105.9(a)",
    "§ 1-105.99",
    "§ 1-106.1",
    "sections 1-105.9 through 1-105.11",
    "Chapter 8 of Title 1",
    "Chapter 8 of Title 3",
    "title 1",
    "a fence of 2-1 feet since 2024-01-05",
)


def _records() -> Iterable[dict[str, object]]:
    for number in NUMBERS:
        yield record(number, f"{FENCE} {number}", path=["Title 1", "Chapter 8"])
    yield record("30-1", FENCE, path=["Title 3", "Chapter 9"])


@pytest.mark.parametrize(
    "number",
    ["28-105.9", "15.04.020", "1.01.010", "0.5", "100", "28 105 9", "a-201", "12-1(a)", "§", "é-1"],
)
def test_the_store_makes_keys_as_the_code_does(empty: Database, number: str) -> None:
    plain = normalise_number(number)
    assert empty.one("select number_key(%s)", plain) == number_key(plain)


async def test_the_store_resolves_as_its_twin_does(empty: Database, write: Write) -> None:
    path = write(_records())
    reads = [r for r in read_records(path.read_text("utf-8"), name="elm") if isinstance(r, Read)]
    twin = ListedRegister(r.accepted for r in reads)
    async with open_house(empty.settings) as house:
        await ingested(house, path)
        for text in QUESTIONS:
            query = Query(text=text, city=ELM, as_of=TODAY)
            real, listed = [await resolve_named(r, query) for r in (house.store, twin)]
            citations = {b.section: b.citation for b in twin.bearers}
            assert [(n.how, n.kind, n.number) for n in real] == [
                (n.how, n.kind, n.number) for n in listed
            ], text
            stored = [
                [(await house.store.section(s)).citation for c in n.sections for s in c]
                for n in real
            ]
            assert stored == [[citations[s] for c in n.sections for s in c] for n in listed], text
            assert [[s.citation for s in n.suggestions] for n in real] == [
                [s.citation for s in n.suggestions] for n in listed
            ], text


async def test_a_named_section_is_a_hit_with_its_first_chunk(empty: Database, write: Write) -> None:
    async with open_house(empty.settings) as house:
        await ingested(house, write(_records()))
        query = Query(text="sec 1 105 9", city=ELM, as_of=TODAY)
        resolved = await resolve_named(house.store, query)
        (hit,) = await named_hits(house.store, query, resolved)
        (found,) = await house.store.chunks([hit.chunk])
        assert (found.section.citation, hit.score, hit.rank) == (
            "Elm Hollow Code § 1-105.9",
            1.0,
            1,
        )
        assert await named_hits(house.store, query, resolved, only=[]) == []
        early = replace(query, as_of=TODAY.replace(year=2020))
        assert await named_hits(house.store, early, resolved) == []


def test_a_search_says_which_sections_were_perhaps_meant(empty: Database, write: Write) -> None:
    done = permitbox("ingest", str(write(_records())), database=empty)
    assert done.code == 0, done.err
    ran = permitbox("search", "--city", ELM, "--json", "what does § 1-105.99 say", database=empty)
    (absent,) = ran.json["did_you_mean"]
    assert absent["asked"] == "§ 1-105.99"
    assert absent["suggestions"][0]["section"] == "Elm Hollow Code § 1-105.9"
    assert "no section 1-105.99; did you mean Elm Hollow Code § 1-105.9" in " ".join(
        ran.err.split()
    )


def test_looking_up_a_number_uses_the_index(empty: Database) -> None:
    with psycopg.connect(empty.dsn) as connection:
        connection.execute("set enable_seqscan = off")
        plan = connection.execute(
            "explain select 1 from section_label where city_id = 1"
            " and number_key(number) collate \"C\" = any('{28.105.9}'::text[])"
        ).fetchall()
    assert "section_label_key" in " ".join(line for (line,) in plan)
