"""An exhaustive scan over real PostgreSQL: what is mentioned is found wherever it stands, the rest is absent."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from appliance.absence import Scan, scan, sentence
from appliance.domain import CityId
from appliance.errors import QuestionRefused
from appliance.wiring import House, open_house
from tests.integration.conftest import TODAY, Database, ingested, permitbox, record

ELM, ASH = CityId("elm-hollow-xx"), CityId("ash-glen-xx")
FILLER = "The administrator shall keep a record of every application that is made. " * 30

RECORDS = [
    record("1", f"{FILLER} A spa or hot tub needs a cover that locks. {FILLER}"),
    record("2", "A fence shall not be taller than six feet."),
    record("3", "Ducks are kept in pens.", path=["Title 1", "Chapter 4 Beekeeping"]),
    record(
        "4",
        "Fowl means chickens, ducks and geese.\n\nAlley means a way.\n\nLot means land.\n\n"
        "Yard means a space.\n\n",
        heading="Definitions",
    ),
    record("5", "Fowl shall be kept behind the house."),
    record("6", "Trampolines are forbidden.", effective_until="2025-01-01"),
    record("7", "[Repealed.] Saunas were allowed.", status="repealed"),
    record("8", "Zip lines are forbidden.", jurisdiction="ash-glen-xx", id="ash-8"),
]


async def scanned(house: House, *things: str, day: date = TODAY, city: CityId = ELM) -> Scan:
    return await scan(house.store, city, things, day)


async def test_every_section_in_force_is_read_and_a_mention_anywhere_is_found(
    empty: Database, write: Callable[..., Path]
) -> None:
    async with open_house(empty.settings) as house:
        await ingested(house, write(RECORDS))
        tubs = await scanned(house, "hot tubs")
        assert not tubs.absent
        assert [m.place.external_id for m in tubs.mentioned] == ["elm-1"]
        assert "hot tub needs a cover" in tubs.mentioned[0].words
        held = empty.one(
            "select count(distinct section_id) from chunk c join document d on d.id = c.document_id"
            " join city y on y.id = c.city_id where c.searchable and y.slug = 'elm-hollow-xx'"
            " and (d.effective_until is null or d.effective_until > %s)",
            TODAY,
        )
        assert tubs.sections == held

        place = tubs.mentioned[0].place
        text = (await house.store.section(place.section)).text
        assert place.span.of(text) == tubs.mentioned[0].words

        assert (await scanned(house, "saunas")).absent  # repealed
        assert (await scanned(house, "trampoline")).absent  # no longer in force
        assert not (await scanned(house, "trampoline", day=date(2024, 6, 1))).absent
        assert (await scanned(house, "zip lines")).absent  # another city's
        assert not (await scanned(house, "zip lines", city=ASH)).absent

        bees = await scanned(house, "beehives")  # only the title of a chapter, under another name
        assert [(m.place.external_id, m.form, m.words) for m in bees.mentioned] == [
            ("elm-3", "beekeeping", "")
        ]
        assert "by that name" in sentence(bees, "Elm Hollow")

        ducks = await scanned(house, "ducks")  # the code calls them fowl by a definition of its own
        assert {"elm-3", "elm-4", "elm-5"} == {m.place.external_id for m in ducks.mentioned}
        assert ("fowl", "defined term", 2) in {(f.form, f.why, f.sections) for f in ducks.looked}

        before = await scanned(house, "fence", day=date(2020, 1, 1))
        assert before.sections == 0
        assert not before.absent, "what was not read is not absent"
        with pytest.raises(QuestionRefused):
            await scanned(house, "the")


def test_the_command_says_what_it_searched(samples: Database) -> None:
    ran = permitbox(
        "absent", "--city", "alder-falls-xx", "--json", "hot air balloons", database=samples
    )
    assert ran.code == 0, ran.err
    said = ran.json
    assert said["absent"] is True
    assert said["sections"] > 10
    assert said["searched"][0] == {"form": "hot air balloons", "why": "asked", "sections": 0}
    assert said["text"].startswith("Nothing in the code of Alder Falls")
