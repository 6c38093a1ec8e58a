"""The quantities that may be a fact, each at its exact place."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.answers.measures import measures
from appliance.answers.sought import Kind, Sought, sought
from tests.growth import grows_linearly


def wanted(*kinds: Kind, counted: frozenset[str] = frozenset()) -> Sought:
    return Sought(kinds=kinds, counted=counted)


HENS = sought("How many hens may I keep?")


@pytest.mark.parametrize(
    ("text", "sought_", "found"),
    [
        ("not exceed six (6) feet in height", wanted(Kind.LENGTH), [("six (6) feet", 6)]),
        (
            "sixteen (16) consecutive calendar days and no more",
            wanted(Kind.DURATION),
            [("sixteen (16) consecutive calendar days", 16)],
        ),
        ("for six consecutive months.", wanted(Kind.DURATION), [("six consecutive months", 6)]),
        ("a 14-day period", wanted(Kind.DURATION), [("14-day", 14)]),
        ("two and one-half years", wanted(Kind.DURATION), [("two and one-half years", "2.5")]),
        ("a height of 3'-6\" at most", wanted(Kind.LENGTH), [("3'-6\"", "3.5")]),
        ("5 feet, 6 inches", wanted(Kind.LENGTH), [("5 feet, 6 inches", "5.5")]),
        ("6 feet and 30 inches", wanted(Kind.LENGTH), [("6 feet", 6), ("30 inches", 30)]),
        ("a fine of $50.00 each", wanted(Kind.MONEY), [("$50.00", 50)]),
        ("25 percent of 400 square feet", wanted(Kind.SHARE), [("25 percent", 25)]),
        (
            "25 percent of 400 square feet",
            wanted(Kind.SHARE, Kind.AREA),
            [("25 percent", 25), ("400 square feet", 400)],
        ),
        ("no more than six (6) adult hens", HENS, [("six (6)", 6)]),
        ("No more than 4 chickens on 2 acres", HENS, [("4", 4)]),
        ("The number of hens shall not exceed six.", HENS, [("six", 6)]),
        ("Section 12 hens", HENS, []),
        ("one of the hens, or 2 of them", HENS, []),
        ("(1) Hens are kept in a coop", HENS, []),
        ("hens in 4.5 acres or R-4", HENS, []),
        ("a sale may be held twice a year", wanted(Kind.COUNT), [("twice", 2)]),
        ("six feet", wanted(Kind.WORDS), []),
        ("", HENS, []),
    ],
)
def test_quantities_of_the_wanted_kind_are_found(
    text: str, sought_: Sought, found: list[tuple[str, object]]
) -> None:
    got = [(m.span.of(text), m.value) for m in measures(text, sought_)]
    assert got == [(words, Decimal(str(value))) for words, value in found]


pieces = st.sampled_from(
    [*"abct 0123456789.,;:()'\"-$%\n", "six ", "feet ", "days ", "hens ", "consecutive ", "inches "]
)
lawful = st.lists(pieces, max_size=60).map("".join)


@given(lawful)
def test_every_measure_lies_in_the_text_and_is_not_empty(text: str) -> None:
    every = wanted(*Kind, counted=frozenset({"hen"}))
    for measure in measures(text, every):
        assert measure.span.of(text).strip()
        assert measure.span.end <= len(text)
        assert measure.value >= 0


@pytest.mark.parametrize("unit", ["six ", "6 consecutive ", "3' ", "consecutive ", "six (6) hens "])
def test_reading_takes_linear_time(unit: str) -> None:
    every = wanted(*Kind, counted=frozenset({"hen"}))
    assert grows_linearly(lambda text: measures(text, every), unit, 6_000)
