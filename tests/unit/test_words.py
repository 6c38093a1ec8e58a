"""Words of the BM25 leg, and its weights against the formula written out once more."""

from __future__ import annotations

import math
import time
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.corpus.words import (
    PLACES,
    STOP,
    average_length,
    document_weights,
    idf,
    place,
    place_counts,
    query_places,
    query_weights,
    terms,
    written_terms,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("What is it?", []),
        ("Fences", ["fenc"]),
        ("fence FENCES fencing", ["fenc", "fenc", "fenc"]),
        ("the owner's fence", ["owner", "fenc"]),
        ("the owner\u2019s fence", ["owner", "fenc"]),
        ("20,000 square feet", ["20000", "squar", "feet"]),
        ("§ 28-105.9", ["28", "105", "9", "28-105.9"]),
        ("§ 28\u2011105.9", ["28", "105", "9", "28-105.9"]),
        ("an R-1-6 district", ["r", "1", "6", "district", "r-1-6", "r16"]),
        ("R-1-B", ["r", "1", "b", "r-1-b", "r1b"]),
        ("R1-B", ["r", "1", "b", "r1-b", "r1b"]),
        ("in R1B.", ["r", "1b", "r1b"]),
        ("$1,000.00", ["1000"]),
        ("Sec. 10.00", ["sec", "10", "00", "10.00"]),
        ("max 6 ft", ["maximum", "6", "feet"]),
        ("2.5 ft", ["2", "5", "feet", "2.5"]),
        ("$50 or 5%", ["50", "5"]),
        ("3½ feet", ["3", "5", "feet", "3.5"]),
        ("½ acre", ["½", "acr"]),
        ("two-family", ["two", "famili"]),
        ("60-foot", ["60", "feet"]),
        ("20b", ["20b"]),
        ("I don't, can\u2019t and I'm", []),
        ("🏠 漢字", []),
    ],
)
def test_a_text_has_its_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize(
    "forms",
    [
        ["3½ feet", "3 ½ feet", "3 1/2 feet", "3-1/2 ft", "3.5 foot"],
        [
            "600 square feet",
            "600 sq. ft.",
            "600 sq ft",
            "600 SF",
            "600sf",
            "600 s.f.",
            "600 Sq. Feet",
        ],
        ["20,000", "20000"],
        ["$1,000.00", "$1,000", "1000"],
        ["the owner's side-yard", "the owner’s side yard", "owner side‑yard"],
        ["two-hour", "two hr", "two hrs"],
    ],
)
def test_one_measure_in_several_forms_has_the_same_terms(forms: list[str]) -> None:
    assert {tuple(terms(form)) for form in forms} == {tuple(terms(forms[0]))}


def test_a_district_shares_a_whole_term_however_it_is_written() -> None:
    assert all("r1b" in terms(form) for form in ["R-1-B", "R1-B", "R-1B", "R1B"])
    assert all("r1" in terms(form) for form in ["the R1 district", "the R-1, district"])


def test_a_measure_is_shown_in_the_form_that_is_searched() -> None:
    assert written_terms("600 sq. ft. sheds") == {
        "600": "600",
        "squar": "square",
        "feet": "feet",
        "shed": "sheds",
    }


def reference_bm25(tf: int, length: int, average: float, n: int, df: int) -> float:
    """Robertson and Zaragoza 2009, eq. 3.15, with the idf that is never negative."""
    k1, b = 1.2, 0.75
    soft = tf / ((1 - b) + b * length / average)
    return (k1 + 1) * soft / (k1 + soft) * math.log((n + 1) / (df + 0.5))


@given(
    st.dictionaries(st.integers(1, PLACES), st.integers(1, 500), min_size=1, max_size=30),
    st.floats(1, 5000),
    st.integers(1, 1_000_000),
    st.data(),
)
def test_the_weights_multiply_to_bm25(
    counts: dict[int, int], average: float, documents: int, data: st.DataObject
) -> None:
    df = data.draw(st.integers(1, documents))
    length = sum(counts.values())
    for at, weight in document_weights(counts, average).items():
        product = weight * idf(documents, df)
        assert product == pytest.approx(
            reference_bm25(counts[at], length, average, documents, df), rel=1e-6, abs=1e-9
        )


@given(st.integers(0, 10**9), st.data())
def test_the_idf_is_never_negative_and_falls(documents: int, data: st.DataObject) -> None:
    df = data.draw(st.integers(0, documents))
    assert idf(documents, df) >= 0
    assert idf(documents, min(df + 1, documents)) <= idf(documents, df)


@given(st.text())
def test_places_are_counted_like_terms(text: str) -> None:
    found = terms(text)
    assert place_counts(text) == Counter(place(t) for t in found)
    assert query_places(text) == sorted({place(t) for t in found})
    assert all(1 <= p <= PLACES for p in query_places(text))
    assert not STOP & set(found)
    assert terms(text) == terms(text.upper()) or text.casefold() != text.upper().casefold()


def test_a_term_that_the_city_lacks_has_no_weight() -> None:
    fence, permit = place("fenc"), place("permit")
    assert query_weights("fence permit", 10, {fence: 2, permit: 0}) == {fence: idf(10, 2)}


@pytest.mark.parametrize(("lengths", "mean"), [([], 1), ([0], 1), ([2, 4], 3), (iter([5]), 5)])
def test_the_average_length_is_at_least_one(lengths, mean: float) -> None:
    assert average_length(lengths) == mean


@pytest.mark.parametrize(
    "unit",
    [
        "1",
        "a",
        "1-",
        "1,",
        "1,000",
        "a'",
        "a.",
        "a1",
        "½",
        "1½",
        "1 1/2 ",
        "sq ",
        "$1",
        "a-1",
        " ",
        "-",
        "1:1",
    ],
)
def test_reading_takes_linear_time(unit: str) -> None:
    text = (unit * 200_000)[:200_000]
    begin = time.process_time()
    terms(text)
    assert time.process_time() - begin < 2
