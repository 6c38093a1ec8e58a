"""The box as an assistant's tools: the real protocol, in process and over a pipe."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from appliance.commands.mcp import server_of
from appliance.wiring import House

pytestmark = pytest.mark.asyncio

FENCE = "How tall can the fence along my front yard be?"
ALDER = "alder-falls-xx"


async def called(client: Client, tool: str, **arguments: object) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error
    return json.loads(result.content[0].text)


async def test_the_tools_say_what_they_take(sample_house: House) -> None:
    async with Client(server_of(sample_house)) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) == {"cities", "search", "ask", "section"} | {"compare", "calculate", "verify"}
    assert tools["ask"].description.startswith("Answer a question from a city's code")
    assert set(tools["ask"].input_schema["required"]) == {"city", "question"}


async def test_an_answer_carries_the_proofs_of_the_command_line(sample_house: House) -> None:
    async with Client(server_of(sample_house)) as client:
        answer = await called(client, "ask", city=ALDER, question=FENCE)
        assert answer["outcome"] == "quotes"
        for citation in answer["citations"]:
            section = await called(client, "section", section_id=citation["section_id"])
            assert section["text"][citation["start"] : citation["end"]] == citation["quote"]
            assert section["version"] == citation["version"]
        after = await called(client, "ask", city=ALDER, question="And in the back?", after=[FENCE])
        assert after["route"] == "follow_up"


async def test_a_search_finds_passages_and_cities_are_listed(sample_house: House) -> None:
    async with Client(server_of(sample_house)) as client:
        found = await called(client, "search", city=ALDER, query="fence height", k=3)
        held = await called(client, "cities")
    assert 1 <= len(found["hits"]) <= 3
    assert ALDER in {city["id"] for city in held["cities"]}


async def test_a_citation_is_checked_and_cities_are_compared(sample_house: House) -> None:
    async with Client(server_of(sample_house)) as client:
        answer = await called(client, "ask", city=ALDER, question=FENCE)
        cited = answer["citations"][0]
        claim = {"city": ALDER, "citation": cited["section"], "claim": f"“{cited['quote']}”"}
        verdict = await called(client, "verify", **claim)
        assert verdict == {"verdict": "proven", "external_id": cited["external_id"], "why": None}
        # What no text has must not reach the database.
        wrong = await called(client, "verify", **claim | {"citation": "§ 99-99\0"})
        assert wrong["verdict"] == "phantom"
        both = [city["id"] for city in (await called(client, "cities"))["cities"]][:2]
        table = await called(client, "compare", cities=both, question=FENCE)
    assert set(table["cells"]) == set(both)


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("ask", {"city": "alder-fall-xx", "question": FENCE}, "Did you mean alder-falls-xx"),
        ("ask", {"city": "no city!", "question": FENCE}, "is not a city id"),
        ("ask", {"city": ALDER, "question": "?"}, "The question is empty"),
        ("ask", {"city": ALDER, "question": FENCE, "as_of": "soon"}, "2026-07-01"),
        ("section", {"section_id": 10**12}, "no section"),
        ("calculate", {"city": ALDER, "question": "What is the fee for a fence?"}, "calculator"),
        ("verify", {"city": "no city!", "citation": "§ 1", "claim": "x"}, "is not a city id"),
    ],
)
async def test_what_goes_wrong_is_one_sentence(
    sample_house: House, tool: str, arguments: dict[str, object], words: str
) -> None:
    async with Client(server_of(sample_house)) as client:
        answer = await called(client, tool, **arguments)
    assert words.casefold() in answer["error"].casefold()
    assert "\n" not in answer["error"]


async def test_it_speaks_over_standard_input_and_output(sample_house: House) -> None:
    settings = sample_house.settings
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "appliance.cli", "mcp"],
        env={"PERMITBOX_HOME": str(settings.home)},
    )
    async with Client(command) as client:
        held = await called(client, "cities")
    assert ALDER in {city["id"] for city in held["cities"]}
