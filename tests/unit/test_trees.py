"""The tree learners against the worked examples of their papers, and what holds of every tree."""

from __future__ import annotations

import json
import math
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.trees.scores import accuracy, bootstrapped, difference, label_f1, macro_f1
from benchmarks.trees.sections import label_of
from models.trees import (
    Choice,
    Example,
    Growth,
    Leaf,
    Row,
    Threshold,
    Tree,
    c45,
    counted,
    distribution,
    entropy,
    expected_errors,
    from_fields,
    gain,
    id3,
    leaves,
    predicted,
    pruned,
    split_information,
    to_fields,
    upper_errors,
)

# Quinlan 1986, table 1: outlook, temperature, humidity, windy, class.
TENNIS = """
sunny hot high false N
sunny hot high true N
overcast hot high false P
rain mild high false P
rain cool normal false P
rain cool normal true N
overcast cool normal true P
sunny mild high false N
sunny cool normal false P
rain mild normal false P
sunny mild normal true P
overcast mild high true P
overcast hot normal false P
rain mild high true N
"""

# Quinlan 1993, table 2.1: outlook, temperature, humidity, windy, class.
GOLF = """
sunny 75 70 true Play
sunny 80 90 true Don't
sunny 85 85 false Don't
sunny 72 95 false Don't
sunny 69 70 false Play
overcast 72 90 true Play
overcast 83 78 false Play
overcast 64 65 true Play
overcast 81 75 false Play
rain 71 80 true Don't
rain 65 70 true Don't
rain 75 80 false Play
rain 68 80 false Play
rain 70 96 false Play
"""


def tennis() -> list[Example]:
    names = ("outlook", "temperature", "humidity", "windy")
    return [
        Example(row=dict(zip(names, line.split(), strict=False)), label=line.split()[-1])
        for line in TENNIS.strip().splitlines()
    ]


def golf(*, unknown: int | None = None) -> list[Example]:
    """Return the book's cases; of case `unknown` the outlook is not known."""
    cases = []
    for number, line in enumerate(GOLF.strip().splitlines()):
        outlook, temperature, humidity, windy, label = line.split()
        row: Row = {
            "outlook": None if number == unknown else outlook,
            "temperature": float(temperature),
            "humidity": float(humidity),
            "windy": windy,
        }
        cases.append(Example(row=row, label=label))
    return cases


def by_value(examples: list[Example], attribute: str) -> list[dict[str, float]]:
    values = {e.row[attribute] for e in examples} - {None}
    return [dict(counted(e for e in examples if e.row[attribute] == v)) for v in sorted(values)]


# ------------------------------------------------------------------ the papers' own figures


def test_play_tennis_needs_940_thousandths_of_a_bit() -> None:
    assert entropy([9, 5]) == pytest.approx(0.940, abs=5e-4)


@pytest.mark.parametrize(
    ("attribute", "bits"),
    [("outlook", 0.246), ("temperature", 0.029), ("humidity", 0.151), ("windy", 0.048)],
)
def test_the_gains_of_play_tennis_are_those_of_1986(attribute: str, bits: float) -> None:
    assert gain(by_value(tennis(), attribute)) == pytest.approx(bits, abs=1e-3)


def test_id3_grows_the_tree_of_1986() -> None:
    tree = id3(tennis())
    assert isinstance(tree, Choice)
    assert tree.attribute == "outlook"
    assert tree.branches["overcast"] == Leaf(counts={"P": 4.0})
    tests = {v: t.attribute for v, t in tree.branches.items() if isinstance(t, Choice)}
    assert tests == {"sunny": "humidity", "rain": "windy"}
    assert leaves(tree) == 5


def test_the_gain_ratio_of_outlook_is_that_of_1993() -> None:
    groups = by_value(tennis(), "outlook")
    assert split_information(groups) == pytest.approx(1.577, abs=5e-4)
    assert gain(groups) / split_information(groups) == pytest.approx(0.156, abs=5e-4)


