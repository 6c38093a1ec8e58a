"""The generator of citations catches a verifier that lies: bugs are planted, and it must tell."""

from __future__ import annotations

import json
import random
import re
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from appliance import verify, wiring
from appliance.answers import citations
from appliance.corpus.references import Cited, parse_citation
from appliance.domain import CityId, Span, StoredSection
from appliance.store.cited import PostgresLookUp
from appliance.store.embedded import Cluster
from appliance.verify import Verifier, open_verifier
from appliance.wiring import House, open_house
from benchmarks.citations import Generated, confusion, generated, sections_of, stands
from tests.integration.conftest import (
    TODAY,
    Database,
    _copy_of,
    _dropped,
    ingested,
    permitbox,
    record,
)
from tests.integration.quick_box import _quick

SEED = 3
WORDS = (
    *("no", "person", "shall", "build", "a", "fence", "wall", "shed", "in", "the", "front", "yard"),
    *("without", "permit", "of", "city", "unless", "not", "higher", "than", "feet", "and", "owner"),
    *(
        "permitted",
        "structure",
        "structures",
        "setback",
        "line",
        "lot",
        "minimum",
        "district",
        "may",
    ),
    *("owner\u2019s", "\u201cgarage\u201d", "non-conforming", "(a)", "shall;", "height,", "area."),
)


def law(rng: random.Random) -> str:
    """Return a text of law that says nothing, with numbers."""
    numbers = [
        f"{rng.randint(1, 99)}",
        f"{rng.randint(1, 9)}.5",
        f"${rng.randint(1, 9)},000",
        "R-1",
    ]
    words = [rng.choice(WORDS if rng.random() < 0.85 else numbers) for _ in range(90)]
    return f"The {' '.join(words)}."


def code(city: str, name: str, rng: random.Random) -> Iterator[dict[str, object]]:
    """Yield the sections of a code: in force, repealed, ended, to come, and of one number."""
    fields: dict[str, object] = {"jurisdiction": city}
    for chapter in range(1, 4):
        for n in (*range(10, 24), 101, 110):
            number = f"{chapter}-{n}"
            own = fields | {"id": f"{city}-{number}", "citation": f"{name} § {number}"}
            yield record(number, law(rng), **own)
            if n % 7 == 0:  # two more records bear this number
                for more in "xy":
                    yield record(number, law(rng), **own | {"id": f"{city}-{number}{more}"})
        for n, more in (
            (30, {"status": "repealed"}),
            (31, {"effective_date": "2020-01-01", "effective_until": "2023-01-01"}),
            (32, {"effective_date": "2027-01-01"}),
        ):
            number = f"{chapter}-{n}"
            own = fields | {"id": f"{city}-{number}", "citation": f"{name} § {number}"}
            yield record(number, law(rng), **own | more)


