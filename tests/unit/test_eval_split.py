"""Cities held out in parts: whole, every one once, and the same on every machine."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.errors import BadRequest
from eval.split import folds

CITIES = ["salem-va", "dc", "nyc", "norfolk-va", "brandon-sd", "san-mateo-ca", "hampton-va"]

names = st.lists(st.sampled_from([f"city-{i}" for i in range(15)]), min_size=2, max_size=120)


@given(names, st.integers(2, 6), st.integers(0, 5))
def test_every_city_is_in_one_part_and_no_part_is_empty(
    cities: list[str], k: int, seed: int
) -> None:
    k = min(k, len(set(cities)))
    if k < 2:
        return
    parts = folds(cities, k, seed)
    assert len(parts) == k
    assert all(parts)
    assert sorted(c for part in parts for c in part) == sorted(set(cities))


@given(names, st.integers(0, 5), st.randoms())
def test_the_order_in_which_cities_come_makes_no_difference(cities, seed, chance) -> None:
    if len(set(cities)) < 2:
        return
    shuffled = list(cities)
    chance.shuffle(shuffled)
    assert folds(shuffled, 2, seed) == folds(cities, 2, seed)


def test_the_parts_are_pinned_so_that_a_benchmark_can_be_repeated() -> None:
    assert folds(CITIES, 3, 0) == PINNED


PINNED = (
    frozenset({"brandon-sd", "norfolk-va", "san-mateo-ca"}),
    frozenset({"dc", "nyc"}),
    frozenset({"hampton-va", "salem-va"}),
)


def test_another_seed_gives_other_parts() -> None:
    assert len({frozenset(folds(CITIES, 3, seed)) for seed in range(8)}) > 1


def test_parts_hold_about_as_many_questions_each() -> None:
    asked = ["nyc"] * 50 + ["dc"] * 40 + ["san-mateo-ca"] * 54 + [f"va-{i}" for i in range(14)] * 7
    parts = folds(asked, 4, 0)
    loads = [sum(asked.count(c) for c in part) for part in parts]
    assert max(loads) - min(loads) <= 7


@pytest.mark.parametrize(("cities", "k"), [(["a"], 2), (["a", "b"], 3), (["a", "b"], 1), ([], 2)])
def test_fewer_cities_than_parts_are_refused(cities: list[str], k: int) -> None:
    with pytest.raises(BadRequest, match="cannot be held out"):
        folds(cities, k)
