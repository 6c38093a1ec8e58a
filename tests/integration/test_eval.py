"""`permitbox eval` over the two sample cities, in a real store and without a model.

This is also where the floors of the sample cases are held: it fails when the product
got worse at them.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import tempfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from appliance.ingest import ingest
from appliance.settings import Settings
from appliance.wiring import open_house
from eval.run import app

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "eval" / "cases" / "samples.jsonl"
CORPUS = ROOT / "appliance" / "samples"
ELSEWHERE = {
    "id": "e-1",
    "city": "nowhere-xx",
    "kind": "lookup",
    "question": "Is there anything here?",
    "gold": [["nothing"]],
    "answerable": True,
}


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    """Yield a home that holds the sample cities; in /tmp, where the server's user gets to."""
    folder = Path(tempfile.mkdtemp(prefix="pbx-"))
    folder.chmod(0o755)
    asyncio.run(_load(Settings(home=folder / "home")))
    yield folder / "home"
    shutil.rmtree(folder)


async def _load(settings: Settings) -> None:
    async with open_house(settings) as house:
        summary = await ingest(
            house.loader,
            house.encoder,
            [CORPUS],
            city=None,
            today=date.today(),
            tell=lambda _: None,
        )
    assert not summary.rejected
    assert not summary.unreadable


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    path = tmp_path / "elsewhere.jsonl"
    path.write_text(json.dumps(ELSEWHERE))
    return path


def call(home: Path, *words: str | Path) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, [str(w) for w in words], env={"PERMITBOX_HOME": str(home)})
    return result.exit_code, result.stdout, result.stderr


def summary_of(home: Path, *words: str | Path) -> dict[str, Any]:
    code, out, err = call(home, *words, "--json")
    assert code == 0, err
    summary = json.loads(out.splitlines()[-1])
    assert isinstance(summary, dict)
    return summary


def is_estimate(value: dict[str, float]) -> bool:
    return 0 <= value["low"] <= value["value"] <= value["high"] <= 1


