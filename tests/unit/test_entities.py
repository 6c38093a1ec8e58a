"""Districts, permits, sizes, amounts, ordinances and days, as codes write them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.corpus.entities import (
    district_code,
    districts_defined,
    entities_of,
    parse_having,
)
from appliance.domain import Having


def found(text: str, kind: str, districts: tuple[str, ...] = ()) -> list[str]:
    """Return what is found of a kind, as "value unit bound"."""
    return [
        " ".join(filter(None, (e.value, e.unit, e.bound)))
        for e in entities_of(text, districts)
        if e.kind == kind
    ]


# ------------------------------------------------------------------ districts


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("A barn may stand in the R-1 district.", ["R-1"]),
        ("in the R-1, R-1A and RS-7.2 residential districts", ["R-1", "R-1A", "RS-7.2"]),
        ("Lots zoned B-2 or M1 need no yard.", ["B-2", "M-1"]),
        ("the Residential Duplex district (R-2) is", ["R-2"]),
        ("property in a C-2 base zoning district", ["C-2"]),
        ("within the GI Districts and the HP overlay district", ["GI", "HP"]),
        ("zoned TO-C, HR-C, or PS-C and fenced", ["TO-C", "HR-C", "PS-C"]),
        ("the R1-B zone", ["R-1B"]),
        ("See Section A-808 of Chapter A-8.", []),
        ("Group R-3 occupancies and Form B-2", []),
        ("A district may be divided. THE DISTRICT ends here.", []),
        ("the I-65 corridor", []),
        ("The board meets in room B-2.", []),
    ],
)
def test_a_code_is_a_district_where_the_text_says_so(text: str, codes: list[str]) -> None:
    assert found(text, "district") == codes


def test_a_district_that_the_city_defines_needs_no_such_words() -> None:
    text = "Towers: R-1 and R-2 30 feet, B-3 40 feet."
    assert found(text, "district") == []
    assert found(text, "district", ("R-1", "R-2", "B-3")) == ["R-1", "R-2", "B-3"]


@pytest.mark.parametrize(
    ("path", "codes"),
    [
        (("ARTICLE XII. - GENERAL BUSINESS DISTRICT B-3", "Sec. 42-340. - Height."), {"B-3"}),
        (("ARTICLE III. - DISTRICT REGULATIONS", "DIVISION 6. - C-1 COMMERCIAL OFFICE"), {"C-1"}),
        (("ARTICLE 15 - HEALTH SERVICES DISTRICT—HS",), {"HS"}),
        (("Riverside Overlay District (ROD)",), {"ROD"}),
        (("Chapter A-8 - SUPPLEMENTARY DISTRICT REGULATIONS", "A-809. - Antennas."), set()),
        (("ARTICLE IV", "Signs"), set()),
        (("District IV",), set()),
    ],
)
def test_headings_define_districts(path: tuple[str, ...], codes: set[str]) -> None:
    assert districts_defined([path]) == codes


@pytest.mark.parametrize("written", ["R-1B", "R1B", "R1-B", "R-1-B"])
def test_one_district_has_one_form(written: str) -> None:
    assert district_code(written) == "R-1B"


# ------------------------------------------------------------------ permits


@pytest.mark.parametrize(
    ("text", "permits"),
    [
        ("No building permit is issued without a sign permit.", ["building permit", "sign permit"]),
        (
            "A building, electrical or plumbing permit",
            ["building permit", "electrical permit", "plumbing permit"],
        ),
        ("the Special Use Permits of the town", ["special use permit"]),
        ("The live entertainment permit ends.", ["live entertainment permit"]),
        ("a certificate of occupancy is due", ["certificate of occupancy"]),
        ("The approved permit and any required permit", []),
        ("This chapter does not permit the use.", []),
        ("Ask at the borough permit office.", []),
    ],
)
def test_permits_are_found_by_their_type(text: str, permits: list[str]) -> None:
    assert found(text, "permit") == permits


# ------------------------------------------------------------------ sizes


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("at least six (6) feet from the line", ["6 foot min"]),
        ("shall not exceed 35 feet", ["35 foot max"]),
        ("a minimum lot area of one-half acre", ["0.5 acre min"]),
        ("25 feet or less; 2 stories maximum", ["25 foot max", "2 story max"]),
        ("covers no more than 40 percent of it", ["40 percent max"]),
        ("may not be expanded more than 25 percent", ["25 percent max"]),
        ("between 5 to 10 feet apart", ["5 foot", "10 foot"]),
        ("twenty-five (25) to thirty (30) feet tall", ["25 foot", "30 foot"]),
        ("a sign of 1,200 square feet", ["1200 sqft"]),
        ("within one quarter (1/4) mile of it", ["0.25 mile max"]),
        ("within 30 days, for 3 persons", []),
    ],
)
def test_sizes_have_their_unit_and_their_bound(text: str, sizes: list[str]) -> None:
    assert found(text, "dimension") == sizes


# ------------------------------------------------------------------ money


@pytest.mark.parametrize(
    ("text", "fees", "money"),
    [
        ("The fee is $150.00.", ["150 dollar"], []),
        ("A fee of $5 per square foot applies.", ["5 dollar per sqft"], []),
        ("Fees: $25 for each additional unit", ["25 dollar per unit"], []),
        ("A fine of up to $5,000 is due.", [], ["5000 dollar"]),
        ("The fee is waived; the penalty is $50.", [], ["50 dollar"]),
        (
            "| Permit | Fee |\n|---|---|\n| Fence | $40 |\n| Deck | $60 |",
            ["40 dollar", "60 dollar"],
            [],
        ),
        ("The fee is due.\n\nWork worth more than $1,000 is major.", [], ["1000 dollar"]),
    ],
)
def test_an_amount_is_a_fee_where_its_paragraph_says_so(
    text: str, fees: list[str], money: list[str]
) -> None:
    assert found(text, "fee") == fees
    assert found(text, "money") == money


# ------------------------------------------------------------------ ordinances and days


@pytest.mark.parametrize(
    ("text", "ordinances", "days"),
    [
        ("(Ord. No. 2003-22, § 2, 6-10-03)", ["2003-22"], ["2003-06-10"]),
        ("(Ord. No. O-2017-01, § 1, 8-22-2016)", ["O-2017-01"], ["2016-08-22"]),
        ("Ord. 98-A(1), 8-5-98;", ["98-A(1)"], ["1998-08-05"]),
        ("Ordinance #47,652 of June 11, 2019", ["47,652"], ["2019-06-11"]),
        ("(9/13/05, Case TA-05, Ord. No. 2005-3)", ["2005-3"], ["2005-09-13"]),
        (
            "Local Law 97 of 2019 and Local Law No. 5 of 1973",
            ["Local Law 97 of 2019", "Local Law 5 of 1973"],
            [],
        ),
        ("enacted the 11th day of June, 1953", [], ["1953-06-11"]),
        ("from 2024-02-29 to 2023-02-29", [], ["2024-02-29"]),
        ("See Section 6-10-03 of this code.", [], []),
        ("This ordinance takes effect at once.", [], []),
        ("on February 30, 2020", [], []),
    ],
)
def test_histories_give_ordinances_and_days(
    text: str, ordinances: list[str], days: list[str]
) -> None:
    assert found(text, "ordinance") == ordinances
    assert found(text, "date") == days


# ------------------------------------------------------------------ filters


@pytest.mark.parametrize(
    ("written", "having"),
    [
        ("district=r1", Having(kind="district", value="R-1", unit=None)),
        ("permit=fence", Having(kind="permit", value="fence permit", unit=None)),
        (
            "permit=Certificate of Occupancy",
            Having(kind="permit", value="certificate of occupancy", unit=None),
        ),
        ("dimension = six (6) feet", Having(kind="dimension", value="6", unit="foot")),
        ("fee=$150.00", Having(kind="fee", value="150", unit=None)),
        ("fee=$5 per square foot", Having(kind="fee", value="5", unit="dollar per sqft")),
        ("money=1,000", Having(kind="money", value="1000", unit=None)),
        ("ordinance=2019-12", Having(kind="ordinance", value="2019-12", unit=None)),
        ("date=January 1, 2024", Having(kind="date", value="2024-01-01", unit=None)),
        ("permit=of my own", Having(kind="permit", value="of my own", unit=None)),
    ],
)
def test_a_filter_is_read_as_a_code_would_write_it(written: str, having: Having) -> None:
    assert parse_having(written) == having


@pytest.mark.parametrize("written", ["", "R-1", "district", "district=", "colour=red", "=x"])
def test_what_is_no_filter_is_refused_with_the_kinds(written: str) -> None:
    with pytest.raises(
        ValueError, match="district, permit, dimension, fee, money, ordinance, date"
    ):
        parse_having(written)


# ------------------------------------------------------------------ any text

_PIECES = st.sampled_from(
    [
        "R-1",
        " district",
        "six (6) feet",
        "$5 per ",
        "fee ",
        "Ord. No. ",
        "2019-12",
        ", ",
        "6-10-03",
        "May 1, 2020",
        "permit ",
        "building ",
        "or ",
        "\n\n",
        "½",
        "\U0001f309",
        '"',
        "zoned ",
        "1/2 ",
    ]
)


@given(st.one_of(st.text(max_size=200), st.lists(_PIECES, max_size=40).map("".join)))
def test_every_entity_is_a_stretch_of_the_text_in_reading_order(text: str) -> None:
    entities = entities_of(text, ("R-1",))
    assert all(0 <= e.span.start < e.span.end <= len(text) for e in entities)
    assert list(entities) == sorted(entities, key=lambda e: e.span)
    assert all(e.value for e in entities)


@pytest.mark.parametrize(
    "piece",
    [
        "R-1, ",
        "$5 ",
        "fee $5 per ",
        "Ord. No. 1-2, ",
        "building or ",
        "6-10-03, ",
        "a a permit ",
        "(((",
        "2020 ",
        "R-1 and ",
        "Ord (1)",
        "10 to ",
        "district ",
        "no more than ",
    ],
)
def test_reading_takes_linear_time(piece: str) -> None:
    def seconds(length: int) -> float:
        text = (piece * (length // len(piece) + 1))[:length]
        began = time.process_time()
        entities_of(text, ("R-1",))
        return time.process_time() - began

    seconds(10_000)
    assert seconds(160_000) < 12 * max(seconds(40_000), 0.02)


def test_real_codes_are_read_at_more_than_a_megabyte_a_second(
    law_records: Callable[..., list[dict[str, Any]]],
) -> None:
    texts = [r["text"] for r in law_records("code-va-tn-zoning/suffolk-va.*")]
    began = time.process_time()
    kinds = {e.kind for text in texts for e in entities_of(text)}
    rate = sum(map(len, texts)) / (time.process_time() - began)
    assert {"district", "permit", "dimension", "ordinance", "date"} <= kinds
    assert rate > 1_000_000  # 4.5 MB/s on an idle core; the machine of the tests may be busy
