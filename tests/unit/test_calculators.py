"""Rules of real law as calculators: what is read, what comes out, and what is refused."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.calculators.binding import Lost, rebound
from appliance.calculators.builder import propose, roundings_of
from appliance.calculators.calculator import Calculator, from_json, to_json
from appliance.calculators.choosing import choose
from appliance.calculators.compute import BadInput, MissingInput, compute
from appliance.calculators.filling import fill
from appliance.calculators.rounding import rounding_rules
from appliance.calculators.units import UNITS, UnitMismatch, convert, decimal_of, written
from appliance.domain import SectionId, Span, Standing, StoredSection, digest_of
from tests.conftest import HOSTILE_TEXT
from tests.growth import grows_linearly

TODAY = date(2026, 7, 1)


def section(text: str, heading: str = "Fees", number: int = 1, **fields: object) -> StoredSection:
    given: dict[str, object] = {
        "id": SectionId(number),
        "city": "elm-hollow-xx",
        "external_id": f"elm-{number}",
        "citation": f"Elm Hollow Code § {number}",
        "number": str(number),
        "heading": heading,
        "path": ("Title 1", "Chapter 4"),
        "standing": Standing.IN_FORCE,
        "version": digest_of(text),
        "effective_from": None,
        "effective_until": None,
        "text": text,
    }
    return StoredSection(**(given | fields))  # type: ignore[arg-type]


def only(text: str, heading: str = "Fees") -> Calculator:
    (calculator,) = propose(section(text, heading))
    return calculator


def worked(calculator: Calculator, **inputs: object) -> Fraction:
    given = {k: v if k in ("district", "row") else Fraction(str(v)) for k, v in inputs.items()}
    return compute(calculator, given).result  # type: ignore[arg-type]


# ------------------------------------------------------------------ what law says


@pytest.mark.parametrize(
    ("text", "heading", "inputs", "unit", "result"),
    [
        # linear rates, fractions of them, bounds
        ("Curb cut: $3 for each linear foot including splay; minimum $130", "Fees", {"splay": 50}, "dollar", 150),
        ("$3 for each linear foot including splay; minimum $130", "Fees", {"splay": 10}, "dollar", 130),
        ("A fee of $0.06 for each square foot, or fraction thereof, of the total floor area, but not less than $100", "Fees", {"total_floor_area": "2000.5"}, "dollar", "120.06"),
        ("The fee is $10 plus $5 for each $1,000 or fraction thereof.", "Fees", {"cost": 2500}, "dollar", 25),
        # a base with what is above it
        ("$160 for the first twenty five feet or fraction thereof in the length of the shed; plus $10 for each additional twenty-five feet or fraction thereof.", "Fees", {"length_of_the_shed": 80}, "dollar", 190),
        ("$23.50 for the first $500.00 plus $3.05 for each additional $100.00, or fraction thereof, to and including $2,000.00", "Fees", {"cost": 1250}, "dollar", "47.90"),
        ("A fee of ninety-five dollars for the first twenty-five thousand dollars, or fraction thereof, of the cost of the work and five dollars for each additional one thousand dollars, or fraction thereof, of cost over twenty-five thousand dollars", "Fees", {"cost_of_the_work": 26001}, "dollar", 105),
        # products
        ("Multiply building frontage in feet or fraction thereof x number of stories of the building x $2.60, but not less than $260.", "Fees", {"building_frontage": "39.5", "stories_of_the_building": 5}, "dollar", 520),
        # parking
        ("Bank: 1 space per 250 sq. ft.", "Parking", {"floor_area": 5000}, "space", 20),
        ("Church: 1 space per 4 seats in the portion used for services, plus 1 per 250 sq. ft. of area set aside for other uses", "Parking", {"seats": 360, "area_set_aside": 2500}, "space", 100),
        ("One space per 100 square feet for the first 1,000 square feet and one space for each 500 square feet of greenhouse sales area above 1,000 square feet.", "Parking", {"greenhouse_sales_area": 3500}, "space", 15),
        ("Club: one space per three fixed seats or per 75 square feet, whichever shall be greater.", "Parking", {"fixed_seats": 30, "floor_area": 1500}, "space", 20),
        ("Service stations: 2 parking stalls plus 2 for each service bay.", "Parking", {"service_bay": 3}, "space", 8),
        ("Student suites: 1¼ spaces per bedroom.", "Parking", {"bedroom": 8}, "space", 10),
        ("1 space for every 3 dwelling units or major fraction thereof", "Parking", {"dwelling_units": 5}, "space", 2),
        ("1 space for every 3 dwelling units or major fraction thereof", "Parking", {"dwelling_units": 4}, "space", 1),
        # shares
        ("Maximum lot coverage shall not exceed 25 percent of the area of the lot.", "Coverage", {"area_of_the_lot": 8000}, "sqft", 2000),
        ("The side yard shall be 10 percent of the width of the lot, not less than 5 feet.", "Yards", {"width_of_the_lot": 40}, "foot", 5),
        ("A late fee in the amount of 25% of the citation shall be assessed.", "Fees", {"citation": 300}, "dollar", 75),
        # one of two
        ("Size: 800 square feet or 50% of the floor area of the dwelling, whichever is less", "Size", {"floor_area_of_the_dwelling": 1400}, "sqft", 700),
        ("Size: 800 square feet or 50% of the floor area of the dwelling, whichever is less", "Size", {"floor_area_of_the_dwelling": 1800}, "sqft", 800),
        ("The lesser of 300 square feet or 15% of the floor area", "Size", {"floor_area": 1600}, "sqft", 240),
        ("Winter storage: $140 per linear foot or $3,500, whichever is greater", "Fees", {"length": 20}, "dollar", 3500),
        # floor area ratios
        ("The maximum floor area ratio (FAR) shall be 1.6.", "Bulk", {"lot_area": 1000}, "sqft", 1600),
    ],
)  # fmt: skip
def test_what_law_says_is_computed(
    text: str, heading: str, inputs: dict[str, object], unit: str, result: object
) -> None:
    calculator = only(text, heading)
    assert calculator.unit == unit
    assert worked(calculator, **inputs) == Fraction(str(result))


@pytest.mark.parametrize(
    "text",
    [
        "A fence is not over 6 feet high.",
        "The fee is set by resolution.",
        "plus $10 for each additional foot",  # of what, nobody says
        "Filing fee as for the building, plus $5 for each one hundred square feet",
        "One stall for each increment of 22 linear feet",
        "See § 27.64.160 and Ordinance 2-5-03.",
        "The area may be reduced by 25 square feet per aisle.",
        "The greater of the mean width or 15% of the lot width",
        "Stables: 1 space per 5 boxes, plus 1 trailer for each 10 boxes",
    ],
)
def test_what_is_no_whole_rule_is_not_proposed(text: str) -> None:
    assert propose(section(text, "Fees and parking")) == []


def test_what_was_not_understood_is_said() -> None:
    text = "Golf: 6 spaces per hole, plus the spaces required for any other use on the site."
    assert only(text, "Parking").unread == "plus the spaces required for any other use on the site"


def test_a_bound_by_district_asks_for_the_district() -> None:
    calculator = only(
        "Fifteen percent (15%) of the lot width, not less than 7.5 feet and not to exceed 25 feet "
        "in the R1-A district and 15 feet in the R1-B and C districts.",
        "Side yards",
    )
    assert worked(calculator, lot_width=200, district="R1-A") == 25
    assert worked(calculator, lot_width=200, district="R1-C") == 15
    assert worked(calculator, lot_width=10, district="R1-B") == Fraction("7.5")
    with pytest.raises(BadInput, match="R1-A, R1-B, R1-C"):
        worked(calculator, lot_width=10, district="C2")


def test_shares_by_the_amount_itself_are_one_calculator() -> None:
    calculator = only(
        "(1) Where the number of required spaces is from 10 to 100, 30% of such spaces may be compact.\n"
        "(2) Where the number of required spaces is more than 100, 40% of such spaces may be compact.\n"
        "When computations under this section result in a fractional allowance of more than 0.75 compact "
        "spaces, one (1) additional such space may be provided.",
        "Compact stalls",
    )
    assert calculator.inputs[0].unit == "space"
    bare = replace(calculator, steps=calculator.steps[:2])
    assert [worked(bare, spaces=n) for n in (10, 100, 101)] == [3, 30, Fraction("40.4")]
    with pytest.raises(BadInput, match="nothing of a case"):
        worked(bare, spaces=9)


TABLE = """
| Total valuation | Fee |
|---|---|
| $1.00 to $500.00 | $23.50 |
| $501.00 to $2,000.00 | $23.50 for the first $500.00 plus $3.05 for each additional $100.00, or fraction thereof, to and including $2,000.00 |
| $2,001.00 to $25,000.00 | $69.25 for the first $2,000.00 plus $14.00 for each additional $1,000.00, or fraction thereof |
"""


@pytest.mark.parametrize(
    ("valuation", "fee"),
    [(1, "23.50"), (500, "23.50"), ("500.50", "26.55"), (501, "26.55"), (600, "26.55"), ("600.01", "29.60"),
     (2000, "69.25"), (2001, "83.25"), (3000, "83.25"), (25000, "391.25")],
)  # fmt: skip
def test_the_edges_of_tiers(valuation: object, fee: str) -> None:
    assert worked(only(TABLE, "Building permit fees"), amount=valuation) == Fraction(fee)


ROWS = """
| Dwellings | Resident | Visitor | Total stalls |
|---|---|---|---|
| Studio | 1.3 | 0.2 | 1.5 |
| One-bedroom | 1.6 | 0.2 | 1.8 |
| Two-bedroom | 1.8 | 0.2 | 2.0 |
"""


def test_rows_of_one_number_a_dwelling_are_summed() -> None:
    calculator = only(ROWS, "Parking schedule")
    assert worked(calculator, studio=10, one_bedroom=12, two_bedroom=6) == Fraction("48.6")
    assert worked(calculator, studio=2) == 3
    assert calculator.bindings[0].quote == "| Studio | 1.3 | 0.2 | 1.5 |"
    with pytest.raises(MissingInput, match=r"studio.*one_bedroom"):
        worked(calculator)


def test_rows_of_plain_amounts_are_looked_up() -> None:
    text = "| District | Front yard |\n|---|---|\n| R-1 | 25 feet |\n| R-2 | 20 feet |\n"
    calculator = only(text, "Yards")
    assert worked(calculator, row="R-2") == 20
    assert calculator.inputs[0].choices == ("R-1", "R-2")


def test_a_cap_of_the_section_holds_for_its_rules() -> None:
    calculator = only(
        "Area: 0.5 square feet per foot of frontage. In no case shall more than 60 square feet be used.",
        "Signs",
    )
    assert worked(calculator, frontage=1000) == 60


# ------------------------------------------------------------------ fractions of a space


@pytest.mark.parametrize(
    ("sentence", "rule", "edge"),
    [
        ("When determination of the number of parking spaces required by this title results in a requirement of a fractional space, an additional space shall be provided.", "up", None),
        ("Where fractional spaces result, the parking spaces required shall be the nearest whole number.", "from", "0.5"),
        ("Fractions (or decimals) less than or equal to 0.50 are to be discarded, and fractions (or decimals) greater than 0.50 must be interpreted as 1 whole parking or loading space.", "above", "0.50"),
        ("Whenever calculations result in a fractional space, any fraction under one-half shall be disregarded and any fraction of one-half or over shall require one (1) parking space.", "from", "0.5"),
        ("When calculating the number of spaces required by this article results in a fractional number, any fraction shall be rounded up to the nearest whole number.", "up", None),
        ("When the calculation results in a fractional space, one (1) space must be provided for that fraction.", "up", None),
        ("When computations under this section result in a fractional allowance of more than 0.75 compact spaces, one (1) additional such space may be provided.", "above", "0.75"),
    ],
)  # fmt: skip
def test_what_codes_say_of_a_fraction_of_a_space(
    sentence: str, rule: str, edge: str | None
) -> None:
    (found,) = rounding_rules(f"(a) Counting. {sentence} (Ord. 12-3)")
    assert (found.step.rule, found.step.fraction) == (rule, None if edge is None else Decimal(edge))


def test_a_rate_with_a_fraction_is_no_rule_on_results() -> None:
    assert (
        rounding_rules("One lane is required for each 300 spaces or major fraction thereof.") == []
    )


def test_a_rounding_rule_reaches_as_far_as_it_says() -> None:
    rule = "When spaces required by this {} result in a fraction, an additional space shall be provided."
    bank = "Bank: 1 space per 300 sq. ft."

    def result(scope: str, path: tuple[str, ...]) -> Fraction:
        other = section(rule.format(scope), "Computation", 2, path=path)
        (calculator,) = propose(section(bank, "Parking"), roundings_of(other))
        return worked(calculator, floor_area=1000)

    assert result("chapter", ("Title 1", "Chapter 4")) == 4
    assert result("chapter", ("Title 1", "Chapter 5")) == Fraction(10, 3)
    assert result("section", ("Title 1", "Chapter 4")) == Fraction(10, 3)
    assert result("title", ("Title 1", "Chapter 5")) == 4


# ------------------------------------------------------------------ properties

FEE = only("$10 plus $5 for each $1,000 or fraction thereof.")
LENGTH = only(
    "$160 for the first 25 feet of length; plus $10 for each additional 25 feet or fraction thereof, "
    "but not less than $170."
)
YARD = only("15% of the lot width, not less than 7.5 feet and not to exceed 25 feet.")
amounts = st.decimals(min_value=0, max_value=10**7, places=2).map(Fraction)


@given(amounts)
def test_a_fraction_thereof_counts_as_a_whole(cost: Fraction) -> None:
    assert worked(FEE, cost=cost) == 10 + 5 * math.ceil(cost / 1000)


@given(amounts, amounts)
def test_more_is_never_cheaper(one: Fraction, other: Fraction) -> None:
    less, more = sorted((one, other))
    assert worked(LENGTH, length=less) <= worked(LENGTH, length=more)


@given(amounts)
def test_a_bound_holds(width: Fraction) -> None:
    assert Fraction("7.5") <= worked(YARD, lot_width=width) <= 25


@given(amounts, st.sampled_from(["inch", "foot", "yard", "mile"]))
def test_a_length_is_the_same_in_any_unit(value: Fraction, unit: str) -> None:
    assert convert(convert(value, "foot", unit), unit, "foot") == value


@pytest.mark.parametrize(("unit", "other"), [("foot", "sqft"), ("dollar", "space"), ("day", "month"), ("each", "foot")])  # fmt: skip
def test_unlike_units_are_refused(unit: str, other: str) -> None:
    with pytest.raises(UnitMismatch):
        convert(1, unit, other)


@given(st.integers(0, 10**9), st.sampled_from([1, 2, 4, 5, 8, 10, 125, 1000]))
def test_a_decimal_is_exact_where_it_can_be(above: int, below: int) -> None:
    assert Fraction(decimal_of(Fraction(above, below))) == Fraction(above, below)


def test_a_third_is_written_to_six_places() -> None:
    assert decimal_of(Fraction(1, 3)) == Decimal("0.333333")
    assert decimal_of(Fraction(-2, 3)) == Decimal("-0.666667")


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [("228.8", "dollar", "$228.80"), ("75", "dollar", "$75"), ("3500", "sqft", "3,500 sq ft"), ("1", "space", "1 space"), ("49", "space", "49 spaces"), ("7.5", "foot", "7.5 ft")],
)  # fmt: skip
def test_a_result_reads_as_people_write_it(value: str, unit: str, text: str) -> None:
    assert written(Decimal(value), unit) == text


def test_every_unit_can_be_written() -> None:
    assert all(written(Decimal(2), unit).startswith(("2", "$2")) for unit in UNITS)


@given(st.text(max_size=300) | st.text(alphabet="$1,05.% for eachpr|\n()plus-½", max_size=300))
def test_any_text_is_read_without_harm(text: str) -> None:
    for calculator in propose(section(text, "Parking fees")):
        assert from_json(to_json(calculator)) == calculator
        for binding in calculator.bindings:
            assert binding.span.of(text) == binding.quote


def test_hostile_text_gives_no_rule() -> None:
    assert propose(section(HOSTILE_TEXT, "Trolls")) == []


def test_reading_grows_with_the_text() -> None:
    rule = "Use: 1 space per 250 sq. ft. of area, plus 1 per employee, but not less than 2 spaces. "
    assert grows_linearly(lambda text: propose(section(text, "Parking")), rule, 8_000)


# ------------------------------------------------------------------ a question


SHED = "| Kind | Fee |\n|---|---|\n| Sidewalk shed | $160 for the first 25 feet in the length of the shed; plus $10 for each additional 25 feet or fraction thereof |\n| Demolition | Multiply building frontage in feet x number of stories of the building x $2.60 |\n"


def asked(question: str, **inputs: str) -> tuple[str, Mapping[str, object]]:
    best = choose(question, inputs, propose(section(SHED, "Permit fees")))[0]
    return best.calculator.label, best.filled.given


def test_a_question_chooses_and_fills() -> None:
    label, given = asked("What does a permit for an 80 ft sidewalk shed cost?")
    assert label == "Sidewalk shed"
    assert list(given.values()) == [80]
    label, given = asked(
        "Fee to demolish: demolition of a five storey house with 40 ft of frontage?"
    )
    assert label == "Demolition"
    assert given == {"building_frontage": 40, "stories_of_the_building": 5}


def test_inputs_come_in_other_units_and_under_other_names() -> None:
    calculators = propose(section(SHED, "Permit fees"))
    shed = next(c for c in calculators if c.label == "Sidewalk shed")
    assert fill(shed, {"length": "27 yards"}, "").given == {"length_of_the_shed": 81}
    assert fill(shed, {"shed_length_ft": "80"}, "").given == {"length_of_the_shed": 80}
    assert fill(shed, {"seats": "12"}, "").unused_numbers == ("seats",)
    assert fill(shed, {"length": "3 acres"}, "").given == {}


def test_two_numbers_that_would_do_are_not_guessed_between() -> None:
    calculators = propose(section(SHED, "Permit fees"))
    shed = next(c for c in calculators if c.label == "Sidewalk shed")
    assert fill(shed, {}, "a shed for a lot of 40 ft by 60 ft").given == {}


def test_a_missing_input_is_named_with_its_unit() -> None:
    shed = propose(section(SHED, "Permit fees"))[0]
    with pytest.raises(
        MissingInput, match=r"needs length_of_the_shed \(length of the shed, in ft\)"
    ):
        compute(shed, {})


# ------------------------------------------------------------------ bound to words


RULE = "Signs: $5 for each square foot of area. The clerk collects the fee."


def test_the_same_words_in_a_new_version_are_followed() -> None:
    calculator = only(RULE)
    newer = section(f"(a) {RULE} As amended.")
    moved = rebound(calculator, [newer], TODAY)
    assert isinstance(moved, Calculator)
    own = moved.bindings[0]
    assert own.span == calculator.bindings[0].span.shifted(4)
    assert own.version == newer.version
    assert moved.steps == calculator.steps
    assert moved.digest == calculator.digest


@pytest.mark.parametrize(
    ("now", "why"),
    [
        ([section(RULE.replace("$5", "$6"))], "no longer says"),
        ([], "no longer in the city's code"),
        ([section(RULE, standing=Standing.REPEALED)], "not in force"),
        ([section(RULE, effective_until=date(2026, 1, 1))], "not in force"),
        ([section(f"Now {RULE} Again: {RULE}")], "2 places"),
    ],
)
def test_changed_words_are_lost(now: list[StoredSection], why: str) -> None:
    lost = rebound(only(RULE), now, TODAY)
    assert isinstance(lost, Lost)
    assert why in lost.why


def test_a_changed_title_over_a_cell_is_lost() -> None:
    shed = propose(section(SHED, "Permit fees"))[0]
    assert isinstance(rebound(shed, [section(SHED.replace("| Fee |", "| Renewal |"))], TODAY), Lost)


def test_spans_count_in_the_record() -> None:
    hidden = section(RULE, inside=1000)
    (calculator,) = propose(hidden)
    start = calculator.bindings[0].span.start
    assert start >= 1000
    assert isinstance(rebound(calculator, [hidden], TODAY), Calculator)
    assert Span(start=start - 1000, end=start).of(RULE)[0:5] == "Signs"


def test_a_half_read_form_is_refused() -> None:
    with pytest.raises(ValueError, match="validation error"):
        from_json('{"title": "x"}')
