"""The paired tests: where nothing differs they find nothing, and where all differs they say so."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from eval.significance import EXCHANGES, bootstrap_p, paired, randomisation_p


def exact_randomisation_p(differences: list[float]) -> float:
    """Return the p over all 2^n exchanges: what the random ones estimate."""
    observed = abs(sum(differences))
    sums = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    return sum(s >= observed - 1e-12 for s in sums) / len(sums)


@pytest.mark.parametrize(
    "differences",
    [
        [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, -1.0, 1.0],
        [0.5, 0.25, -0.1, 0.3, 0.2, -0.4, 0.6, 0.1, 0.05],
        [0.2, -0.2, 0.1, -0.1],
    ],
)
def test_random_exchanges_estimate_the_share_of_all_exchanges(differences: list[float]) -> None:
    assert randomisation_p(np.array(differences)) == pytest.approx(
        exact_randomisation_p(differences), abs=0.02
    )


@pytest.mark.parametrize("test", [bootstrap_p, randomisation_p])
def test_two_equal_runs_have_p_one(test) -> None:
    assert test(np.zeros(40)) == 1.0


@pytest.mark.parametrize("test", [bootstrap_p, randomisation_p])
def test_a_plain_difference_has_a_small_p_but_never_zero(test) -> None:
    differences = np.random.default_rng(1).normal(0.3, 0.3, 100)
    assert 0 < test(differences) < 0.001


@pytest.mark.parametrize("test", [bootstrap_p, randomisation_p])
def test_of_runs_without_a_difference_about_one_in_twenty_has_p_below_one_in_twenty(test) -> None:
    rng = np.random.default_rng(7)
    hits = sum(test(rng.normal(0, 1, 40)) < 0.05 for _ in range(60))
    assert hits <= 9  # the chance of ten or more of 60 at one in twenty is below 0.1 %


@pytest.mark.parametrize("test", [bootstrap_p, randomisation_p])
def test_p_does_not_depend_on_which_run_is_called_first(test) -> None:
    differences = np.random.default_rng(3).normal(0.1, 0.4, 30)
    assert test(differences) == pytest.approx(test(-differences), abs=0.02)


def test_the_same_numbers_give_the_same_p_every_time() -> None:
    before, after = [0.1, 0.5, 0.9, 0.3], [0.2, 0.5, 0.8, 0.6]
    assert paired(before, after) == paired(before, after)


def test_questions_that_did_not_change_do_not_weaken_the_randomisation_test() -> None:
    told = np.array([0.4, 0.5, 0.3, 0.6, 0.2, 0.5, 0.4])
    assert randomisation_p(np.concatenate([told, np.zeros(300)])) == randomisation_p(told)
    assert randomisation_p(told) >= 1 / EXCHANGES


def test_two_cases_that_got_worse_are_not_called_harm_though_their_interval_says_worse() -> None:
    two = paired([1.0, 1.0], [0.8, 0.9])
    assert (two.shown, two.harm) == ("worse", False)
    many = paired([1.0] * 12, [0.8, 0.9] * 6)
    assert (many.shown, many.harm) == ("worse", True)


def test_lists_of_different_lengths_do_not_pair() -> None:
    with pytest.raises(ValueError, match=r"shape|zip"):
        paired([0.1], [0.1, 0.2])
