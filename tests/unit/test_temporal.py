"""Cases of amended sections, and their scores."""

from __future__ import annotations

import json
from datetime import date

import pytest

from appliance.domain import (
    Answer,
    Citation,
    CityId,
    Digest,
    Passage,
    PendingAmendment,
    SectionId,
    Span,
    Standing,
    StoredSection,
)
from eval.cases import CaseError, parse_temporal_cases
from eval.temporal import temporal_scores

ROW = {
    "id": "t-1",
    "question": "How high may a fence be?",
    "as_of_before": "2024-01-01",
    "as_of_after": "2026-01-01",
    "base_record": "elm-1",
    "law_record": "9007",
    "effective": "2025-06-29",
}
ELM = CityId("elm-hollow-xx")
(CASE,) = parse_temporal_cases(json.dumps(ROW), "t.jsonl", city=ELM)


def passage(external_id: str, effective: date | None = None) -> Passage:
    law = PendingAmendment(
        law="Law 7",
        external_id="9007",
        kind="amended",
        enacted=date(2025, 3, 1),
        effective=effective,
    )
    section = StoredSection(
        id=SectionId(1),
        city=ELM,
        external_id=external_id,
        citation="§ 1",
        number="1",
        heading="Fences",
        path=(),
        standing=Standing.IN_FORCE,
        version=Digest("0" * 64),
        effective_from=None,
        effective_until=None,
        text="Four feet.",
        amendments=(law,) if external_id == "elm-1" else (),
    )
    return Passage(
        label="1",
        section=section,
        span=Span(start=0, end=4),
        score=1,
        similarity=1,
        legs=("dense",),
    )


RIGHT = passage("elm-1", date(2025, 6, 29))


def answer(of: Passage, *, warned: bool) -> Answer:
    return Answer(
        outcome="quotes",
        text="",
        citations=(Citation(section=of.section, span=Span(start=0, end=4), quote="Four"),),
        warnings=of.section.amendments if warned else (),
    )


@pytest.mark.parametrize(
    ("before", "after", "given", "scores"),
    [
        (
            [RIGHT],
            [RIGHT],
            answer(RIGHT, warned=True),
            {"found_before": 1, "found_after": 1, "quiet_before": 1, "warned_after": 1,
             "dated_after": 1, "answer_warned": 1},
        ),
        (
            [passage("9007")],
            [passage("elm-1", date(2025, 7, 1))],
            answer(RIGHT, warned=False),
            {"found_before": 0, "found_after": 1, "quiet_before": 0, "warned_after": 1,
             "dated_after": 0, "answer_warned": 0},
        ),
        ([], [], None, {"found_before": 0, "found_after": 0, "quiet_before": 1}),
        (
            [],
            [passage("9007")],
            answer(passage("9007"), warned=False),
            {"found_before": 0, "found_after": 1, "quiet_before": 1, "answer_warned": 1},
        ),
    ],
)  # fmt: skip
def test_a_case_is_scored_by_what_each_day_shows(
    before: list[Passage], after: list[Passage], given: Answer | None, scores: dict[str, float]
) -> None:
    assert temporal_scores(CASE, before, after, given) == scores


def test_a_case_may_name_its_city() -> None:
    row = json.dumps(ROW | {"city": "alder-falls-xx"})
    (case,) = parse_temporal_cases(row, "t.jsonl", city=ELM)
    assert case.question_case.city == "alder-falls-xx"


@pytest.mark.parametrize("change", [{"effective": "soon"}, {"law_record": None}, {"question": ""}])
def test_a_line_that_is_no_case_is_named(change: dict[str, object]) -> None:
    with pytest.raises(CaseError, match=r"t.jsonl:1"):
        parse_temporal_cases(json.dumps(ROW | change), "t.jsonl", city=ELM)
    with pytest.raises(CaseError, match="holds no case"):
        parse_temporal_cases("\n", "t.jsonl", city=ELM)