def test_retrieval_holds_its_floor_and_says_how_it_was_measured(
    home: Path, elsewhere: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run.jsonl"
    flags = ["--cases", SAMPLES, "--corpus", CORPUS, "--check-floor", "--out", out]
    summary = summary_of(home, "retrieval", *flags)
    assert (summary["n"], summary["skipped"], summary["unanswerable_left_out"]) == (24, 0, 6)
    assert all(
        is_estimate(summary[s]) for s in ("hit@1", "hit@3", "hit@5", "hit@10", "mrr", "ndcg@10")
    )
    assert summary["hit@1"]["value"] <= summary["hit@5"]["value"] <= summary["hit@10"]["value"]
    assert summary["all@10"]["n"] == 2
    assert set(summary["by_city"]) == {"alder-falls-xx", "brackwater-county-xx"}
    assert summary["by_kind"]["multi"]["n"] == 2
    assert summary["per_file"]["samples"]["hit@5"] == summary["hit@5"]
    assert 0 < summary["ms"]["p50"] <= summary["ms"]["p95"]
    assert summary["legs"] == ["dense", "lexical", "named"]
    assert summary["whole"] is True
    assert summary["command"].startswith("permitbox eval retrieval --cases ")
    assert "commit" in summary
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert len(rows) == 24
    assert {"file", "id", "scores", "found", "ms"} <= rows[0].keys()


def test_answers_hold_their_floor_and_every_citation_proves_again(home: Path) -> None:
    flags = ["--cases", SAMPLES, "--corpus", CORPUS, "--no-model", "--check-floor"]
    summary = summary_of(home, "answers", *flags)
    assert summary["n"] == 30
    assert sum(summary["outcomes"].values()) == 30
    assert summary["outcomes"]["answer"] == 0
    assert summary["proven_citations"]["value"] == 1.0
    assert summary["proven_citations"]["n"] > 0
    assert (summary["proven_gold"]["n"], summary["abstained"]["n"]) == (24, 6)
    assert all(is_estimate(summary[s]) for s in ("proven_gold", "facts", "all_facts", "answered"))
    table, counts = summary["right_and_wrong"], summary["abstention"]
    assert sum(table.values()) == 30
    assert table["abstention right"] == counts["right"]
    assert table["quotes right"] == round(24 * summary["proven_gold"]["value"])
    assert counts["right"] + counts["missed"] == 6
    assert counts["wrong"] <= 24
    assert summary["model"] is None


def test_cases_of_other_cities_are_counted_as_skipped(home: Path, elsewhere: Path) -> None:
    summary = summary_of(home, "retrieval", "--cases", SAMPLES, elsewhere, "--limit", "3")
    assert (summary["n"], summary["skipped"], summary["whole"]) == (3, 1, False)


def test_a_run_of_which_nothing_remains_fails(home: Path, elsewhere: Path) -> None:
    code, out, err = call(home, "retrieval", "--cases", elsewhere, "--json")
    assert (code, out) == (1, "")
    assert "1 cases skipped: their city is not in this box." in err
    assert "permitbox: No case is left to score" in err


def test_a_broken_floor_fails_after_the_numbers_were_printed(home: Path, tmp_path: Path) -> None:
    run, floors = tmp_path / "run.json", tmp_path / "floors.toml"
    flags = ["retrieval", "--cases", SAMPLES, "--corpus", CORPUS, "--json", "--floors", floors]
    run.write_text(call(home, *flags)[1])
    assert (
        call(home, "floor", "--set", "--run", run, "--score", "hit@1", "--floors", floors)[0] == 0
    )
    floors.write_text(floors.read_text().replace("value = 0.", "value = 1."))
    code, out, err = call(home, *flags, "--check-floor")
    assert code == 1
    assert json.loads(out)["n"] == 24
    assert "permitbox: samples: hit@1 is " in err
    assert "below its floor of 1." in err


def test_two_runs_are_compared_case_by_case(home: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "lexical.jsonl", tmp_path / "all.jsonl"
    assert call(home, "retrieval", "--cases", SAMPLES, "--legs", "lexical", "--out", one)[0] == 0
    assert call(home, "retrieval", "--cases", SAMPLES, "--out", two)[0] == 0
    code, out, _ = call(home, "compare", one, two, "--json")
    assert code == 0
    row = json.loads(out)["scores"]["hit@5"]
    assert row["difference"]["n"] == 24
    assert row["difference"]["value"] == pytest.approx(row["after"] - row["before"], abs=2e-4)
    code, out, _ = call(home, "compare", two, two)
    assert code == 0
    assert "no difference shown" in out


def test_no_floor_is_held_by_a_part_of_the_cases(home: Path, tmp_path: Path) -> None:
    part = tmp_path / "samples.jsonl"
    part.write_text(SAMPLES.read_text("utf-8") + json.dumps(ELSEWHERE))
    code, _, err = call(home, "retrieval", "--cases", part, "--corpus", CORPUS, "--check-floor")
    assert code == 2
    assert "that shows no floor held" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--cases", "none.jsonl"], "none.jsonl: No such file or directory"),
        (["--cases", SAMPLES, "--legs", "sparse"], "--legs 'sparse' must name some of dense"),
        (["--cases", SAMPLES, SAMPLES], "Two case files have the same name"),
        (["--cases", SAMPLES, "--check-floor"], "--check-floor needs --corpus"),
        (
            ["--cases", SAMPLES, "--check-floor", "--corpus", CORPUS, "--limit", "2"],
            "--check-floor takes no --limit",
        ),
    ],
)
def test_a_wrong_option_is_one_sentence(home: Path, words: list[str | Path], message: str) -> None:
    code, out, err = call(home, "retrieval", *words)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_every_command_option_and_score_has_a_heading(home: Path) -> None:
    text = (ROOT / "docs" / "evaluation.md").read_text("utf-8")
    headings = {h.strip() for h in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}
    commands = get_command(app).commands  # type: ignore[attr-defined]
    assert {f"permitbox eval {name}" for name in commands} <= headings
    options = {
        option
        for command in commands.values()
        for parameter in command.params
        for option in parameter.opts
        if option.startswith("--") and option != "--help"
    }
    assert options == {h for h in headings if h.startswith("--")}
    named = {name for h in headings for name in h.split(", ")}
    retrieval = summary_of(home, "retrieval", "--cases", SAMPLES)
    answers = summary_of(home, "answers", "--cases", SAMPLES, "--no-model", "--limit", "16")
    scores = {
        k for s in (retrieval, answers) for k, v in s.items() if k in s["per_file"]["samples"]
    }
    assert scores - {"n"} <= named
