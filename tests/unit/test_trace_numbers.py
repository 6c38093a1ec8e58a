"""Every figure of a sentence is traced to what it cites, or it is said to come from nothing."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.answers.citations import prove
from appliance.answers.numbers import trace_numbers, untraced
from appliance.corpus.figures import figures
from appliance.domain import Citation, CityId, Digest, SectionId, Span, Standing, StoredSection
from tests.growth import grows_linearly

TODAY = date(2026, 7, 1)


def cited(quote: str, *, over: str = "", rest: str = "", heading: str = "Bridges") -> Citation:
    """Return a proven citation of `quote` in a section that says more."""
    text = f"{over}\n{quote}\n{rest}"
    section = StoredSection(
        id=SectionId(1),
        city=CityId("troll-bridge-xx"),
        external_id="1",
        citation="Sec. 1-1",
        number="1-1",
        heading=heading,
        path=("Title 1 Bridges",),
        standing=Standing.IN_FORCE,
        version=Digest("0" * 64),
        effective_from=None,
        effective_until=None,
        text=text,
    )
    span = Span(start=len(over) + 1, end=len(over) + 1 + len(quote))
    leads = (Span(start=0, end=len(over)),) if over else ()
    proof = prove(section, span, as_of=TODAY, retrieved=None, leads=leads)
    assert isinstance(proof, Citation)
    return proof


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("three adult hens", ["3 adult/hen"]),
        ("six (6) hens", ["6 hen"]),
        ("two (2) off-street parking spaces", ["2 space"]),
        ("30 to 60 days", ["30 day", "60 day"]),
        ("between five and ten feet", ["5 foot", "10 foot"]),
        ("10 x 12 feet", ["10 foot", "12 foot"]),
        ("$5 - $10", ["5 dollar", "10 dollar"]),
        ("14 business days", ["14 business day"]),
        ("30 consecutive calendar days", ["30 day"]),
        ("July 1, 2026", ["20260701 date"]),
        ("1st of July 2026", ["20260701 date"]),
        ("2026-07-01", ["20260701 date"]),
        ("7/1/2026", ["20260701 date"]),
        ("by July 1", ["701 day of year"]),
        ("in July 2026", ["202607 month of year"]),
        ("after 10 p.m. and before 7:30 am", ["2200 clock", "730 clock"]),
        ("from nine o'clock p.m. to seven ante meridian", ["2100 clock", "700 clock"]),
        ("no more than three such animals", ["3 anim"]),
        ("Local Law 11 of 2020 and Ord. No. 2019-12", []),
        ("on the 10th day", ["10 ordinal"]),
        ("a second dwelling", ["2 ordinal"]),
        ("one-third of it", ["0.333333"]),
        ("at most 4", ["4"]),
        # What is no figure.
        ("Section 5-12, Table 3 and chapter 4", []),
        ("one of them", []),
        ("in the R-1 district", []),
        ("no number", []),
    ],
)
def test_a_figure_is_read_with_what_it_is_a_number_of(text: str, found: list[str]) -> None:
    read = [
        f"{round(f.value, 6).normalize():f} {f.unit or '/'.join(f.nouns)}".strip()
        for f in figures(text)
    ]
    assert read == found


TABLE = "| District | Hens | Height (ft) | Coverage |\n|---|---|---|---|\n| R-1 | 6 | 35 | 40% |"


@pytest.mark.parametrize(
    ("sentence", "quote"),
    [
        ("At most 6 ft.", "not over six (6) feet"),
        ("Up to two and one-half feet.", "not over 2.5 feet"),
        ("Up to 3½ feet.", "3 1/2 feet"),
        ("It costs $1,000.", "a fee of one thousand dollars"),
        ("You may keep 6 hens.", "no more than six (6) hens"),
        ("You may keep six hens.", "six (6) adult hens or ducks"),
        ("You may keep 6 hens.", TABLE),
        ("It may be 35 feet high.", TABLE),
        ("At most 40 percent.", TABLE),
        ("Two parking spaces.", "two (2) off-street parking spaces"),
        ("Within 30 days.", "within 30 to 60 days"),
        ("From July 1, 2026.", "effective 2026-07-01"),
        ("From July 1 on.", "effective July 1, 2026"),
        ("Since 2019.", "amended March 3, 2019"),
        ("The 2024 building code.", "the 2024 edition of the code"),
        ("Quiet from 10 pm.", "after 10:00 p.m."),
        ("The limit is 4.", "not over four dwellings"),
        ("No number at all.", ""),
    ],
)
def test_a_figure_that_a_quote_holds_is_traced_to_it(sentence: str, quote: str) -> None:
    traced = trace_numbers(sentence, [cited(quote or "nothing of the kind")])
    assert untraced(traced) == ()
    assert all(t.trace and t.trace.conversion is None for t in traced)


@pytest.mark.parametrize(
    ("sentence", "quote", "missing"),
    [
        ("At most 60 ft.", "not over six (6) feet", ("60 ft.",)),
        ("At most 6 inches.", "not over six (6) feet", ("6 inches",)),
        ("You may keep 6 roosters.", "six (6) hens", ("6",)),
        ("You may keep three adult hens.", "three adult roosters", ("three",)),
        ("You may keep 35 hens.", TABLE, ("35",)),
        ("It may be 6 feet high.", TABLE, ("6 feet",)),
        ("Within 30 business days.", "within thirty (30) days", ("30 business days",)),
        ("Within 30 days.", "within 30 business days", ("30 days",)),
        ("A year.", "12 months", ()),
        ("From July 2, 2026.", "July 1, 2026", ("July 2, 2026",)),
        ("From July 1, 2027.", "July 1, 2026", ("July 1, 2027",)),
        ("Quiet from 10 a.m.", "after 10:00 p.m.", ("10 a.m.",)),
        ("A 2nd dwelling.", "two dwellings", ("2nd",)),
        ("It is 1 month.", "30 days", ("1 month",)),
        ("It is 5 and 7 feet.", "7 feet", ("5",)),
        ("At most 4.", "at most 5 feet", ("4",)),
    ],
)
def test_a_figure_that_no_quote_holds_is_reported_as_written(
    sentence: str, quote: str, missing: tuple[str, ...]
) -> None:
    assert untraced(trace_numbers(sentence, [cited(quote)])) == missing


@pytest.mark.parametrize(
    ("sentence", "quote", "stated"),
    [
        ("72 inches high", "six (6) feet", "72 inches = six (6) feet"),
        ("1 year", "twelve (12) months", "1 year = twelve (12) months"),
        ("half: 50 %", "one-half of the lot", "50 % = one-half"),
        ("a fee of 50 cents", "$0.50", "50 cents = $0.50"),
        ("48 hours", "two days", "48 hours = two days"),
        ("0.5 acre", "21,780 square feet", "0.5 acre = 21,780 square feet"),
    ],
)
def test_a_conversion_is_stated(sentence: str, quote: str, stated: str) -> None:
    (traced,) = trace_numbers(sentence, [cited(quote)])
    assert traced.trace is not None
    assert traced.trace.conversion == stated


def test_only_the_cited_span_and_what_stands_over_it_count() -> None:
    citation = cited("not over 6 feet", over="Fences of 8 feet", rest="nor under 4 feet")
    six, eight, four = trace_numbers("6 feet, 8 feet, 4 feet", [citation])
    assert six.trace is not None
    assert six.trace.ground == "quote"
    assert six.trace.span.of(citation.section.text) == "6 feet"
    assert eight.trace is not None
    assert eight.trace.ground == "over"
    assert eight.trace.span.of(citation.section.text) == "8 feet"
    assert four.trace is None


def test_the_same_unit_in_a_later_citation_comes_before_a_conversion() -> None:
    (traced,) = trace_numbers("6 feet", [cited("72 inches"), cited("six feet")])
    assert traced.trace is not None
    assert traced.trace.index == 1
    assert traced.trace.conversion is None


def test_steps_of_a_calculation_and_the_question_are_grounds() -> None:
    traced = trace_numbers(
        "3,500 square feet on 8,500 square feet, 7 feet high",
        [],
        steps=["0.5 x 6,000 + 0.2 x 2,500 = 3,500 square feet"],
        question="My lot has 8,500 sq. ft.",
    )
    assert [t.trace.ground if t.trace else None for t in traced] == ["step", "question", None]


NUMERIC = st.text("0123456789.,$%½/ ()'\"-|\nfeetinchsixoneandhundredJuly:pm", max_size=80)


@given(st.text(max_size=80) | NUMERIC)
def test_any_text_supports_itself(text: str) -> None:
    for figure in figures(text):
        assert figure.value >= 0
        assert " ".join(figure.span.of(text).split()) == figure.text
    if text.strip():
        assert untraced(trace_numbers(text, [cited(text)])) == ()


@given(st.integers(0, 9_999), st.integers(0, 9_999), st.sampled_from(["feet", "days", "hens", "%"]))
def test_another_value_of_the_same_unit_is_never_traced(held: int, said: int, unit: str) -> None:
    missing = untraced(trace_numbers(f"It is {said} {unit}.", [cited(f"at most {held:,} {unit}")]))
    assert bool(missing) is (Decimal(held) != said)


@pytest.mark.parametrize(
    "unit",
    [
        "1 ",
        "1 to ",
        "six (6) ",
        "| 6 |\n",
        "| 6 ",
        "July 1 ",
        "1 hen ",
        "10 p.m.",
        "2nd a ",
        "Sec. 1-1 ",
    ],
)
def test_tracing_takes_linear_time(unit: str) -> None:
    assert grows_linearly(lambda text: trace_numbers(text, [cited(text)]), unit, size=10_000)
