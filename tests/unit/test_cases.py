"""Case files: both forms are read whole, and a line that is neither is named with file and line."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from eval.cases import Case, CaseError, Fact, GoldCitations, GoldIds, parse_cases

SAMPLES = Path(__file__).parents[2] / "eval" / "cases" / "samples.jsonl"
PLAIN = {
    "id": "x-1",
    "city": "alder-falls-xx",
    "kind": "quantitative",
    "question": "How high may a fence be?",
    "gold": [["a"]],
    "facts": ["6 feet"],
    "answerable": True,
}
ZONING = {
    "id": "z-1",
    "project_description": "Keep six hens in the R-1 district.",
    "jurisdiction_id": "albemarle-county-va",
    "expect": {"must_cite_section_refs": ["Sec. 3041", "Sec. 4201"], "should_abstain": False},
    "gold_in_corpus": True,
}


def one(**changes: object) -> Case:
    return parse_cases(json.dumps(PLAIN | changes), "x.jsonl")[0]


def zoning(**changes: object) -> Case:
    return parse_cases(json.dumps(ZONING | changes), "z.jsonl")[0]


def test_the_sample_cases_are_all_read() -> None:
    cases = parse_cases(SAMPLES.read_text("utf-8"), "samples.jsonl")
    assert len(cases) == 30
    assert sum(not c.answerable for c in cases) == 6
    assert {c.city for c in cases} == {"alder-falls-xx", "brackwater-county-xx"}


def test_a_case_of_our_own_form() -> None:
    case = one(shared="S1", near=["b"], as_of="2024-05-01")
    assert case.gold == GoldIds(groups=(("a",),))
    assert (case.shared, case.near, case.as_of) == ("S1", ("b",), date(2024, 5, 1))
    assert one().as_of is None


@pytest.mark.parametrize("key", ["facts_alt", "facts_norm"])
@pytest.mark.parametrize(
    ("entry", "alternates"),
    [("six feet", ("six feet",)), (["six feet", "6 ft"], ("six feet", "6 ft")), ([], ())],
)
def test_a_facts_other_forms_are_a_string_or_a_list(
    key: str, entry: object, alternates: tuple[str, ...]
) -> None:
    assert one(**{key: [entry]}).facts == (Fact(text="6 feet", alternates=alternates),)


def test_facts_may_come_without_other_forms() -> None:
    assert one().facts == (Fact(text="6 feet"),)
    assert one().facts[0].forms == ("6 feet",)


@pytest.mark.parametrize(
    ("changes", "hints"),
    [
        ({"offset_hint": 5}, {"a": (5,)}),
        ({"offset_hint": [5, 9]}, {"a": (5, 9)}),
        ({"offset_hints": {"a": 5}}, {"a": (5,)}),
        ({"offset_hints": {"b": [5, 9]}, "gold": [["a", "b"]]}, {"b": (5, 9)}),
        # `offset_hints` says more, so it wins.
        ({"offset_hint": 1, "offset_hints": {"a": [5, 9]}}, {"a": (5, 9)}),
        ({}, {}),
    ],
)
def test_hints_are_kept_by_record(changes: dict[str, object], hints: dict[str, object]) -> None:
    assert dict(one(**changes).hints) == hints


def test_the_zoning_form_names_its_gold_by_citation() -> None:
    case = zoning()
    assert case.gold == GoldCitations(groups=(("Sec. 3041",), ("Sec. 4201",)))
    assert (case.city, case.kind, case.answerable) == ("albemarle-county-va", "zoning", True)


def test_a_zoning_case_that_should_abstain_has_no_gold() -> None:
    case = zoning(
        expect={"must_cite_section_refs": [], "should_abstain": True}, gold_in_corpus=False
    )
    assert not case.answerable
    assert case.gold.groups == ()
    assert case.gold_held


def test_a_zoning_case_says_if_the_corpus_lacks_its_gold() -> None:
    assert not zoning(gold_in_corpus=False).gold_held


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"city": "New York"}, "field 'city': 'New York' is not a city id; one looks like 'new-"),
        ({"question": " "}, "field 'question' must be a text"),
        ({"kind": None}, "field 'kind' must be a text"),
        ({"answerable": "yes"}, "field 'answerable' must be true or false"),
        ({"gold": "a"}, "field 'gold' must be a list"),
        ({"gold": [[]]}, "field 'gold' has an empty group"),
        ({"gold": [[7]]}, "field 'gold' must hold texts and none of them empty"),
        ({"gold": []}, "an answerable case needs gold"),
        ({"facts_alt": []}, "field 'facts_alt' must have an entry for each of 'facts'"),
        ({"facts_alt": [""]}, "field 'facts_alt' must hold texts and none of them empty"),
        ({"facts_alt": [[]], "facts_norm": [[]]}, "give 'facts_alt' or 'facts_norm', not both"),
        ({"offset_hint": -1}, "field 'offset_hint' must hold whole numbers from 0"),
        ({"offset_hint": True}, "field 'offset_hint' must hold whole numbers from 0"),
        ({"offset_hint": 1, "gold": [["a", "b"]]}, "with several gold ids, 'offset_hints' must"),
        ({"offset_hints": {"c": 1}}, "field 'offset_hints' names 'c', which is not in 'gold'"),
        ({"as_of": "May"}, "field 'as_of' must be a day like 2026-05-31"),
    ],
)
def test_a_bad_line_is_named(changes: dict[str, object], why: str) -> None:
    text = "\n".join([json.dumps(PLAIN), "", json.dumps(PLAIN | {"id": "x-2"} | changes)])
    with pytest.raises(CaseError) as caught:
        parse_cases(text, "x.jsonl")
    assert str(caught.value).startswith(f"x.jsonl:3: {why}")
    assert (caught.value.name, caught.value.line, caught.value.exit_code) == ("x.jsonl", 3, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "x.jsonl:1: not valid JSON: Expecting property name enclosed in double quotes"),
        ("[]", "x.jsonl:1: the line must be a JSON object"),
        ("\n\n", "x.jsonl: holds no case"),
        ("\n".join([json.dumps(PLAIN)] * 2), "x.jsonl:2: the id 'x-1' occurs twice"),
        (json.dumps(ZONING | {"expect": 1}), "x.jsonl:1: field 'expect' must be a JSON object"),
    ],
)
def test_a_bad_file_is_named(text: str, message: str) -> None:
    with pytest.raises(CaseError) as caught:
        parse_cases(text, "x.jsonl")
    assert str(caught.value) == message


def test_line_separators_in_a_question_do_not_end_the_line() -> None:
    assert one(question="a\u2028b").question == "a\u2028b"
