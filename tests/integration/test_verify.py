"""Citations that people bring, judged by a real store: what a number means, and where a quote stands."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from appliance import wiring
from appliance.domain import CityId
from appliance.verify import ClaimLine, verify_claim, verify_claims
from appliance.wiring import House, open_house
from tests.integration.conftest import TODAY, _copy_of, _dropped, ingested, record
from tests.integration.quick_box import _quick

ELM, OAK = "elm-hollow-xx", "oak-ridge-xx"
FENCE = "A fence in a front yard shall not be higher than four feet above the ground."
SHED = "A shed of more than ten feet needs a permit from the building official of the town."
HEIGHTS = "| Yard | Height |\n|---|---|\n| front yard of a corner lot | 4 feet |"
MENTION = "The heights of Table 7.2 hold for walls of stone in every yard of the town, too."
LONG = " ".join(f"Rule number {n} of this section says that item {n} is kept." for n in range(300))


def rows() -> Iterator[dict[str, object]]:
    yield record("7-1", FENCE)
    yield record("7-2", SHED)
    yield record("7-3", f"Heights.\n\nTable 7.2\n\n{HEIGHTS}\n")
    yield record("7-4", MENTION)
    yield record("7-5", LONG)
    yield record("7-6", f"{FENCE} As it was.", effective_until="2025-01-01")
    yield record("7-7", "A wall may be built of brick from the day on which this begins.",
                 effective_date="2027-01-01")  # fmt: skip
    other = {"jurisdiction": OAK, "id": "oak-7-1", "citation": "Oak Ridge Municipal Code § 7-1"}
    yield record("7-1", "No goat shall be kept within two miles of the oak ridge itself.", **other)


@pytest_asyncio.fixture(scope="module")
async def house(
    cluster: Any, migrated: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[House]:
    database = _copy_of(cluster, migrated)
    path = _written(tmp_path_factory.mktemp("law") / "law.jsonl")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wiring, "_encoder", _quick)
        async with open_house(database.settings) as house:
            assert not (await ingested(house, path)).rejected
            yield house
    _dropped(cluster, database)


def _written(path: Path) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows()), "utf-8")
    return path


def claim(citation: str, quote: str, city: str = ELM) -> ClaimLine:
    return ClaimLine(city=CityId(city), citation=citation, claim=f'It says "{quote}"')


@pytest.mark.parametrize(
    ("given", "verdict", "record_id"),
    [
        (claim("§ 7-1", "shall not be higher than four feet"), "proven", "elm-7-1"),
        (claim("Elm Hollow Code § 7-1", "in a front yard shall"), "proven", "elm-7-1"),
        (claim("§ 7-1", "shall not be higher than five feet"), "misquoted", "elm-7-1"),
        (claim("§ 7-1", "needs a permit from the building official"), "wrong_section", "elm-7-2"),
        (claim("§ 7-9", "needs a permit from the building official"), "phantom", None),
        (claim("§ 7-1", "goat shall be kept within two miles"), "wrong_city", "oak-7-1"),
        (claim("§ 7-1", FENCE, OAK), "wrong_city", "elm-7-1"),
        # The name of another city's code, in full and by its initials.
        (claim("Oak Ridge Municipal Code § 7-2", SHED), "wrong_city", None),
        (claim("ORMC § 7-2", SHED), "wrong_city", None),
        (claim("§ 7-2", SHED), "proven", "elm-7-2"),
        # A table is where it stands; who only mentions it is not meant.
        (claim("Table 7.2", "front yard of a corner lot"), "proven", "elm-7-3"),
        (claim("Table 7.2", "walls of stone in every yard"), "wrong_section", "elm-7-4"),
        # Versions by date.
        (claim("§ 7-6", "above the ground. As it was"), "repealed", "elm-7-6"),
        (claim("§ 7-7", "may be built of brick from the day"), "not_yet_in_force", "elm-7-7"),
        (claim("§ 7-1", "be higher"), "unsupported", "elm-7-1"),
    ],
)
async def test_a_citation_is_judged_by_what_the_box_holds(
    house: House, given: ClaimLine, verdict: str, record_id: str | None
) -> None:
    found = await verify_claim(house.store, given, TODAY)
    assert found.verdict == verdict
    assert (found.section.external_id if found.section else None) == record_id
    assert bool(found.why) is (verdict != "proven")


async def test_the_version_of_the_day_is_judged(house: House) -> None:
    before = await verify_claim(
        house.store, claim("§ 7-6", "the ground. As it was."), date(2024, 6, 1)
    )
    after = await verify_claim(
        house.store, claim("§ 7-7", "of brick from the day"), date(2027, 1, 1)
    )
    assert [before.verdict, after.verdict] == ["proven", "proven"]


async def test_a_quote_that_goes_over_the_end_of_a_chunk_is_found_elsewhere(house: House) -> None:
    quotes = [
        f"says that item {n} is kept. Rule number {n + 1} of this section says" for n in range(299)
    ]
    judged = await verify_claims(house.store, [claim("§ 7-1", q) for q in quotes], TODAY)
    assert {(j.verdict, j.section and j.section.external_id) for j in judged} == {
        ("wrong_section", "elm-7-5")
    }
