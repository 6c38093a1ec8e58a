"""A question to several cities is asked of each without their names."""

from __future__ import annotations

import pytest

from appliance.compare import bare_question
from appliance.domain import City, CityId

CITIES = [
    City(id=CityId(i), name=i)
    for i in ("alexandria-va", "norfolk-va", "franklin-tn", "henrico-county-va", "new-york-ny")
]


@pytest.mark.parametrize(
    ("question", "bare"),
    [
        (
            "How do fence heights differ between Alexandria, Norfolk and Franklin?",
            "fence heights?",
        ),
        ("Compare the hen limits of Norfolk and Henrico County.", "the hen limits"),
        (
            "How tall may a fence be in Alexandria, VA versus Norfolk, VA?",
            "How tall may a fence be?",
        ),
        ("In Alexandria and Norfolk, how many hens may I keep?", "how many hens may I keep?"),
        ("How many hens in Norfolk, and in Franklin?", "How many hens?"),
        (
            "What is the difference between Norfolk and Franklin in the fine for a violation?",
            "the fine for a violation?",
        ),
        ("Norfolk vs. Franklin: how long may a trailer stay?", "how long may a trailer stay?"),
        ("What does a permit cost in New York and Norfolk?", "What does a permit cost?"),
        ("How tall may a Norfolk pine be?", "How tall may a pine be?"),
        ("How tall may a fence be?", "How tall may a fence be?"),
        ("Norfolk vs Franklin", "Norfolk vs Franklin"),  # nothing is left to ask
    ],
)
def test_only_the_cities_and_the_comparing_go(question: str, bare: str) -> None:
    assert bare_question(question, CITIES) == bare