def _file(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


@pytest_asyncio.fixture(scope="module")
async def house(
    cluster: Cluster, migrated: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[House]:
    rng = random.Random(SEED)
    rows = [*code("elm-hollow-xx", "Elm Hollow Code", rng), *code("oak-ridge-xx", "ORMC", rng)]
    path = _file(tmp_path_factory.mktemp("law") / "law.jsonl", rows)
    database = _copy_of(cluster, migrated)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wiring, "_encoder", _quick)
        async with open_house(database.settings) as house:
            summary = await ingested(house, path)
            assert not summary.rejected
            yield house
    _dropped(cluster, database)


@pytest_asyncio.fixture(scope="module")
async def made(house: House) -> list[Generated]:
    sections = await sections_of(house.pool, day=TODAY, each=60, seed=SEED)
    every = generated(house.pool, sections, n=320, day=TODAY, seed=SEED)
    return [citation async for citation in every]


@pytest_asyncio.fixture(scope="module")
async def verifier(house: House) -> AsyncIterator[Verifier]:
    async with open_verifier(house.store) as verifier:
        yield verifier


async def test_the_verifier_tells_all_of_them_apart(
    verifier: Verifier, made: list[Generated]
) -> None:
    found = await confusion(verifier, made)
    assert found.sound, "\n".join(found.lines())
    assert found.true.total() > 140
    assert found.false.total() > 140
    assert len(found.said) == 18  # every way
    assert sum(found.expected.values()) / len(made) > 0.97


# ------------------------------------------------------------------ planted bugs

Plant = Callable[[pytest.MonkeyPatch], None]


def _no_edges(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(citations, "_in_word", lambda *_: False)


def _any_case(patch: pytest.MonkeyPatch) -> None:
    locate = citations.locate
    patch.setattr(citations, "locate", lambda q, t: locate(q.casefold(), t.casefold()))


def _any_day(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(StoredSection, "in_force", lambda self, day: True)


def _any_city(patch: pytest.MonkeyPatch) -> None:
    own, others = PostgresLookUp.cited, PostgresLookUp.cited_elsewhere

    async def cited(self: PostgresLookUp, city: CityId, **named: Any) -> list[StoredSection]:
        return [*await own(self, city, **named), *await others(self, city, **named)]

    patch.setattr(PostgresLookUp, "cited", cited)
    patch.setattr(citations, "_same_code", lambda *_: True)


def _nearly(patch: pytest.MonkeyPatch) -> None:
    exact = citations.locate

    def locate(quote: str, text: str) -> Span | None:
        if found := exact(quote, text):
            return found
        words, wanted = text.split(), quote.split()
        for at in range(len(words) - len(wanted) + 1):
            window = words[at : at + len(wanted)]
            if SequenceMatcher(None, window, wanted, autojunk=False).ratio() > 0.85:
                return Span(start=0, end=1)
        return None

    patch.setattr(citations, "locate", locate)


def _first_record(patch: pytest.MonkeyPatch) -> None:
    own = citations.of_the_code
    patch.setattr(citations, "of_the_code", lambda writing, here: own(writing, here)[:1])


def _digits_dropped(patch: pytest.MonkeyPatch) -> None:
    own = PostgresLookUp.cited

    async def cited(self: PostgresLookUp, city: CityId, **named: Any) -> list[StoredSection]:
        found = list(await own(self, city, **named))
        for last in "0123456789":
            near = named["number"][:-1] + last
            found += await own(self, city, **named | {"number": near, "whole": near})
        return found

    patch.setattr(PostgresLookUp, "cited", cited)


def _any_order(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        citations,
        "locate",
        lambda q, t: Span(start=0, end=1) if set(q.split()) <= set(t.split()) else None,
    )


def _whole_city(patch: pytest.MonkeyPatch) -> None:
    judge = verify.judge_writing

    def lenient(*arguments: Any, **named: Any) -> citations.Judgement:
        return judge(*arguments, **named | {"here": [*named["here"], *named["others"]]})

    patch.setattr(verify, "judge_writing", lenient)
    patch.setattr(citations, "_same_code", lambda *_: True)


def _numbers_alike(patch: pytest.MonkeyPatch) -> None:
    locate = citations.locate

    def blind(text: str) -> str:
        return re.sub(r"\d", "0", text)

    patch.setattr(citations, "locate", lambda q, t: locate(blind(q), blind(t)))


def _another_number(patch: pytest.MonkeyPatch) -> None:
    def parse(text: str) -> Cited:
        cited = parse_citation(text)
        return replace(cited, number=cited.number.split("-", maxsplit=1)[0])

    patch.setattr(verify, "parse_citation", parse)


@pytest.mark.parametrize(
    ("plant", "caught"),
    [
        (_no_edges, {"cut in a word"}),
        (_any_case, {"other case"}),
        (_any_day, {"repealed", "too early", "too late"}),
        (_any_city, {"other city"}),
        (_nearly, {"one word", "one number"}),
        (_first_record, {"number shared"}),
        (_digits_dropped, {"digit swapped"}),
        (_any_order, {"frankenquote"}),
        (_whole_city, {"misattributed", "neighbour's number"}),
        (_numbers_alike, {"one number"}),
        (_another_number, {"by number"}),
    ],
)
async def test_a_planted_bug_is_caught(
    verifier: Verifier,
    made: list[Generated],
    monkeypatch: pytest.MonkeyPatch,
    plant: Plant,
    caught: set[str],
) -> None:
    plant(monkeypatch)
    concerned = [m for m in made if m.way in caught]
    found = await confusion(verifier, concerned)
    assert not found.sound
    assert {fault.split(":")[0] for fault in found.faults} == caught


@pytest.mark.parametrize(
    ("quote", "text", "holds"),
    [
        ("build a fence", "shall build a fence.", True),
        ("Build a fence,", "shall build a\u00a0fence.", True),
        ("the owner's", "the owner\u2019s", True),
        ("build a fence", "shall build a fences", False),
        ("build the fence", "shall build a fence", False),
        ("BUILD a fence", "shall build a fence", False),
        ("", "anything", False),
    ],
)
def test_the_look_that_shares_nothing_with_the_verifier_is_right(
    quote: str, text: str, *, holds: bool
) -> None:
    assert stands(quote, text) is holds


def test_the_command_prints_the_table_and_ends_well(samples: Database) -> None:
    ran = permitbox("bench", "citations", "--n", "40", "--seed", "2", "--json", database=samples)
    assert ran.code == 0, ran.err
    assert ran.json["sound"]
    assert ran.json["true"] >= 15
    assert ran.json["false"] >= 15
    assert ran.json["faults"] == []


def test_one_city_is_not_enough(empty: Database) -> None:
    ran = permitbox("bench", "citations", "--n", "40", database=empty)
    assert ran.code == 2
    assert "at least two cities" in ran.err
