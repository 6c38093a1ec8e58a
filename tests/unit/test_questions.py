"""A question of two parts is searched as two, and every other one stays whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.answers.questions import MOST, interleaved, parts_of

DEV = Path(__file__).parents[3] / "shared" / "eval"


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "Do I need a permit for a shed, and how far from the lot line must it be?",
            (
                "Do I need a permit for a shed?",
                "how far from the lot line must it be? (permit shed)",
            ),
        ),
        (
            "Parking a camper: how long may it stay, and may it be left there unhitched?",
            (
                "Parking a camper: how long may it stay?",
                "may it be left there unhitched? (Parking a camper stay)",
            ),
        ),
        (
            "We keep bees. Who licenses the hives? What does a license cost?",
            (
                "We keep bees. Who licenses the hives?",
                "What does a license cost? (We keep bees licenses hives)",
            ),
        ),
        (
            "Who inspects the pool and when does the permit expire? What is the fee and can I appeal it?",
            (
                "Who inspects the pool?",
                "when does the permit expire? (inspects pool)",
                "What is the fee and can I appeal it? (inspects pool)",
            ),
        ),
    ],
)
def test_a_question_of_several_parts_is_split(question: str, parts: tuple[str, ...]) -> None:
    assert parts_of(question) == parts


@pytest.mark.parametrize(
    "question",
    [
        "How tall can a fence be?",
        "Our house stands 4 ft off the side line. Can we extend it straight back?",
        "I have a detached house (NR) with no driveway. What do the side yards add up to?",
        "We just found a lead pipe. How quickly must I tell the tenants?",
        "What are the front and rear setbacks?",
        "Is a fence or a wall allowed where the lot meets the alley and the street?",
        "How many chickens can I keep, and why?",
        "Do I need a permit for a shed or can I just build it?",
        "Is the basement a story? It sticks out of the ground about 5 feet.",
        "What is the height and what about it?",
        "fence and shed",
        "",
    ],
)
def test_a_question_that_asks_one_thing_stays_as_it_is(question: str) -> None:
    assert parts_of(question) == (question,)


@given(st.text(max_size=40))
def test_any_text_has_parts(text: str) -> None:
    parts = parts_of(text)
    assert 1 <= len(parts) <= MOST
    assert len(parts) > 1 or parts == (text,)


def test_a_long_chain_of_questions_has_few_parts() -> None:
    assert len(parts_of("how tall is a fence and " * 500)) == MOST


@pytest.mark.skipif(not DEV.exists(), reason="the corpus is not here")
def test_few_of_the_questions_that_people_ask_are_split() -> None:
    # Read one by one: these 38 ask two things; a rule that splits more of them splits single ones.
    asked = [
        json.loads(line)["question"]
        for name in ("dev-cities", "dev-va-tn", "dev-nyc-dc")
        for line in (DEV / f"{name}.jsonl").read_text("utf-8").splitlines()
    ]
    assert sum(len(parts_of(question)) > 1 for question in asked) <= 38


@pytest.mark.parametrize(
    ("rankings", "merged"),
    [
        ([], []),
        ([[]], []),
        ([["a", "b"]], ["a", "b"]),
        ([["a", "b", "c"], ["b", "d"]], ["a", "b", "d", "c"]),
        ([["a"], ["x", "y"], ["a", "z"]], ["a", "x", "y", "z"]),
        ([[1, None], [None]], [1, None]),
    ],
)
def test_rankings_are_merged_row_by_row(rankings, merged) -> None:
    assert interleaved(rankings) == merged


@given(st.lists(st.lists(st.integers(0, 20), unique=True), max_size=4))
def test_nothing_is_lost_and_the_whole_question_leads(rankings: list[list[int]]) -> None:
    merged = interleaved(rankings)
    assert sorted(merged) == sorted({item for ranking in rankings for item in ranking})
    if rankings and rankings[0]:
        assert merged[0] == rankings[0][0]
    for item in merged:
        best = min(ranking.index(item) for ranking in rankings if item in ranking)
        assert merged.index(item) < len(rankings) * (best + 1)