def test_an_unknown_outlook_costs_what_the_book_says() -> None:
    groups = by_value(golf(unknown=5), "outlook")
    assert gain(groups, 1.0) == pytest.approx(0.199, abs=5e-4)
    assert split_information(groups, 1.0) == pytest.approx(1.809, abs=5e-4)
    assert gain(groups, 1.0) / split_information(groups, 1.0) == pytest.approx(0.110, abs=5e-4)


def test_a_case_of_unknown_outlook_is_shared_out_five_three_five() -> None:
    tree = c45(golf(unknown=5), Growth(mdl=False, prune=False))
    assert isinstance(tree, Choice)
    assert tree.attribute == "outlook"
    weights = {v: math.fsum(t.counts.values()) for v, t in tree.branches.items()}
    assert weights == pytest.approx(
        {"sunny": 5 + 5 / 13, "overcast": 3 + 3 / 13, "rain": 5 + 5 / 13}
    )
    sunny = tree.branches["sunny"]
    assert isinstance(sunny, Threshold)
    assert (sunny.attribute, sunny.at) == ("humidity", 75.0)
    assert dict(sunny.below.counts) == pytest.approx({"Play": 2.0})
    assert dict(sunny.above.counts) == pytest.approx({"Don't": 3.0, "Play": 5 / 13})


def test_a_sunny_day_of_unknown_humidity_is_judged_as_in_the_book() -> None:
    tree = c45(golf(unknown=5), Growth(mdl=False, prune=False))
    day: Row = {"outlook": "sunny", "temperature": 70.0, "humidity": None, "windy": "false"}
    assert distribution(tree, day) == pytest.approx({"Play": 0.44, "Don't": 0.56}, abs=5e-3)


@pytest.mark.parametrize(
    ("cases", "errors", "limit"),
    [(6, 0, 0.206), (9, 0, 0.143), (1, 0, 0.750), (16, 1, 0.157)],
)
def test_the_upper_limits_are_those_of_the_book(cases: int, errors: int, limit: float) -> None:
    assert upper_errors(cases, errors) / cases == pytest.approx(limit, abs=5e-4)


def test_the_subtree_of_the_votes_is_pruned_as_in_the_book() -> None:
    """Chapter 4: leaves of 6, 9 and 1 cases without error give way to one leaf of 16 with one."""
    counts = {"democrat": 15.0, "republican": 1.0}
    tree = Choice(
        attribute="education spending",
        counts=counts,
        branches={
            "n": Leaf(counts={"democrat": 6.0}),
            "y": Leaf(counts={"democrat": 9.0}),
            "u": Leaf(counts={"republican": 1.0}),
        },
    )
    assert expected_errors(tree) == pytest.approx(3.273, abs=1e-2)
    assert expected_errors(Leaf(counts=counts)) == pytest.approx(16 * 0.157, abs=1e-2)
    votes = ["n"] * 6 + ["y"] * 9 + ["u"]
    cases = [
        Example(row={"education spending": v}, label="republican" if v == "u" else "democrat")
        for v in votes
    ]
    assert pruned(tree, cases) == Leaf(counts=counts)


def test_a_branch_that_does_as_well_is_raised_in_place_of_its_test() -> None:
    """The outer test sets one odd case apart; the inner one tells all the others."""
    cases = [
        Example(row={"outer": "x", "inner": "a" if n % 2 else "b"}, label="A" if n % 2 else "B")
        for n in range(40)
    ] + [Example(row={"outer": "y", "inner": "a"}, label="A")]
    inner = Choice(
        attribute="inner",
        counts={"A": 20.0, "B": 20.0},
        branches={"a": Leaf(counts={"A": 20.0}), "b": Leaf(counts={"B": 20.0})},
    )
    outer = Choice(
        attribute="outer",
        counts={"A": 21.0, "B": 20.0},
        branches={"x": inner, "y": Leaf(counts={"A": 1.0})},
    )
    raised = pruned(outer, cases)
    assert isinstance(raised, Choice)
    assert raised.attribute == "inner"
    assert raised.counts == {"A": 21.0, "B": 20.0}


