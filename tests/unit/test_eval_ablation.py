"""Variants compared in pairs: rows, harm, cities held out, the journal, the ledger's entry."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from functools import cache
from pathlib import Path

import pytest

from appliance.domain import CityId
from appliance.errors import BadRequest
from eval.ablation import (
    Ablation,
    AblationResult,
    OtherRun,
    ablation_json,
    ablation_of,
    cross_validate,
    in_common,
)
from eval.cases import Case, GoldIds
from eval.entry import UNDECIDED, Provenance, entry, next_entry
from eval.grids import Grid, p_value
from eval.journal import Header, Journal, parse_journal, resumed
from eval.results import NothingInCommon, RunUnreadable, Sourced
from eval.variants import Study, Variant

DENSE = Variant(name="dense", fusion="leg", legs=("dense",))
WORDS = Variant(name="words", fusion="leg", legs=("lexical",))
BOTH = Variant(name="both", fusion="rrf", legs=("dense", "lexical"))
WHOLE = Variant(name="whole", fusion="product", against="dense")
STUDY = Study(question="What is it worth?", variants=(DENSE, WORDS, BOTH, WHOLE))


def result(variant: Variant, id_: str, value: float, *, city="a-xx", kind="lookup", ms=10.0):
    case = Case(
        id=id_,
        city=CityId(city),
        kind=kind,
        question="",
        gold=GoldIds(groups=()),
        facts=(),
        answerable=True,
    )
    scores = {f"hit@{k}": float(value > 0.2) for k in (1, 3, 5, 10)}
    return AblationResult(
        of=Sourced(file="f", case=case),
        scores={**scores, "mrr": value, "ndcg@10": value},
        ms=ms,
        found=("x", "y"),
        variant=variant.name,
        digest=variant.digest,
    )


# Sixteen questions of two kinds in four cities.  Words find every definition and nothing else, the
# dense leg finds the look-ups; both together lose a bit of each; the whole loses nothing.
SCORES = {
    ("dense", "lookup"): 0.8,
    ("dense", "definition"): 0.3,
    ("words", "lookup"): 0.1,
    ("words", "definition"): 1.0,
    ("both", "lookup"): 0.7,
    ("both", "definition"): 0.6,
    ("whole", "lookup"): 0.8,
    ("whole", "definition"): 1.0,
}


def all_results() -> list[AblationResult]:
    return [
        result(
            v,
            f"{kind}-{i}",
            SCORES[v.name, kind] - 0.01 * (i % 3),
            city=f"{'abcd'[i % 4]}-xx",
            kind=kind,
        )
        for kind in ("lookup", "definition")
        for i in range(8)
        for v in STUDY.variants
    ]


@cache
def the_ablation() -> Ablation:
    return ablation_of(STUDY, all_results())


def test_each_row_is_compared_with_the_row_above_or_the_one_it_names() -> None:
    first, second, third, last = the_ablation().rows
    assert (first.against, first.differences) == (None, {})
    assert (second.against, third.against, last.against) == ("dense", "words", "dense")
    assert last.differences["ndcg@10"].difference.value == pytest.approx((0 + 0.7) / 2)
    assert last.differences["hit@1"].shown == "no difference shown"
    assert last.by_kind["definition"]["ndcg@10"].n == 8
    assert set(last.by_city) == {"a-xx", "b-xx", "c-xx", "d-xx"}
    assert last.ms == {"p50": 10.0, "p95": 10.0}


def test_the_last_variant_is_held_against_every_other() -> None:
    against = {a.name: a.paired for a in the_ablation().last}
    assert set(against) == {"dense", "words", "both"}
    assert against["both"].shown == "better"
    assert against["both"].randomisation < 0.01


def test_harm_is_told_for_each_kind_against_its_best_single_leg() -> None:
    definition, lookup = the_ablation().by_kind
    assert (definition.group, definition.leg, definition.n) == ("definition", "words", 8)
    assert (lookup.group, lookup.leg) == ("lookup", "dense")
    assert set(lookup.against) == {"both", "whole"}
    assert definition.against["both"].harm
    assert lookup.against["both"].harm
    assert not definition.against["whole"].harm


def test_only_cases_that_every_variant_was_asked_are_compared() -> None:
    results = all_results()
    ablation = ablation_of(STUDY, results[:-1])  # "whole" was stopped before the last question
    assert ablation.n == 15
    assert {row.n for row in ablation.rows} == {15}


def test_without_a_case_that_all_were_asked_there_is_no_table() -> None:
    with pytest.raises(NothingInCommon):
        ablation_of(STUDY, [result(DENSE, "1", 0.5)])


def test_the_json_holds_every_number_of_the_tables() -> None:
    summary = json.loads(json.dumps(ablation_json(the_ablation())))
    assert [row["name"] for row in summary["rows"]] == ["dense", "words", "both", "whole"]
    assert summary["rows"][3]["differences"]["mrr"]["p_bootstrap"] < 0.05
    harm = summary["harm"]["by_kind"]["definition"]
    assert (harm["best_leg"], harm["against"]["both"]["harm"]) == ("words", True)


# ------------------------------------------------------------------ cities held out


def test_a_citys_variant_is_chosen_on_other_cities_only() -> None:
    # In city a only the words work; everywhere else the dense leg does.  Whoever looks at a's own
    # questions would choose the words there.
    results = [
        result(v, f"{city}{i}", 0.9 if (city == "a") == (v is WORDS) else 0.2, city=f"{city}-xx")
        for city in "abc"
        for i in range(5)
        for v in (DENSE, WORDS)
    ]
    validation = cross_validate(in_common(results, ["dense", "words"]), 3, 0)
    (part,) = [p for p in validation.parts if p.cities == ("a-xx",)]
    assert (part.chosen, part.best, part.n) == ("dense", "words", 5)
    assert (part.value, part.best_value) == (pytest.approx(0.2), pytest.approx(0.9))
    assert validation.untouched["ndcg@10"].n == 15
    assert validation.untouched["ndcg@10"].value <= max(e.value for e in validation.fixed.values())


# ------------------------------------------------------------------ the journal

HEADER = Header(commit="abc", digests={"f": "1"}, as_of="2026-01-01", variants=("dense", "words"))


def test_a_journal_is_read_as_it_was_written() -> None:
    journal = Journal(header=HEADER, results=(result(DENSE, "1", 0.25), result(WORDS, "1", 0.5)))
    read = parse_journal(journal.text(), "run.jsonl")
    assert read.header == HEADER
    assert [(r.variant, r.key, dict(r.scores)) for r in read.results] == [
        (r.variant, r.key, dict(r.scores)) for r in journal.results
    ]
    assert parse_journal(read.text(), "again") == read


def test_a_last_line_that_a_kill_cut_off_is_left_out() -> None:
    journal = Journal(header=HEADER, results=(result(DENSE, "1", 0.25), result(WORDS, "1", 0.5)))
    assert len(parse_journal(journal.text()[:-30], "run.jsonl").results) == 1


@pytest.mark.parametrize("text", ["", "\n", "{}\n", '{"file": "f"}\n', "not json\n", "[1]\n"])
def test_another_file_is_refused(text: str) -> None:
    with pytest.raises(RunUnreadable, match=r"run\.jsonl"):
        parse_journal(text, "run.jsonl")


def test_a_broken_line_is_named() -> None:
    with pytest.raises(RunUnreadable, match=r"run\.jsonl:2"):
        parse_journal(HEADER.line() + '\n{"file": "f"}\n', "run.jsonl")


def test_results_of_a_variant_that_was_changed_are_not_gone_on_with() -> None:
    journal = Journal(header=HEADER, results=(result(DENSE, "1", 0.2), result(WORDS, "1", 0.5)))
    changed = replace(WORDS, widen=False)
    assert [r.variant for r in resumed(journal, HEADER, (DENSE, changed), "run.jsonl").results] == [
        "dense"
    ]


@pytest.mark.parametrize(
    "other", [{"commit": "abd"}, {"digests": {"f": "2"}}, {"as_of": "2026-01-02"}]
)
def test_a_run_of_another_commit_corpus_or_day_is_not_gone_on_with(other: dict) -> None:
    with pytest.raises(OtherRun, match="another"):
        resumed(Journal(header=HEADER, results=()), replace(HEADER, **other), (DENSE,), "run.jsonl")


# ------------------------------------------------------------------ the ledger

PROVENANCE = Provenance(
    command="permitbox eval ablate --cases f.jsonl",
    commit="abc",
    digests={"f": "0123456789abcdef0123"},
    held="4 places, 9 sections, 12 chunks",
    cases="f n = 16; 0 skipped",
    on=date(2026, 1, 2),
)


def test_an_entry_has_every_field_of_the_ledger_and_every_table() -> None:
    text = entry("what-it-is-worth", the_ablation(), PROVENANCE)
    assert text.startswith("# What it is worth\n")
    for field in ("date", "question", "command", "commit", "corpus", "cases", "decision"):
        assert f"\n| {field} | " in text
    assert UNDECIDED in text
    assert "`0123456789abcdef`" in text
    assert "| definition | 8 | words | 0.991 | " in text
    assert " (!) |" in text
    widths = {line.count("|") for line in text.split("**Variants")[1].split("**")[1].split("\n")}
    assert len(widths - {0}) == 1


def test_an_entry_has_the_next_number(tmp_path: Path) -> None:
    assert next_entry(tmp_path, "first").name == "001-first.md"
    (tmp_path / "012-old.md").touch()
    (tmp_path / "README.md").touch()
    assert next_entry(tmp_path, "fusion-again").name == "013-fusion-again.md"


@pytest.mark.parametrize("name", ["", "a b", "../x", "A", "x-"])
def test_an_entry_is_not_given_any_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadRequest, match="words joined by hyphens"):
        next_entry(tmp_path, name)


def test_a_bar_in_a_name_does_not_break_a_table() -> None:
    grid = Grid(title="t", head=("a|b", "c"), rows=(("d", "e"),))
    assert grid.markdown() == "| a\\|b | c |\n| --- | --- |\n| d | e |"


@pytest.mark.parametrize(("p", "words"), [(0.0002, "< .001"), (0.001, "0.001"), (0.5, "0.500")])
def test_no_p_is_printed_as_zero(p: float, words: str) -> None:
    assert p_value(p) == words
