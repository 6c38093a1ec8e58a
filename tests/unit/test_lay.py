"""What people call a thing adds what codes call it to the search, and nothing else does."""

from __future__ import annotations

import pytest

from appliance.corpus.lay import alike, is_lay, legal_terms, other_names, widened


@pytest.mark.parametrize(
    ("question", "added"),
    [
        ("How tall is a fence?", ["maximum height"]),
        ("Can I build a granny flat?", ["accessory dwelling unit"]),
        ("my neighbour\u2019s STRs", ["short-term rental", "neighbor"]),
        ("What FAR applies?", ["floor area ratio"]),
        ("How far is it?", ["setback minimum distance"]),  # "far" is no short form
        ("WHAT FAR APPLIES TO THE ROW OF HOUSES", []),  # nor is it in a question all in capitals
        ("the co alarm", ["carbon monoxide detector"]),
        ("when do I need a CO", ["certificate of occupancy"]),
        ("an SF-6 district", []),
        ("a 600 sq. ft. shed", ["accessory building accessory structure shed", "square feet"]),
        ("", []),
    ],
)
def test_a_question_adds_the_words_of_codes(question: str, added: list[str]) -> None:
    assert sorted(legal_terms(question)) == sorted(added)


def test_the_question_stays_and_the_words_follow() -> None:
    assert widened("a granny flat") == "a granny flat (accessory dwelling unit)"
    assert widened("a fence") == "a fence"


@pytest.mark.parametrize(
    ("word", "known"),
    [("granny", True), ("campers", True), ("apartmentts", False), ("fence", False), ("", False)],
)
def test_lay_words_are_known(word: str, known: bool) -> None:
    assert is_lay(word) is known


def test_names_are_told_one_by_one_for_a_scan() -> None:
    assert other_names("Can I keep hens in my shed?") == [
        *("chickens", "fowl", "poultry", "hens"),
        *("accessory building", "accessory structure", "shed"),
    ]
    assert other_names("a fence") == []


def test_names_of_codes_know_their_like() -> None:
    assert {"hens", "chickens", "fowl"} <= set(alike("Poultry"))
    assert "poultry" not in alike("poultry")
    assert alike("a thing that nobody calls anything") == []