def test_a_threshold_among_many_pays_for_its_choice() -> None:
    """Release 8: the one threshold that helps a little is not worth the bits that name it."""
    cases = [
        Example(row={"x": float(n)}, label="A" if n in {2, 5, 6, 9} else "B") for n in range(12)
    ]
    assert leaves(c45(cases, Growth(prune=False))) < leaves(
        c45(cases, Growth(prune=False, mdl=False))
    )


# ------------------------------------------------------------------ what holds of every tree

words = st.sampled_from(["a", "b", "c"])
labels = st.sampled_from(["yes", "no", "maybe"])
categories = st.builds(
    Example, row=st.fixed_dictionaries({"p": words, "q": words, "r": words}), label=labels
)
mixed = st.builds(
    Example,
    row=st.fixed_dictionaries(
        {"p": st.none() | words, "x": st.none() | st.integers(-5, 5).map(float), "y": st.none()}
    ),
    label=labels,
)
any_row = st.fixed_dictionaries(
    {"p": st.none() | words | st.just("new"), "x": st.none() | st.floats(-9, 9)}
)


@given(st.lists(categories, min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_the_order_of_the_examples_does_not_matter(
    cases: list[Example], order: random.Random
) -> None:
    shuffled = order.sample(cases, len(cases))
    assert id3(cases) == id3(shuffled)
    assert c45(cases) == c45(shuffled)


@given(st.lists(categories, min_size=1, max_size=30), st.sampled_from([0.25, 2.0, 8.0]))
def test_gain_knows_no_unit_of_weight(cases: list[Example], scale: float) -> None:
    heavier = [Example(row=e.row, label=e.label, weight=e.weight * scale) for e in cases]
    one, other = id3(cases), id3(heavier)
    assert leaves(one) == leaves(other)
    for case in cases:
        assert distribution(one, case.row) == pytest.approx(distribution(other, case.row))


@given(st.lists(mixed, min_size=1, max_size=20))
def test_a_pure_set_is_a_leaf(cases: list[Example]) -> None:
    pure = [Example(row=e.row, label="yes") for e in cases]
    assert c45(pure) == Leaf(counts={"yes": float(len(pure))})


@given(st.lists(categories, min_size=1, max_size=30))
def test_id3_errs_only_on_cases_that_contradict_one_another(cases: list[Example]) -> None:
    told = {tuple(sorted(e.row.items())): e.label for e in cases}
    tree = id3([Example(row=dict(row), label=label) for row, label in told.items()])
    assert all(predicted(tree, dict(row)) == label for row, label in told.items())


@given(st.lists(mixed, min_size=1, max_size=40), any_row)
def test_pruning_never_adds_a_leaf_nor_an_expected_error(cases: list[Example], row: Row) -> None:
    grown = c45(cases, Growth(prune=False))
    small = pruned(grown, cases)
    assert leaves(small) <= leaves(grown)
    # Each replacement may cost a draw's tenth of an error, no more.
    assert expected_errors(small) <= expected_errors(grown) + 0.1 * leaves(grown)
    for tree in (grown, small):
        assert math.fsum(distribution(tree, row).values()) == pytest.approx(1.0)


@given(st.lists(mixed, min_size=1, max_size=40))
def test_weight_is_neither_made_nor_lost_on_the_way_down(cases: list[Example]) -> None:
    def check(tree: Tree) -> None:
        if isinstance(tree, Leaf):
            return
        children = (
            [tree.below, tree.above] if isinstance(tree, Threshold) else tree.branches.values()
        )
        held = math.fsum(w for child in children for w in child.counts.values())
        assert held == pytest.approx(math.fsum(tree.counts.values()))
        for child in children:
            check(child)

    check(c45(cases, Growth(prune=False)))


@given(st.lists(mixed, min_size=1, max_size=40))
def test_a_tree_comes_back_from_json_as_it_was(cases: list[Example]) -> None:
    tree = c45(cases)
    assert from_fields(json.loads(json.dumps(to_fields(tree)))) == tree


def test_a_value_that_training_never_saw_is_judged_by_all_cases_of_the_node() -> None:
    tree = id3(tennis())
    assert distribution(tree, {"outlook": "hail"}) == pytest.approx({"N": 5 / 14, "P": 9 / 14})


@pytest.mark.parametrize(
    ("cases", "error", "sentence"),
    [
        ([], ValueError, "at least one example"),
        ([Example(row={"x": 1.0}, label="a")], TypeError, "categories only"),
        ([Example(row={"x": None}, label="a")], TypeError, "categories only"),
    ],
)
def test_id3_says_what_it_cannot_learn_from(
    cases: list[Example], error: type[Exception], sentence: str
) -> None:
    with pytest.raises(error, match=sentence):
        id3(cases)


def test_c45_says_that_an_attribute_is_number_and_category_at_once() -> None:
    cases = [Example(row={"x": 1.0}, label="a"), Example(row={"x": "one"}, label="b")]
    with pytest.raises(ValueError, match="numbers and categories"):
        c45(cases)


def test_a_word_where_training_had_a_number_is_refused() -> None:
    cases = [Example(row={"x": float(n)}, label="a" if n < 5 else "b") for n in range(10)]
    with pytest.raises(TypeError, match="was a number"):
        predicted(c45(cases), {"x": "five"})


# ------------------------------------------------------------------ the benchmark's own parts


@pytest.mark.parametrize(
    ("heading", "body", "label"),
    [
        ("Definitions.", "", "definition"),
        ("Sec. 30-940.2. - Definitions.", "", "definition"),
        ("§ 18.85.020: Definitions.", "", "definition"),
        ("5.7.3. Definition of Terms", "", "definition"),
        ("FEES.", "The fee is $40.", "fee_schedule"),
        ("Sec. 30-1160. - Fee.", "The fee is forty dollars.", "fee_schedule"),
        ("Schedule of Permit Fees", "$40", "fee_schedule"),
        ("Sec. 4-2. - Fees.", "Fees are set by resolution.", "regulation"),
        ("Fences and walls", "", "regulation"),
        ("Attorney's fees", "$40", None),
        ("Terms of office", "", None),
        ("Penalty schedule", "", None),
        ("Form of deed", "", None),
    ],
)
def test_a_heading_names_its_kind_or_leaves_doubt(
    heading: str, body: str, label: str | None
) -> None:
    assert label_of(heading, body) == label


def test_scores_are_those_reckoned_by_hand() -> None:
    counts = Counter({("a", "a"): 3, ("a", "b"): 1, ("b", "b"): 2, ("b", "a"): 2})
    assert accuracy(counts) == pytest.approx(5 / 8)
    assert label_f1(counts, "a") == pytest.approx(6 / 9)
    assert label_f1(counts, "b") == pytest.approx(4 / 7)
    assert macro_f1(counts) == pytest.approx((6 / 9 + 4 / 7) / 2)
    assert label_f1(counts, "c") == 0.0


def test_an_interval_holds_its_value_and_a_pair_with_itself_differs_by_nothing() -> None:
    places = {
        f"place {n}": Counter({("a", "a"): 5 + n, ("a", "b"): n % 3, ("b", "b"): 4})
        for n in range(12)
    }
    score = bootstrapped(places, accuracy)
    assert score.low <= score.value <= score.high
    assert score.low < score.high
    same = difference(places, places, macro_f1)
    assert (same.value, same.low, same.high) == (0.0, 0.0, 0.0)
