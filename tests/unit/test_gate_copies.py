"""Copies: the same text, nearly the same, and the same with its numbers changed."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.corpus.fingerprints import FEWEST_WORDS, Seen, copy_of, fingerprint_of, likeness
from appliance.corpus.gate import Candidate, judge_next

TEXT = (
    "The keeper of a toll bridge shall collect the toll that the council has set for the day. A goat pays "
    "3 coins, a kid 1 coin, and a cart 12 coins. No animal that has paid shall pay again within 24 hours, "
    "if its owner shows the receipt. The keeper shall enter each toll in a book, which the treasurer may "
    "read on every working day. At the end of the month the keeper shall bring the coins and the book to "
    "the treasurer, who shall count both and sign the book. A keeper who has lost the book shall pay a "
    "fine of 50 coins, and may not keep a bridge for 2 years.\n"
)
OTHER = (
    "A bridge shall have a parapet on both sides, of stone or of sound timber, that is no lower than the "
    "shoulder of a grown goat. Before the first snow the council shall have each bridge looked over by a "
    "mason. Where the mason finds a stone that is loose, the bridge shall be closed until it is set again, "
    "and a sign shall tell travellers of the ford. Travellers who pass a closed bridge do so at their own "
    "risk, and the council owes them nothing. The mason is paid by the day, with bread, and without beer "
    "until the work is done to the liking of the council and of the goats.\n"
)


def verdicts(*candidates: Candidate) -> list[str]:
    seen, slugs = Seen(), []
    for candidate in candidates:
        reasons, seen = judge_next(candidate, seen)
        slugs.append(reasons[0].split(":")[0] if reasons else "")
    return slugs


@pytest.mark.parametrize(
    ("second", "slug"),
    [
        (TEXT, "duplicate"),
        (TEXT.upper().replace(" ", "  "), "duplicate"),
        (TEXT.replace("3 coins", "4 coins"), "mutated-copy"),
        (TEXT.replace("3", "7").replace("12", "90").replace("24", "61"), "mutated-copy"),
        (f"Printed from the city's site.\n\n{TEXT}", "near-duplicate"),
        (TEXT.replace("a sound book", "a book").replace("on every", "on any"), "near-duplicate"),
        (OTHER, ""),
        (TEXT[: len(TEXT) // 3].rsplit(".", 1)[0] + ".", ""),
    ],
)
def test_a_copy_is_told_from_another_text(second: str, slug: str) -> None:
    assert verdicts(Candidate(body=TEXT), Candidate(body=second)) == ["", slug]


def test_a_reason_names_the_text_that_was_there_before() -> None:
    _, seen = judge_next(Candidate(body=TEXT, name="tolls.html"), Seen())
    (reason,), _ = judge_next(Candidate(body=TEXT.replace("50", "60")), seen)
    assert reason == ("mutated-copy: the same text as tolls.html with 1 of 6 numbers changed")


def test_another_day_makes_another_version_and_no_copy() -> None:
    first, second = (
        Candidate(body=TEXT.replace("50", fine), effective_from=date(year, 1, 1))
        for fine, year in (("50", 2025), ("60", 2026))
    )
    assert verdicts(first, second) == ["", ""]
    assert verdicts(first, first) == ["", "duplicate"]


def test_few_words_are_no_copy_of_one_another() -> None:
    short = "This chapter may be cited as the Toll Bridge Act, and shall be read with Chapter 4."
    assert len(short.split()) < FEWEST_WORDS
    assert verdicts(Candidate(body=short), Candidate(body=short)) == ["", ""]


def test_what_was_turned_away_is_not_remembered() -> None:
    cut = Candidate(body=TEXT.rstrip(".\n") + " and shall not")
    assert verdicts(cut, Candidate(body=TEXT)) == ["truncated", ""]


def test_what_was_seen_is_never_changed() -> None:
    _, before = judge_next(Candidate(body=TEXT), Seen())
    judge_next(Candidate(body=OTHER), before)
    assert len(before.fingerprints) == len(before.by_digest) == 1


@given(st.text(), st.text())
def test_likeness_is_a_share_and_the_same_both_ways(one: str, other: str) -> None:
    a, b = (fingerprint_of(t, name="x") for t in (one, other))
    assert 0 <= likeness(a, b) == likeness(b, a) <= 1
    assert likeness(a, a) == (1 if a.runs else 0)
    assert copy_of(a, Seen()) is None
