"""Duplicates become one candidate that lists the others, and two different rules never do."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.answers.duplicates import collapsed, same, shingles

PENALTY = (
    "Any person who violates a provision of this chapter, or fails to comply with an order made under "
    "it, commits a civil infraction and upon a finding of guilt is punished by a fine of $50 for the "
    "violation; each day on which it goes on is a separate offense, and the official may order that "
    "the work be stopped until the cause is removed and the fee of the permit is paid in full."
)
WORDS = st.sampled_from(
    [
        "the",
        "owner",
        "of",
        "a",
        "lot",
        "shall",
        "not",
        "may",
        "build",
        "fence",
        "six",
        "6",
        "feet",
        "$50",
        "7",
        "high",
        "in",
        "front",
        "rear",
        "yard",
        "and",
    ]
)
TEXTS = st.lists(st.lists(WORDS, max_size=14).map(" ".join), max_size=12)


@pytest.mark.parametrize(
    "other",
    [
        PENALTY,
        PENALTY.upper(),
        PENALTY.replace(" ", "\n"),
        PENALTY.replace("chapter, or", "chapter – or"),
        PENALTY.replace("Any person", "Any persons"),
        PENALTY.removesuffix(" in full."),
    ],
)
def test_texts_that_say_the_same_are_one(other: str) -> None:
    assert same(PENALTY, other)


@pytest.mark.parametrize(
    ("words", "others"),
    [
        ("$50", "$60"),
        ("$50", "fifty"),
        ("fails to", "does not fail to"),
        ("until", "unless"),
        ("may order", "shall order"),
        ("chapter", "chapter II"),
        ("the permit", "the permit for class B"),
        ("each day", "each week"),
        ("separate", "2nd"),
        ("fine of", "minimum fine of"),
    ],
)
def test_one_word_that_decides_keeps_two_texts_apart(words: str, others: str) -> None:
    assert words in PENALTY
    assert not same(PENALTY, PENALTY.replace(words, others, 1))


def test_numbers_in_another_order_are_another_rule() -> None:
    fees = "The fee is $50 for a fence and $60 for a wall."
    assert not same(fees, "The fee is $60 for a fence and $50 for a wall.")


def test_half_of_a_text_is_not_the_text() -> None:
    assert not same("a long walk by the river", "a long walk")


def test_the_first_one_stays_and_lists_the_others_in_order() -> None:
    items = [
        ("1", PENALTY),
        ("2", "Fences."),
        ("3", PENALTY.lower()),
        ("4", "FENCES"),
        ("5", PENALTY),
    ]
    groups = collapsed(items, lambda item: item[1])
    assert [(first[0], [other[0] for other in others]) for first, others in groups] == [
        ("1", ["3", "5"]),
        ("2", ["4"]),
    ]


def test_texts_without_a_word_are_not_taken_for_each_other() -> None:
    assert len(collapsed(["", "—", ""], str)) == 3


@given(TEXTS)
def test_every_item_is_there_once_and_the_order_stays(texts: list[str]) -> None:
    items = list(enumerate(texts))
    groups = collapsed(items, lambda item: item[1])
    flat = [item for first, others in groups for item in (first, *others)]
    assert sorted(flat) == items
    firsts = [first for first, _ in groups]
    assert firsts == sorted(firsts)
    assert all(
        list(others) == sorted(others) and first < min(others) for first, others in groups if others
    )


@given(TEXTS)
def test_what_was_collapsed_has_nothing_left_to_collapse(texts: list[str]) -> None:
    firsts = [first for first, _ in collapsed(texts, str)]
    assert [first for first, _ in collapsed(firsts, str)] == firsts


@given(st.lists(WORDS, min_size=5, max_size=300), st.data())
def test_a_changed_number_is_never_lost(words: list[str], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(words) - 1))
    one = [*words[:at], "40", *words[at + 1 :]]
    other = [*words[:at], "45", *words[at + 1 :]]
    assert not same(" ".join(one), " ".join(other))


@given(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=60), st.data())
def test_near_is_the_jaccard_index_from_nine_tenths_on(letters: list[str], data) -> None:
    one = tuple(f"w{letter}" for letter in letters)
    cut = data.draw(st.integers(0, len(one) - 1))
    other = one[cut:] + tuple(data.draw(st.lists(st.sampled_from(["wa", "wz"]), max_size=6)))
    a, b = shingles(one), shingles(other)
    assert same(" ".join(one), " ".join(other)) == (len(a & b) / len(a | b) >= 0.9)


def test_fifty_candidates_are_compared_in_a_few_milliseconds() -> None:
    rng = random.Random(1)
    plain = [
        "owner",
        "fence",
        "wall",
        "permit",
        "chapter",
        "city",
        "code",
        "official",
        "section",
        "building",
        "lot",
        "use",
    ]
    texts = [" ".join(rng.choices(plain, k=130)) for _ in range(50)]  # no word that decides
    begin = time.process_time()
    for _ in range(10):
        collapsed(texts, str)
    assert (time.process_time() - begin) / 10 < 0.1  # 3 ms on an idle core
