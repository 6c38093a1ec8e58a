"""What quarantines a city, what limits it, and what is said of its text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.corpus.coverage import (
    PROBES,
    Facts,
    Tally,
    adopted_codes,
    coverage_text,
    gaps,
    is_name_of,
    judge,
    model_codes,
    subjects_of,
)
from appliance.corpus.records import Read, read_records
from appliance.domain import City, CityId, Digest, SectionId, Standing, State, StoredSection
from appliance.ports import Probed, Refused

TODAY = date(2026, 7, 1)
ELM = City(id=CityId("elm-hollow-xx"), name="Elm Hollow, XX")
TITLE = "Title 15 Buildings and Construction"


def section(number: str = "15.04.010", **fields: Any) -> StoredSection:
    whole = {
        "id": SectionId(1),
        "city": ELM.id,
        "external_id": f"elm-{number}",
        "citation": f"§ {number}",
        "number": number,
        "heading": "Building permits",
        "path": (TITLE, "Chapter 15.04 Permits"),
        "standing": Standing.IN_FORCE,
        "version": Digest("0" * 64),
        "effective_from": date(2024, 1, 1),
        "effective_until": None,
        "text": f"A permit of the town of Elm Hollow is required for work number {number}.",
        "url": None,
    } | fields
    return StoredSection(**whole)


def zoning(number: str) -> StoredSection:
    return section(number, heading="Yards", path=("Title 17 Zoning", "Chapter 17.08 Districts"))


def city(count: int = 30) -> list[StoredSection]:
    """Return an honest small code: half of it building law, half zoning."""
    return [
        section(f"15.04.{10 * n:03}") if n % 2 else zoning(f"17.08.{10 * n:03}")
        for n in range(1, count + 1)
    ]


def facts(sections: Iterable[StoredSection], **fields: Any) -> Facts:
    tally = Tally(city=ELM, today=TODAY)
    for each in sections:
        tally.add(each)
    whole = {
        "city": ELM,
        "documents": tally.sections,
        "chunks": tally.in_force,
        "fetched": datetime(2026, 6, 1, tzinfo=UTC),
        "tally": tally,
        "refused": (),
        "probed": tuple(
            Probed(probe=p.name, hits=3, example="§ 15.04.010", example_id="elm-15.04.010")
            for p in PROBES
        ),
    } | fields
    return Facts(**whole)


def reasons(found: Facts, state: State) -> list[str]:
    return [f.reason for f in judge(found).findings if f.state is state]


# ------------------------------------------------------------------ live


def test_a_code_with_building_law_zoning_and_dates_is_live_without_a_reason() -> None:
    verdict = judge(facts(city()))
    assert (verdict.state, verdict.findings) == (State.LIVE, ())
    assert verdict.coverage == (
        "Zoning and building permits and construction. Passages on "
        + ", ".join(p.name for p in PROBES)
        + ". Newest law of 2024-01-01, fetched 2026-06-01."
    )


@pytest.mark.parametrize("count", range(1, 8))
def test_a_handful_of_honest_sections_is_never_quarantined(count: int) -> None:
    fence = [
        section(f"9-{n}", heading="Fences", path=(), effective_from=None, text="A fence is low.")
        for n in range(count)
    ]
    silent = tuple(Probed(probe=p.name, hits=0, example=None, example_id=None) for p in PROBES)
    verdict = judge(facts(fence, probed=silent))
    assert verdict.state is State.LIMITED
    assert all(f.state is State.LIMITED for f in verdict.findings)


# ------------------------------------------------------------------ quarantined

MOJIBAKE = "The boardâ€™s decision on a cafÃ© is final; see Â§ 4. "


def refusal(**fields: Any) -> Refused:
    whole = {
        "file": "elm.jsonl",
        "held": 30,
        "of_all": 30,
        "rejected": 20,
        "reasons": {"field 'text' is missing or not text": 20},
        "barren": False,
    } | fields
    return Refused(**whole)


def broken(share: float, change: Callable[[StoredSection], StoredSection]) -> list[StoredSection]:
    sections = city(40)
    worst = int(len(sections) * share)
    return [change(s) if i < worst else s for i, s in enumerate(sections)]


FAULTS: dict[str, tuple[Callable[[StoredSection], StoredSection], str]] = {
    "empty": (lambda s: replace(s, text="\n "), "have a heading but no text"),
    "damaged": (lambda s: replace(s, text=MOJIBAKE * 3), "were decoded wrongly"),
    "repeated": (lambda s: replace(s, text="The very same words. " * 20), "word for word"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_mostly_bad_sections_quarantine_a_city(fault: str) -> None:
    change, said = FAULTS[fault]
    bad = facts(broken(0.8, change))
    assert judge(bad).state is State.QUARANTINED
    assert any(said in r for r in reasons(bad, State.QUARANTINED))


@pytest.mark.parametrize("fault", FAULTS)
def test_some_bad_sections_limit_a_city(fault: str) -> None:
    change, said = FAULTS[fault]
    bad = facts(broken({"damaged": 0.18}.get(fault, 0.45), change))
    assert judge(bad).state is State.LIMITED
    assert any(said in r for r in reasons(bad, State.LIMITED))


@pytest.mark.parametrize("fault", FAULTS)
def test_few_bad_sections_are_no_reason(fault: str) -> None:
    change, _ = FAULTS[fault]
    assert judge(facts(broken(0.1, change))).state is State.LIVE


def test_a_heading_over_other_sections_needs_no_text_of_its_own() -> None:
    titles = [section(f"title {n}", heading=f"Title {n}", path=(), text="\n") for n in range(1, 20)]
    chapters = [replace(t, heading="Chapter 1", path=(t.heading,)) for t in titles]
    laws = [
        replace(s, path=(t.heading, "Chapter 1"))
        for t, s in zip(titles, [*city(), *city()], strict=False)
    ]
    found = facts([*titles, *chapters, *laws, *city()])
    assert (found.tally.empty, found.empty_chapters) == (0, [])
    assert facts([*titles, *chapters]).tally.empty == len(chapters)


def test_a_repealed_section_needs_no_text() -> None:
    dead = [replace(s, standing=Standing.REPEALED, text="") for s in city(60)]
    assert judge(facts([*city(), *dead])).state is State.LIVE


@pytest.mark.parametrize(
    ("refused", "state"),
    [
        (refusal(rejected=1), State.LIVE),
        (refusal(rejected=4), State.LIVE),  # too few to be a share of anything
        (refusal(rejected=6), State.LIMITED),
        (refusal(rejected=20), State.QUARANTINED),
        # A file of many cities: its rejections are shared out.
        (refusal(rejected=20, of_all=3000), State.LIVE),
        # The last reading failed, but the text from before is as good as it was.
        (refusal(rejected=900, barren=True), State.LIMITED),
    ],
)
def test_rejected_records_count_by_their_share(refused: Refused, state: State) -> None:
    found = facts(city(), refused=(refused,))
    assert judge(found).state is state


def test_the_reason_names_share_and_cause_and_the_fix_is_a_command() -> None:
    finding = judge(facts(city(), refused=(refusal(),))).findings[0]
    assert finding.reason == (
        "40 % of the records were turned away (20 of 50; most often: "
        "field 'text' is missing or not text)"
    )
    assert finding.fix == "permitbox gate elm.jsonl"


def test_text_of_another_place_quarantines_a_city() -> None:
    text = "The council of the City of Bath may, in the City of Bath, grant it: no. {}"
    foreign = [replace(s, text=text.format(s.number)) for s in city()]
    assert reasons(facts(foreign), State.QUARANTINED) == [
        "the text is another place's: it names Bath 60 times and Elm Hollow, XX never"
    ]
    assert judge(facts([*foreign, section("1.1")])).state is not State.QUARANTINED
    claimed = replace(facts(foreign), claimed=True)
    assert judge(claimed).state is State.LIMITED, "a person said whose law it is"


def test_a_city_without_searchable_text_is_quarantined() -> None:
    assert judge(facts([], chunks=0)).state is State.QUARANTINED


# ------------------------------------------------------------------ limited


@pytest.mark.parametrize(
    ("sections", "said"),
    [
        ([zoning(f"17.{n}") for n in range(30)], "zoning only: no chapter on building permits"),
        ([section(f"15.{n}") for n in range(30)], "no zoning law"),
        ([replace(s, effective_from=None) for s in city()], "no section says since when it is law"),
        (
            [replace(s, text=f"{s.text} See the following table.") for s in city()],
            "tables lost: 30 sections point to a table",
        ),
        (
            [*city(), section("15.08.010", path=(TITLE, "Chapter 15.08 Pools"), text="")],
            "1 chapter without any text: Title 15 Buildings and Construction > Chapter 15.08 Pools",
        ),
        (
            [
                *city(),
                section("15.12.1", text="The International Building Code is hereby adopted."),
            ],
            "adopted by reference, text not in this box: International Building Code",
        ),
    ],
)
def test_what_is_missing_is_told(sections: list[StoredSection], said: str) -> None:
    found = facts(sections)
    assert judge(found).state is State.LIMITED
    assert any(said in r for r in reasons(found, State.LIMITED))


def test_probes_without_a_hit_are_named_in_reason_and_coverage() -> None:
    probed = facts(city()).probed
    silent = (replace(probed[0], hits=0), *probed[1:])
    found = facts(city(), probed=silent)
    assert reasons(found, State.LIMITED) == [f"no passage on {PROBES[0].name}"]
    assert f"None on {PROBES[0].name}." in coverage_text(found)


def test_a_text_with_its_tables_has_lost_none() -> None:
    table = "See the following table.\n\n| Zone | Height |\n|---|---|\n| R-1 | 30 feet |\n"
    assert (
        judge(facts([replace(s, text=f"{s.number}: {table}") for s in city()])).state is State.LIVE
    )


def test_what_has_ended_does_not_count_as_law_in_force() -> None:
    ended = [replace(s, effective_until=TODAY) for s in city()]
    assert facts(ended).tally.in_force == 0


def test_every_probe_has_three_groups_at_most_and_a_name_of_its_own() -> None:
    assert all(1 <= len(p.groups) <= 3 for p in PROBES)
    assert len({p.name for p in PROBES}) == len(PROBES)


# ------------------------------------------------------------------ pieces


@pytest.mark.parametrize(
    ("numbers", "left_out"),
    [
        ([], []),
        ([7], []),
        ([1, 2, 3, 5, 6], [4]),
        ([10, 20, 30, 50, 60, 100], [40, 70, 80, 90]),
        ([1, 2, 3, 4, 100, 101, 102], []),  # a leap of the numbering
        ([1, 5, 6, 19, 44], []),  # no even row
    ],
)
def test_gaps_are_what_an_even_row_leaves_out(numbers: list[int], left_out: list[int]) -> None:
    assert gaps(numbers) == left_out


@given(st.sets(st.integers(0, 400)))
def test_a_gap_is_never_a_number_that_is_there(numbers: set[int]) -> None:
    found = gaps(numbers)
    assert not numbers & set(found)
    assert all(min(numbers) < n < max(numbers) for n in found)


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (
            "The 2021 International Residential Code is hereby adopted by reference.",
            {"International Residential Code": True},
        ),
        (
            "There is adopted by the town the Virginia Uniform Statewide Building Code.",
            {"Virginia Uniform Statewide Building Code": True},
        ),
        (
            "Walls shall meet the International Building\nCode.",
            {"International Building Code": False},
        ),
        ("The city code is hereby adopted.", {}),
        ("A national building is no code.", {}),
    ],
)
def test_model_codes_are_found_with_whether_they_are_adopted(
    text: str, codes: dict[str, bool]
) -> None:
    assert model_codes(text) == codes


@pytest.mark.parametrize(
    ("place", "own"),
    [("Elm Hollow", True), ("Hollow Township", True), ("Bath", False), ("Elm", True)],
)
def test_a_place_is_the_city_by_its_name(place: str, own: bool) -> None:
    assert is_name_of(place, ELM) is own


# ------------------------------------------------------------------ real codes

RealCodes = Callable[..., list[str]]


def real(law_lines: RealCodes, pattern: str) -> Tally:
    tally = None
    for each in read_records("".join(law_lines(pattern)), name=pattern):
        if not isinstance(each, Read):
            continue
        tally = tally or Tally(city=each.city, today=TODAY)
        document = each.accepted.document
        for held in each.accepted.sections:
            tally.add(
                section(
                    held.number,
                    heading=held.heading,
                    path=held.path,
                    standing=held.standing,
                    effective_from=document.effective_from,
                    text=held.span.of(document.body),
                )
            )
    assert tally is not None
    return tally


@pytest.mark.parametrize(
    ("pattern", "subjects", "said"),
    [
        ("code-va-tn-zoning/salem-va.*", ["zoning"], "no section says since when it is law"),
        ("code-va-tn-zoning/suffolk-va.*", ["zoning"], "tables lost"),
        ("code-va-tn-zoning/norfolk-va.*", ["zoning"], "tables lost"),
        ("code-va-tn-zoning/loudoun-county-va.*", ["zoning"], "zoning only"),
        (
            "code-va-tn-zoning/montgomery-county-va.*",
            ["zoning", "building permits and construction"],
            "Virginia Uniform Statewide Building Code",
        ),
        ("code-ray-county-mo/sections*", ["zoning"], "zoning only"),
        (
            "code-brandon-sd/sections*",
            ["zoning", "building permits and construction"],
            "tables lost",
        ),
        (
            "code-san-mateo-ca/sections*",
            ["zoning", "building permits and construction"],
            "adopted by reference, text not in this box: California",
        ),
        (
            "code-spanish-fork-ut/sections*",
            ["zoning", "building permits and construction"],
            "International Fire Code",
        ),
    ],
)
def test_real_codes_are_limited_for_reasons_that_their_readers_know(
    law_lines: RealCodes, pattern: str, subjects: list[str], said: str
) -> None:
    tally = real(law_lines, pattern)
    assert subjects_of(tally) == subjects
    found = replace(facts([]), tally=tally, documents=tally.sections, chunks=tally.in_force)
    assert judge(found).state is State.LIMITED
    assert any(said in r for r in reasons(found, State.LIMITED))


def test_a_code_that_is_held_is_not_said_to_be_missing() -> None:
    held = section(
        "15.30.1",
        path=(TITLE, "Chapter 15.30 International Fire Code"),
        text="The International Fire Code is hereby adopted by reference.",
    )
    assert adopted_codes(facts([*city(), held]).tally) == []
    assert json.dumps(judge(facts([*city(), held])).coverage)
