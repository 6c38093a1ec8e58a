"""Misspelt words are read as what the city's text has; numbers, names and right words stay."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.corpus.spelling import Correction, doubtful, looked_up, near_terms, respelled
from appliance.corpus.words import terms

ENGLISH = frozenset(
    [
        "gravel",
        "patio",
        "permit",
        "fence",
        "detached",
        "garage",
        "distance",
        "setback",
        "house",
        "chicken",
        "helper",
        "wash",
        "truck",
    ]
)
CITY = {
    term: chunks
    for word, chunks in {
        "permit": 900,
        "permitted": 300,
        "fence": 80,
        "detached": 40,
        "garage": 60,
        "distance": 90,
        "setback": 200,
        "subdivider": 30,
        "house": 50,
        "home": 500,
        "travel": 12,
        "ratio": 25,
        "truck": 1,
    }.items()
    for term in terms(word)
}


def ordinary(word: str) -> bool:
    return word in ENGLISH


def read(question: str) -> str:
    assert set(looked_up(question)) >= set()
    words = doubtful(question, CITY, ordinary)
    known = {term: CITY[term] for term in near_terms(words) if term in CITY}
    return respelled(question, words, known, ordinary).text


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Do I need a permitt for it?", "Do I need a permit for it?"),
        ("detatched garage", "detached garage"),
        ("a detatched gaarge, what distence?", "a detached garage, what distance?"),
        ("Distence from the lot line?", "distance from the lot line?"),
        ("setbcak", "setback"),
        ("the subdivder pays", "the subdivider pays"),
        # A swap is likelier than the wrong letter that more chunks would have.
        ("a new houes", "a new house"),
    ],
)
def test_a_misspelt_word_is_read_as_the_likeliest_near_one(question: str, expected: str) -> None:
    assert read(question) == expected


@pytest.mark.parametrize(
    "question",
    [
        "fence permit",
        "a gravel patio",  # ordinary words, though the city has "travel" and "ratio"
        "two helpers washed it",  # regular forms of ordinary words
        "the grannyflat",  # nothing is near
        "my camper and my chickens",  # lay terms
        "the Fense of Permitt Street",  # names
        "PERMITT",
        "fens",  # too short
        "R-1permitt and permitt-1, 12fence, ferce.gov",
        "trucc",  # the city has it in one chunk only: likely a slip of its own
        "xermit",  # the first letter is taken to be right
        "20,000 sq. ft. § 28-105.9",
        "",
    ],
)
def test_any_other_word_stays(question: str) -> None:
    assert read(question) == question


def test_what_was_read_otherwise_is_told() -> None:
    question = "Is a detatched garage a Detatched one?"
    words = doubtful(question, CITY, ordinary)
    assert words == ("detatched",)
    assert respelled(question, words, CITY, ordinary).corrections == (
        Correction(written="detatched", read="detached"),
    )


def test_a_question_without_doubtful_words_needs_no_second_look() -> None:
    assert doubtful("How tall can the fence be?", CITY, ordinary) == ()
    assert near_terms(()) == []


@pytest.mark.parametrize("word", ["distance", "setback", "subdivider"])
def test_every_lost_or_swapped_letter_after_the_first_is_put_right(word: str) -> None:
    for at in range(1, len(word) - 1):
        lost = word[:at] + word[at + 1 :]
        swapped = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        assert terms(read(lost)) == terms(word)
        assert terms(read(swapped)) == terms(word)


@given(st.text(max_size=40))
def test_any_text_is_read(text: str) -> None:
    words = doubtful(text, {}, ordinary)
    assert respelled(text, words, {}, ordinary).text == text
