"""Proofs of stored answers are shown again, by the command and by a script that has none of its code."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from appliance.answers.proofs import Fault, proofs_in
from appliance.ask import Asked, ask, drain
from appliance.commands.proof import read_proofs
from appliance.domain import CityId, digest_of
from appliance.errors import BadRequest
from appliance.forms import outcome_json
from appliance.verify import check_proofs
from appliance.wiring import House, open_house
from tests.integration.conftest import (
    ROOT,
    TODAY,
    Database,
    Ran,
    _copy_of,
    _dropped,
    permitbox,
)

SCRIPT = ROOT / "docs" / "check_proofs.py"
Json = dict[str, Any]


@pytest.fixture(scope="module")
def box(cluster: Any, sampled: str) -> Iterator[Database]:
    database = _copy_of(cluster, sampled)
    yield database
    _dropped(cluster, database)


@pytest_asyncio.fixture(scope="module")
async def house(box: Database) -> Any:
    async with open_house(box.settings) as house:
        yield house


@pytest_asyncio.fixture(scope="module")
async def answer(house: House) -> Json:
    asked = Asked(question="How high may a fence be?", city=CityId("alder-falls-xx"), as_of=TODAY)
    finished = await drain(ask(house.store, house.encoder, None, asked))
    found: Json = json.loads(json.dumps(outcome_json(finished)))
    assert len(found["citations"]) > 1
    return found


def alone(database: Database, text: str) -> Ran:
    """Run the script by itself: isolated, in another folder, without our packages on the path."""
    done = subprocess.run(
        [sys.executable, "-I", str(SCRIPT), database.dsn, "-"],
        input=text,
        capture_output=True,
        text=True,
        cwd="/",
        timeout=60,
        check=False,
    )
    return Ran(code=done.returncode, out=done.stdout, err=done.stderr)


async def faults_of(house: House, value: object) -> list[list[str]]:
    checked = await check_proofs(house.store, list(proofs_in(value, "x")))
    return [[fault.value for fault in one.faults] for one in checked]


def said_alone(ran: Ran) -> list[list[str]]:
    assert not ran.err
    faults = [line.rpartition(": ")[2] for line in ran.out.splitlines()]
    return [[] if f == "ok" else f.split(", ") for f in faults]


async def test_a_given_answer_holds(house: House, box: Database, answer: Json) -> None:
    expected: list[list[str]] = [[] for _ in answer["citations"]]
    assert await faults_of(house, answer) == expected
    ran = alone(box, json.dumps(answer))
    assert ran.code == 0
    assert said_alone(ran) == expected


def test_the_script_imports_nothing_of_ours_and_is_short() -> None:
    text = SCRIPT.read_text("utf-8")
    assert "import appliance" not in text
    assert "from appliance" not in text
    assert len(text.splitlines()) < 170


TAMPERED: dict[str, tuple[Any, Fault]] = {
    "city": ("brackwater-county-xx", Fault.NO_SUCH_SECTION),
    "section": ("§ 1.1.1", Fault.NO_SUCH_SECTION),
    "section_id": (lambda c: c["section_id"] + 1, Fault.WRONG_PROOF),
    "external_id": ("alder-falls-xx/1", Fault.NO_SUCH_SECTION),
    "version": ("0" * 64, Fault.NO_SUCH_VERSION),
    "effective_from": ("1999-01-01", Fault.WRONG_DATES),
    "effective_until": ("2050-01-01", Fault.WRONG_DATES),
    "start": (lambda c: c["start"] + 1, Fault.WRONG_QUOTE),
    "end": (lambda c: c["end"] - 1, Fault.WRONG_QUOTE),
    "quote": (lambda c: c["quote"].replace("e", "a", 1), Fault.WRONG_QUOTE),
    "quote_sha256": ("0" * 64, Fault.WRONG_HASH),
    "legs": (["named"], Fault.WRONG_PROOF),
    "as_of": ("1990-01-01", Fault.NOT_IN_FORCE),
    "proof_sha256": ("0" * 64, Fault.WRONG_PROOF),
}
BROKEN: dict[str, Any] = {
    "start": -1,
    "end": "12",
    "as_of": "2026-02-30",
    "legs": None,
    "section_id": True,
    "quote": 7,
    "effective_from": 2020,
}


def changed(answer: Json, name: str, value: Any) -> Json:
    """Return an answer of one citation in which one field is another."""
    citation = dict(answer["citations"][0])
    citation[name] = value(citation) if callable(value) else value
    return answer | {"citations": [citation]}


async def test_each_field_that_is_tampered_with_is_told_by_both(
    house: House, box: Database, answer: Json
) -> None:
    files = [changed(answer, name, value) for name, (value, _) in TAMPERED.items()]
    files += [changed(answer, name, value) for name, value in BROKEN.items()]
    missing = dict(answer["citations"][0])
    del missing["version"]
    files.append({"citations": [missing]})
    found = await faults_of(house, files)
    for (name, (_, fault)), faults in zip(TAMPERED.items(), found, strict=False):
        assert fault.value in faults, name
        assert "wrong_proof" in faults or name == "quote", name
    assert found[len(TAMPERED) :] == [["malformed"]] * (len(BROKEN) + 1)
    ran = alone(box, "".join(json.dumps(f) + "\n" for f in files))
    assert ran.code == 1
    assert said_alone(ran) == found


async def test_a_tampered_proof_whose_digests_were_made_anew_is_told_by_the_text(
    house: House, box: Database, answer: Json
) -> None:
    (whole,) = proofs_in({"citation": answer["citations"][0]}, "x")
    assert whole.proof is not None
    quote = whole.proof.quote.replace("e", "a", 1)
    forged = replace(whole.proof, quote=quote, quote_sha256=digest_of(quote))
    citation = answer["citations"][0] | {
        "quote": quote,
        "quote_sha256": forged.quote_sha256,
        "proof_sha256": forged.digest,
    }
    value = answer | {"citations": [citation]}
    assert await faults_of(house, value) == [["wrong_quote"]]
    assert said_alone(alone(box, json.dumps(value))) == [["wrong_quote"]]


async def test_a_text_that_was_changed_in_the_database_is_told(
    cluster: Any, sampled: str, answer: Json
) -> None:
    database = _copy_of(cluster, sampled)
    database.run("update document set body = replace(body, 'fence', 'fense')")
    value = answer | {"citations": answer["citations"][:1]}
    async with open_house(database.settings) as house:
        (faults,) = await faults_of(house, value)
    assert faults[0] == "text_changed"
    assert said_alone(alone(database, json.dumps(value))) == [faults]
    _dropped(cluster, database)


async def test_an_end_that_came_to_be_known_later_is_no_fault(
    cluster: Any, sampled: str, answer: Json
) -> None:
    database = _copy_of(cluster, sampled)
    value = answer | {"citations": answer["citations"][:1]}
    async with open_house(database.settings) as house:
        database.run("update document set effective_until = '2026-12-31'")
        assert await faults_of(house, value) == [[]]
        assert said_alone(alone(database, json.dumps(value))) == [[]]
        database.run("update document set effective_until = '2026-01-31'")
        assert await faults_of(house, value) == [["not_in_force"]]
        assert said_alone(alone(database, json.dumps(value))) == [["not_in_force"]]
    _dropped(cluster, database)


def test_the_command_says_what_holds(box: Database, answer: Json, tmp_path: Path) -> None:
    bad = changed(answer, "quote", "No fence is too high.")
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps(answer) + "\n\n" + json.dumps([bad]) + "\n", "utf-8")
    ran = permitbox("proof", "check", str(path), "--json", database=box)
    assert ran.code == 1
    lines = [json.loads(line) for line in ran.out.splitlines()]
    assert [line["ok"] for line in lines] == [True] * len(answer["citations"]) + [False]
    assert lines[-1]["where"] == "answers.jsonl:3[0].citations[0]"
    assert lines[-1]["faults"] == ["wrong_hash", "wrong_quote"]
    good = permitbox("proof", "check", "-", database=box, stdin=json.dumps(answer).encode())
    assert good.code == 0
    assert all(line.startswith("ok") for line in good.out.splitlines())


@pytest.mark.parametrize(
    ("value", "places"),
    [
        ({}, []),
        ([], []),
        ("text", []),
        ({"citations": []}, []),
        ({"claims": [{"text": "x", "citations": [1, 2]}]}, []),
        ({"citation": {}}, ["x.citation"]),
        ([{"citations": [{}, {}]}], ["x[0].citations[0]", "x[0].citations[1]"]),
        (
            {"cells": {"a-xx": {"citations": [{}]}, "b-xx": {"citations": []}}},
            ["x.cells.a-xx.citations[0]"],
        ),
        (
            {"citation": {}, "steps": [{"citation": {}}]},
            ["x.citation", "x.steps[0].citation"],
        ),
    ],
)
def test_citations_are_found_wherever_they_stand(value: object, places: list[str]) -> None:
    assert [read.where for read in proofs_in(value, "x")] == places


def test_a_file_that_is_no_json_is_named_by_its_line() -> None:
    with pytest.raises(BadRequest, match=r"Line 2 of f.jsonl is not JSON"):
        list(read_proofs('{"a": 1}\nnonsense\n', "f.jsonl"))
    deep: Any = "[" * 100_000
    with pytest.raises(BadRequest, match="Line 1"):
        list(read_proofs(deep, "f"))
