"""What a question asks for is told by its own words."""

from __future__ import annotations

import pytest

from appliance.answers.sought import Bound, Kind, sought


@pytest.mark.parametrize(
    ("question", "kind", "bound"),
    [
        ("How tall may a fence be?", Kind.LENGTH, Bound.MOST),
        ("How close to the lot line can a shed stand?", Kind.LENGTH, Bound.LEAST),
        ("What is the minimum lot width?", Kind.LENGTH, Bound.LEAST),
        ("What fence heights are allowed?", Kind.LENGTH, Bound.MOST),
        ("How far in advance must I apply?", Kind.DURATION, None),
        ("How long may a trailer be parked on the street?", Kind.DURATION, None),
        ("How soon after approval does it lapse?", Kind.DURATION, None),
        ("How many days do I have to appeal?", Kind.DURATION, None),
        ("How big can a granny flat be?", Kind.AREA, Bound.MOST),
        ("How much of the lot may I cover?", Kind.SHARE, Bound.MOST),
        ("What percentage of the window can lettering take up?", Kind.SHARE, Bound.MOST),
        ("What does a permit cost?", Kind.MONEY, None),
        ("What is the fine for a first violation?", Kind.MONEY, None),
        ("How many hens may I keep?", Kind.COUNT, Bound.MOST),
        ("How many feet from the street?", Kind.LENGTH, None),
        ("How loud may a heat pump be?", Kind.NOISE, Bound.MOST),
        ("Who decides on a variance?", Kind.WORDS, None),
        ("", Kind.WORDS, None),
    ],
)
def test_the_likeliest_kind_comes_first(question: str, kind: Kind, bound: Bound | None) -> None:
    found = sought(question)
    assert found.kinds[0] is kind
    if kind is not Kind.WORDS:
        assert found.bound is bound


@pytest.mark.parametrize(
    ("question", "counted"),
    [
        ("How many hens may I keep?", {"hen", "chicken", "fowl", "poultri"}),
        ("How many yard sales may I hold?", {"sale"}),
        ("hens: how many?", {"hen", "chicken", "fowl", "poultri"}),
        ("How many people are on the board?", {"peopl", "person", "member", "resid"}),
        ("How tall is it?", set()),
    ],
)
def test_what_is_counted_has_its_other_names(question: str, counted: set[str]) -> None:
    assert counted <= sought(question).counted
    assert bool(counted) == bool(sought(question).counted)


@pytest.mark.parametrize(
    ("question", "dimension"),
    [
        ("How tall may it be?", "height"),
        ("How wide must a driveway be?", "width"),
        ("How far from the street must a house stand?", "distance"),
        ("How deep must a lot be?", "depth"),
        ("What does it cost?", None),
    ],
)
def test_a_length_has_a_dimension(question: str, dimension: str | None) -> None:
    assert sought(question).dimension == dimension
