"""What stands over a place of a section: titles, as spans, and only those that do."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.corpus.outline import Outline

LAW = (
    "(a) Height. No fence is higher than six feet. (1) Front yards. Four feet there. "
    "(2) Corner lots. Three feet there. (b) Materials. Wood or stone. "
    "(c) No wire is allowed. (1) Barbed wire. Never."
)


def over(text: str, words: str) -> list[str]:
    return [span.of(text) for span in Outline(text).over(text.index(words))]


@pytest.mark.parametrize(
    ("words", "titles"),
    [
        ("(a) Height", []),
        ("No fence", ["(a) Height"]),
        ("(1) Front", ["(a) Height"]),
        ("Four feet", ["(a) Height", "(1) Front yards"]),
        ("(2) Corner", ["(a) Height"]),
        ("Three feet", ["(a) Height", "(2) Corner lots"]),
        ("(b) Materials", []),
        ("Wood", ["(b) Materials"]),
        ("No wire", []),  # a short sentence is no title
        ("Never", ["(1) Barbed wire"]),
    ],
)
def test_titles_stand_over_what_follows_them(words: str, titles: list[str]) -> None:
    assert over(LAW, words) == titles


@pytest.mark.parametrize(
    ("text", "words", "titles"),
    [
        ("A.\nGeneral.\n1.\nFront Yard.\nGravel is not allowed.", "Gravel",
         ["A.\nGeneral", "1.\nFront Yard"]),
        ("### A. Authority\nThe owner files.\n### B. Fees\nNone.", "None", ["### B. Fees"]),
        ("### A. Authority\nThe owner.\n#### Who\nAnyone.", "Anyone",
         ["### A. Authority", "#### Who"]),
        ("I. Purpose. To zone. II. Scope. All land here.", "All land", ["II. Scope"]),
        ("(h) Yards. Ten feet. (i) Signs. None at all.", "None", ["(i) Signs"]),
        ("(a) Uses. (i) Shops. Yes. (ii) Bars. Never here.", "Never", ["(a) Uses", "(ii) Bars"]),
        ("(z) Last. One. (aa) More. Two here.", "Two", ["(aa) More"]),
        ("(xv) Enforcement. By fine. (p) Home occupations. At home.", "At home",
         ["(p) Home occupations"]),
        ("1. Uses | here | not |\n2. More. Text", "2.", []),
    ],
)  # fmt: skip
def test_every_style_of_numbering_is_followed(text: str, words: str, titles: list[str]) -> None:
    assert over(text, words) == titles


def test_a_number_whose_beginning_was_not_seen_ends_what_stood_over() -> None:
    text = "(a) Height. Six feet. (1) Front. Four. (q) Other rules. (9) Things. Much later."
    assert over(text, "Much") == ["(9) Things"]


PIECES = st.sampled_from(
    ["(a) Height. ", "(1) Front yards. ", "(b) Uses. ", "A.\n", "General.\n", "# One\n", "## Two\n",
     "words that go on. ", "(i) ", "(ii) Roman. ", "1. ", "\n", "Six feet. "]
)  # fmt: skip


@given(st.lists(PIECES, max_size=20).map("".join), st.integers(0, 400))
def test_what_stands_over_a_place_lies_before_it_in_reading_order(text: str, place: int) -> None:
    place = min(place, len(text))
    titles = Outline(text).over(place)
    assert all(t.end <= place for t in titles)
    assert list(titles) == sorted(titles)
    assert all(t.of(text).strip() for t in titles)


@pytest.mark.parametrize("unit", ["(a) ", "1. \n", ". (a) A. ", "# A\n", "A.\n", "(", "a. a", "\n"])
def test_an_outline_takes_linear_time(unit: str) -> None:
    text = (unit * 200_000)[:400_000]
    begin = time.process_time()
    Outline(text).over(len(text))
    assert time.process_time() - begin < 10
