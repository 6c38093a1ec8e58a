"""What the ranker is told of each candidate, and that it orders by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.answers.features import FEATURES, Asked, features, scaled
from appliance.domain import ChunkId, ChunkKind, CityId, SectionId, Span, Standing
from appliance.ports import ChunkPreview
from models.ranker import shipped_ranker, weighed

PLAIN = ChunkPreview(
    id=ChunkId(1),
    section=SectionId(1),
    document=1,
    city=CityId("troll-xx"),
    external_id="1",
    citation="Sec. 1-1",
    number="1-1",
    heading="Sec. 1-1. Purpose.",
    path=("Chapter 1 GENERAL",),
    crumb="Chapter 1 GENERAL > Sec. 1-1. Purpose.",
    inside=0,
    length=100,
    standing=Standing.IN_FORCE,
    effective_from=None,
    effective_until=None,
    doc_type="code",
    span=Span(start=0, end=100),
    ordinal=0,
    kind=ChunkKind.PROSE,
    text="The purpose of this chapter is the public welfare.",
    titles=(),
    header=None,
)


def told(
    question: str, *candidates: ChunkPreview, **given: Mapping[ChunkId, float]
) -> list[dict[str, float]]:
    """Return the features by name; the candidates are numbered from 1."""
    numbered = [replace(c, id=ChunkId(i)) for i, c in enumerate(candidates, start=1)]
    rows = features(
        Asked.of(question, question), numbered, given.get("fused", {}), given.get("late", {})
    )
    return [dict(zip(FEATURES, row, strict=True)) for row in rows]


def test_a_heading_that_the_question_has_whole_counts_more_than_one_of_other_words() -> None:
    whole = replace(PLAIN, heading="Fence height")
    partly = replace(PLAIN, heading="Height of communication towers")
    rows = told("How high may a fence be, what height?", whole, partly, PLAIN)
    assert [r["heading"] for r in rows] == [1.0, pytest.approx(1 / 3), 0.0]


def test_a_term_of_the_path_counts_more_if_few_candidates_have_it_in_their_text() -> None:
    rare = replace(PLAIN, crumb="Fences", text="Of wood.")
    common = replace(PLAIN, crumb="Permits", text="A permit.")
    rows = told("permit for fences", rare, common, common)
    assert rows[0]["path"] > rows[1]["path"] > 0


def test_words_that_stand_side_by_side_as_in_the_question_are_pairs() -> None:
    beside = replace(PLAIN, text="A swimming pool must be fenced.")
    apart = replace(PLAIN, text="Swimming is allowed where a car pool is not.")
    first, second = told("fence around a swimming pool", beside, apart)
    assert first["pairs"] > second["pairs"] == 0


def test_a_chapter_is_what_the_others_in_it_were_given() -> None:
    one, two = PLAIN, replace(PLAIN, external_id="2")
    alone = replace(PLAIN, path=("Chapter 9",))
    fused = {ChunkId(1): 0.9, ChunkId(2): 0.4, ChunkId(3): 0.7}
    assert [r["chapter"] for r in told("fence", one, two, alone, fused=fused)] == [0.4, 0.9, 0.0]


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("What is considered a hard surface?", True),
        ("What does dwelling mean?", True),
        ("How many dogs may I own?", False),
    ],
)
def test_a_definition_counts_where_a_meaning_is_asked(question: str, asked: bool) -> None:
    (row,) = told(question, replace(PLAIN, kind=ChunkKind.DEFINITION))
    assert row["definition_asked"] == float(asked)


def test_a_record_is_what_its_other_chunks_were_given() -> None:
    fused = {ChunkId(1): 0.9, ChunkId(2): 0.4, ChunkId(3): 0.3, ChunkId(4): 0.2}
    rows = told("fence", PLAIN, PLAIN, PLAIN, replace(PLAIN, external_id="9"), fused=fused)
    assert [r["record"] for r in rows] == pytest.approx([0.7, 1.2, 1.3, 0.0])


@pytest.mark.parametrize(
    ("question", "heading", "agrees"),
    [
        ("Front yard in the R1-A zone?", "27.18 R1 DISTRICTS—ONE FAMILY DWELLINGS", 1.0),
        ("Front yard in the R1-A zone?", "27.22 R3 DISTRICT—MULTIPLE FAMILY DWELLINGS", -1.0),
        ("Front yard in the R-3 district?", "27.22 R3 DISTRICT—MULTIPLE FAMILY DWELLINGS", 1.0),
        ("How deep is a front yard?", "27.22 R3 DISTRICT—MULTIPLE FAMILY DWELLINGS", 0.0),
        ("Front yard in the R1-A zone?", "27.70 ACCESSORY BUILDINGS", 0.0),
    ],
)
def test_the_rules_of_another_district_are_told_apart(
    question: str, heading: str, agrees: float
) -> None:
    (row,) = told(question, replace(PLAIN, path=("Title 27 ZONING", f"Chapter {heading}")))
    assert row["district"] == agrees


def test_what_was_not_read_is_no_better_than_the_worst_that_was() -> None:
    late = {ChunkId(1): 0.9, ChunkId(2): 0.2}
    assert [r["late"] for r in told("fence", PLAIN, PLAIN, PLAIN, late=late)] == [1.0, 0.0, 0.0]


@given(st.dictionaries(st.integers(1, 9).map(ChunkId), st.floats(-1e3, 1e3), max_size=9))
def test_scaled_scores_keep_their_order_between_nought_and_one(
    scores: dict[ChunkId, float],
) -> None:
    out = scaled(scores)
    assert out.keys() == scores.keys()
    assert all(0.0 <= v <= 1.0 for v in out.values())
    assert all(out[a] <= out[b] for a in scores for b in scores if scores[a] <= scores[b])


@given(st.text(max_size=200), st.lists(st.text(max_size=300), max_size=5))
def test_any_text_gives_finite_features(question: str, texts: list[str]) -> None:
    candidates = [replace(PLAIN, text=t, heading=t[:40], crumb=t[:80]) for t in texts]
    for row in told(question, *candidates):
        assert all(abs(value) < 100 for value in row.values())


def test_the_shipped_weights_are_of_these_features_and_lean_on_the_first_stage() -> None:
    ranker = shipped_ranker()
    assert set(ranker.weights) == set(FEATURES)
    weights = ranker.row(FEATURES)
    assert weights[0] > 0
    assert ranker.weights["late"] > 0, "--rerank would read and change nothing"
    better = [1.0, *(0.0 for _ in FEATURES[1:])]
    assert weighed(weights, better) > weighed(weights, [0.0 for _ in FEATURES])
