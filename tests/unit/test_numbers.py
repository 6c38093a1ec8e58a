"""Quantities however they are written."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.corpus.quantities import in_words, numbers, quantities
from tests.growth import grows_linearly


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("six (6) feet", ["6 foot"]),
        ("six feet", ["6 foot"]),
        ("6 ft", ["6 foot"]),
        ("6 ft.", ["6 foot"]),
        ("6'", ["6 foot"]),
        ("6\u2019", ["6 foot"]),
        ("a 6-foot fence", ["6 foot"]),
        ("a six-foot fence", ["6 foot"]),
        ("six\n(6)\nfeet", ["6 foot"]),
        ("six (60) feet", ["6 foot", "60 foot"]),
        ("6'-4\"", ["6 foot", "4 inch"]),
        ("$1,000", ["1000 dollar"]),
        ("$ 1,000.00", ["1000 dollar"]),
        ("one thousand dollars", ["1000 dollar"]),
        ("one thousand dollars ($1,000.00)", ["1000 dollar"]),
        ("1,000 dollars", ["1000 dollar"]),
        ("$100 ($50 for owners)", ["100 dollar", "50 dollar"]),
        ("$100 ($50)", ["100 dollar", "50 dollar"]),
        ("$1.2 million", ["1200000 dollar"]),
        ("50 cents", ["50 cent"]),
        ("3½ feet", ["3.5 foot"]),
        ("3 ½ feet", ["3.5 foot"]),
        ("3 1/2 feet", ["3.5 foot"]),
        ("3-1/2 feet", ["3.5 foot"]),
        ("three and one-half (3½) feet", ["3.5 foot"]),
        ("1/2 inch", ["0.5 inch"]),
        ("½ inch", ["0.5 inch"]),
        ("one-half acre", ["0.5 acre"]),
        (".5 acre", ["0.5 acre"]),
        ("0.5 acres", ["0.5 acre"]),
        ("25 percent", ["25 percent"]),
        ("25%", ["25 percent"]),
        ("twenty-five percent (25%)", ["25 percent"]),
        ("twenty-five (25) percent", ["25 percent"]),
        ("twenty-five (25%) of it", ["25 percent"]),
        ("25 percent (10%)", ["25 percent", "10 percent"]),
        ("48 inches", ["48 inch"]),
        ("6 in. wide", ["6 inch"]),
        ("20,000 square feet", ["20000 sqft"]),
        ("twenty thousand (20,000) square feet", ["20000 sqft"]),
        ("a 20,000-square-foot lot", ["20000 sqft"]),
        ("150 sq. ft.", ["150 sqft"]),
        ("100 cubic yards", ["100 cuyd"]),
        ("twelve (12) months", ["12 month"]),
        ("thirty (30) calendar days", ["30 day"]),
        ("fourteen business days", ["14 day"]),
        ("one hundred and fifty thousand dollars", ["150000 dollar"]),
        ("five hundred ten dollars", ["510 dollar"]),
        ("a two-story house", ["2 story"]),
        ("two parking spaces", ["2 space"]),
        # Of a range the second number has the unit.
        ("30 to 60 days", ["60 day"]),
        ("30-60 days", ["60 day"]),
        ("between five and ten feet", ["10 foot"]),
        # No unit, no quantity.
        ("6", []),
        ("one of them", []),
        ("section 28-105.9", []),
        ("in an R-10 unit", []),
        ("several hundred feet", []),
        ("5 in the yard", []),
        ("the 1990's", []),
        ('it says "not over 10" there', []),
        ("\u201cExhibit 10\u201d", []),
        ("Phase 2 footing", []),
        ("", []),
    ],
)
def test_a_quantity_is_read_however_it_is_written(text: str, found: list[str]) -> None:
    assert [f"{q.value.normalize():f} {q.unit}" for q in quantities(text)] == found


def test_inches_after_a_quotation_are_inches_again() -> None:
    (quantity,) = quantities('it says "not over 10" and 4" wide')
    assert (quantity.value, quantity.unit) == (Decimal(4), "inch")


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("zero", 0),
        ("nineteen", 19),
        ("forty-two", 42),
        ("two hundred and fifty", 250),
        ("twelve hundred", 1200),
        ("one hundred twenty-five thousand", 125_000),
        ("one million", 1_000_000),
        ("", 0),
    ],
)
def test_number_words_have_their_value(words: str, value: int) -> None:
    assert in_words(words) == value


@given(st.text() | st.text("0123456789.,$%½/ ()'\"-feetinoneandhundred").map(str))
def test_any_text_is_read(text: str) -> None:
    for number in numbers(text):
        assert number.value >= 0
        assert number.text == " ".join(number.span.of(text).split())
    with_unit = [n for n in numbers(text) if n.unit]
    assert with_unit == quantities(text)


@given(st.integers(0, 999_999))
def test_grouping_changes_nothing(value: int) -> None:
    plain, grouped = quantities(f"{value} feet"), quantities(f"{value:,} feet")
    assert [q.value for q in plain] == [q.value for q in grouped] == [Decimal(value)]


@pytest.mark.parametrize(
    "unit",
    [
        "1",
        "1,",
        "1,000",
        "1.",
        "1/",
        "1 1/2 ",
        "one ",
        "one-",
        "one hundred and ",
        "twenty-",
        "(1) ",
        "1 (1) ",
        "½",
        "$",
        "'",
        '"',
        '1"',
        " ",
        "-",
        "1 ",
    ],
)
def test_reading_takes_linear_time(unit: str) -> None:
    assert grows_linearly(lambda text: (quantities(text), quantities("one" + text)), unit)
