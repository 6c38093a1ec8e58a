"""Cells of comparisons: how cases are read, what counts as right, and how sure a share is."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date

import pytest

from appliance.answers.citations import prove
from appliance.compare import EmptyCell, FoundCell
from appliance.domain import (
    Citation,
    City,
    CityId,
    Digest,
    SectionId,
    Span,
    Standing,
    StoredSection,
)
from eval.cases import Case, CaseError, parse_comparison_cases
from eval.cells import cell_scores, counted, held_cases
from eval.scores import proportion

ELM, ASH = CityId("elm-hollow-xx"), CityId("ash-glen-xx")
CASE = {
    "id": "c-1",
    "cities": [ELM, ASH],
    "question": "How many hens?",
    "cells": {
        ELM: {"gold": ["elm-1"], "fact": "six", "fact_norm": ["6"], "offset_hint": 10},
        ASH: {"gold": [], "fact": None},
    },
}


def case(**changes: object) -> str:
    return json.dumps(CASE | changes)


def test_a_case_has_a_cell_for_each_city_in_its_order() -> None:
    (one,) = parse_comparison_cases(case(), "f")
    assert [c.city for c in one.cells] == [ELM, ASH]
    there, empty = one.cells
    assert there.answerable
    assert there.facts[0].forms == ("six", "6")
    assert there.hints == {"elm-1": (10,)}
    assert not empty.answerable
    assert len({c.id for c in one.cells}) == 2


@pytest.mark.parametrize(
    "line",
    [
        case(cities=[ELM]),
        case(cells={ELM: {"gold": [], "fact": "six"}, ASH: {"gold": [], "fact": None}}),
        case(cells={ELM: {"gold": ["elm-1"], "fact": None}, ASH: {"gold": [], "fact": None}}),
        case(cities=["Elm Hollow", ASH]),
        "[]",
        "",
    ],
)
def test_what_is_no_case_is_an_error_with_its_place(line: str) -> None:
    with pytest.raises(CaseError, match=r"\Af"):
        parse_comparison_cases(line, "f")


def test_cells_of_cities_that_are_not_held_are_left_out_and_counted() -> None:
    cases = parse_comparison_cases(case(), "f")
    kept, left_out = held_cases(cases, [ASH])
    assert [c.city for k in kept for c in k.cells] == [ASH]
    assert left_out == 1
    assert held_cases(cases, []) == ((), 2)


# ------------------------------------------------------------------ what counts

SECTION = StoredSection(
    id=SectionId(1),
    city=ELM,
    external_id="elm-1",
    citation="Sec. 1",
    number="1",
    heading="Hens",
    path=(),
    standing=Standing.IN_FORCE,
    version=Digest("0" * 64),
    effective_from=None,
    effective_until=None,
    text="No more than six hens may be kept. "
    + "Coops are clean. " * 200
    + "Up to six dogs are kept.",
)


def cell(words: str, fact: str, section: StoredSection = SECTION) -> FoundCell:
    proof = prove(section, words, as_of=date(2026, 7, 1), retrieved=None)
    assert isinstance(proof, Citation)
    start = proof.quote.index(fact)
    span = Span(start=start, end=start + len(fact))
    return FoundCell(city=City(id=ELM, name="Elm Hollow"), citation=proof, fact=span, by="rules")


EMPTY = EmptyCell(city=City(id=ELM, name="Elm Hollow"), scans=())
HENS = "No more than six hens may be kept."


@pytest.fixture
def cells() -> tuple[Case, ...]:
    (one,) = parse_comparison_cases(case(), "f")
    return one.cells


def test_a_cell_is_right_by_its_fact_and_its_gold_section_near_the_hint(
    cells: tuple[Case, ...],
) -> None:
    there, _ = cells
    right = {"right": 1.0, "wrong": 0.0, "missing": 0.0}
    wrong = {"right": 0.0, "wrong": 1.0, "missing": 0.0}
    assert cell_scores(there, cell(HENS, "six")) == right
    assert cell_scores(there, cell(HENS, "more than")) == wrong
    assert cell_scores(there, cell("Up to six dogs are kept.", "six")) == wrong  # far from the hint
    other = replace(SECTION, external_id="elm-2")
    assert cell_scores(there, cell(HENS, "six", other)) == wrong
    assert cell_scores(there, EMPTY) == {"right": 0.0, "wrong": 0.0, "missing": 1.0}


def test_a_cell_without_a_fact_must_stay_empty(cells: tuple[Case, ...]) -> None:
    _, empty = cells
    assert cell_scores(empty, EMPTY) == {"false_find": 0.0}
    assert cell_scores(empty, cell(HENS, "six")) == {"false_find": 1.0}


def test_no_results_have_no_counts() -> None:
    assert counted([]) == {}


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [
        (0, 70, 0.0, 0.0520),  # worked by hand: z^2 / (n + z^2)
        (70, 70, 0.9480, 1.0),
        (5, 10, 0.2366, 0.7634),
        (1, 1, 0.2065, 1.0),
    ],
)
def test_a_share_has_an_interval_even_at_none_and_at_all(
    hits: int, n: int, low: float, high: float
) -> None:
    share = proportion(hits, n)
    assert share.value == hits / n
    assert (share.low, share.high) == pytest.approx((low, high), abs=5e-5)


def test_no_trials_have_no_share() -> None:
    with pytest.raises(ValueError, match="no trials"):
        proportion(0, 0)
