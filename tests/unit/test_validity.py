"""Dates and pending laws in words, and the superseded texts that are known."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest

from appliance.answers.validity import UNDATED, dates_of, pending_over, warning_of
from appliance.corpus.records import Read, read_records
from appliance.corpus.supersession import known_supersessions
from appliance.domain import (
    CityId,
    Digest,
    PendingAmendment,
    Rejected,
    SectionId,
    Standing,
    StoredSection,
    digest_of,
)

DAY = date(2026, 7, 1)
LAW = PendingAmendment(
    law="Local Law 7 of 2025",
    external_id="9007",
    kind="amended",
    enacted=date(2025, 3, 1),
    effective=date(2026, 8, 1),
)


def section(**facts: Any) -> StoredSection:
    plain: dict[str, Any] = {
        "id": SectionId(1),
        "city": CityId("elm-hollow-xx"),
        "external_id": "elm-1",
        "citation": "§ 1",
        "number": "1",
        "heading": "Fences",
        "path": (),
        "standing": Standing.IN_FORCE,
        "version": Digest("0" * 64),
        "effective_from": None,
        "effective_until": None,
        "text": "Four feet.",
    }
    return StoredSection(**plain | facts)


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({}, UNDATED),
        ({"effective_from": date(2024, 1, 1)}, "in force since 2024-01-01"),
        (
            {"effective_from": date(2024, 1, 1), "dated_by_box": True},
            f"read so since 2024-01-01 ({UNDATED})",
        ),
        (
            {"effective_until": date(2016, 9, 6), "superseded_by": "the rules of 2016"},
            f"{UNDATED}, until 2016-09-06, superseded by the rules of 2016",
        ),
        (
            {"effective_from": date(2025, 3, 1), "doc_type": "ordinance"},
            "in force since 2025-03-01, passed, not yet codified",
        ),
        ({"standing": Standing.REPEALED}, "repealed"),
    ],
)
def test_dates_are_said_and_missing_ones_too(facts: dict[str, Any], words: str) -> None:
    assert dates_of(section(**facts)) == words


@pytest.mark.parametrize(
    ("kind", "effective", "words"),
    [
        (
            "amended",
            date(2026, 8, 1),
            "Amended by Local Law 7 of 2025 (takes effect on 2026-08-01)",
        ),
        (
            "repealed",
            date(2026, 7, 1),
            "Repealed by Local Law 7 of 2025 (in force since 2026-07-01)",
        ),
        ("amended", None, "Amended by Local Law 7 of 2025 (the law does not state a day"),
    ],
)
def test_a_warning_is_a_sentence(kind: Any, effective: date | None, words: str) -> None:
    law = PendingAmendment(
        law=LAW.law, external_id="9007", kind=kind, enacted=LAW.enacted, effective=effective
    )
    assert warning_of(law, DAY).startswith(words)


@pytest.mark.parametrize(
    ("since", "day", "pending"),
    [
        (None, date(2025, 2, 28), False),  # not yet passed
        (None, date(2025, 3, 1), True),  # passed, still to come
        (date(2024, 1, 1), DAY, True),
        (date(2026, 9, 1), DAY, False),  # the text is later than the law
    ],
)
def test_a_law_is_pending_from_its_passing_and_over_older_text(
    since: date | None, day: date, pending: bool
) -> None:
    assert bool(section(effective_from=since, amendments=(LAW,)).pending(day)) is pending


def test_a_law_that_changes_two_cited_sections_is_said_once() -> None:
    both = [section(amendments=(LAW, LAW)), section(amendments=(LAW,))]
    assert pending_over(both, DAY) == (LAW,)


# ------------------------------------------------------------------ records


def read(**fields: object) -> Read | Rejected:
    plain = {
        "jurisdiction": "washington-dc",
        "id": "dcmr-1",
        "citation": "11 DCMR § 400",
        "heading": "Height",
        "text": "No building shall be higher than forty feet.",
    }
    (found,) = read_records(json.dumps(plain | fields), name="dc.jsonl")
    return found


@pytest.mark.parametrize(
    ("citation", "city", "until"),
    [
        ("11 DCMR § 400", "washington-dc", date(2016, 9, 6)),
        ("11 DCMR § 2500.1", "washington-dc", date(2016, 9, 6)),
        ("14 DCMR § 400", "washington-dc", None),  # housing
        ("11-C DCMR § 302", "washington-dc", None),  # the regulations of 2016
        ("11 DCMR C § 302", "washington-dc", None),
        ("11 DCMR § 400", "elm-hollow-xx", None),
    ],
)
def test_the_zoning_regulations_of_1958_ended(citation: str, city: str, until: date | None) -> None:
    found = read(citation=citation, jurisdiction=city)
    assert isinstance(found, Read)
    assert found.accepted.document.effective_until == until
    assert (found.accepted.document.superseded_by is None) == (until is None)


def test_every_known_supersession_says_where_the_fact_is_from() -> None:
    assert known_supersessions()
    assert all("https://" in known.source and known.by for known in known_supersessions())


@pytest.mark.parametrize(
    ("digest", "read_"),
    [(digest_of("No building shall be higher than forty feet."), True), ("0" * 64, False)],
)
def test_the_digest_of_a_record_is_checked(digest: str, read_: bool) -> None:
    assert isinstance(read(content_sha256=digest), Read) is read_


def test_an_ordinance_of_any_city_is_read_for_what_it_amends() -> None:
    found = read(
        jurisdiction="elm-hollow-xx",
        citation="Ordinance 2024-15",
        doc_type="ordinance",
        enacted="2024-05-01",
        text="Section 1. Section 17.20 of the Elm Hollow Code is amended to read as follows:\nSix feet.\n"
        "Section 2. This ordinance takes effect 30 days after its passage.",
    )
    assert isinstance(found, Read)
    (amendment,) = found.accepted.amendments
    assert (amendment.number, amendment.effective) == ("17.20", date(2024, 5, 31))


def test_the_day_that_a_record_states_stands_where_the_law_has_no_clause() -> None:
    text = "Section 1. Section 17.20 of the Elm Hollow Code is REPEALED."
    for stated, effective in (("2024-06-01", date(2024, 6, 1)), (None, None)):
        found = read(doc_type="ordinance", text=text, effective_date=stated)
        assert isinstance(found, Read)
        assert [a.effective for a in found.accepted.amendments] == [effective]
