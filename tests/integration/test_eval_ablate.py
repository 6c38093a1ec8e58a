"""`permitbox eval ablate` and `crossval` over the sample cities, in a real store."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from eval import ablate
from eval.run import app
from tests.integration.conftest import PERMITBOX, ROOT, SAMPLES, Database, environment

CASES = ROOT / "eval" / "cases" / "samples.jsonl"
FEW = """
question = "Which leg?"
[[variant]]
name = "words"
fusion = "leg"
legs = ["lexical"]
[[variant]]
name = "dense"
fusion = "leg"
legs = ["dense"]
[[variant]]
name = "rrf"
fusion = "rrf"
legs = ["dense", "lexical"]
[[variant]]
name = "product"
fusion = "product"
rerank = true
ranker = true
"""


@pytest.fixture
def variants(tmp_path: Path) -> Path:
    path = tmp_path / "few.toml"
    path.write_text(FEW, "utf-8")
    return path


def call(database: Database, *words: str | Path) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, [str(w) for w in words], env={"PERMITBOX_DSN": database.dsn})
    return result.exit_code, result.stdout, result.stderr


def summary_of(database: Database, *words: str | Path) -> dict[str, Any]:
    code, out, err = call(database, *words, "--json")
    assert code == 0, err
    summary = json.loads(out.splitlines()[-1])
    assert isinstance(summary, dict)
    return summary


def test_the_row_of_a_leg_is_what_a_run_of_that_leg_scores(
    samples: Database, variants: Path
) -> None:
    summary = summary_of(samples, "ablate", "--cases", CASES, "--variants", variants)
    rows = {row["name"]: row for row in summary["rows"]}
    assert list(rows) == ["words", "dense", "rrf", "product"]
    dense = summary_of(samples, "retrieval", "--cases", CASES, "--legs", "dense")
    for score in ("hit@1", "hit@10", "mrr", "ndcg@10"):
        assert rows["dense"][score] == dense[score]
    assert rows["rrf"]["against"] == "dense"
    assert rows["rrf"]["differences"]["ndcg@10"]["difference"]["n"] == 24
    assert set(summary["harm"]["by_city"]) == {"alder-falls-xx", "brackwater-county-xx"}
    assert set(summary["last_against_each"]) == {"words", "dense", "rrf"}


def test_a_run_goes_on_where_its_out_file_ends_and_writes_an_entry(
    samples: Database, variants: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ablate, "LEDGER", tmp_path)
    out = tmp_path / "run.jsonl"
    flags = ["ablate", "--cases", CASES, "--variants", variants, "--corpus", SAMPLES, "--out", out]
    first = summary_of(samples, *flags, "--limit", "3")
    assert (first["n"], len(out.read_text("utf-8").splitlines())) == (3, 1 + 3 * 4)
    code, _, err = call(samples, *flags, "--ledger", "legs-alone")
    assert code == 0, err
    assert "Going on: 12 results stand in run.jsonl." in err
    assert len(out.read_text("utf-8").splitlines()) == 1 + 24 * 4
    text = (tmp_path / "001-legs-alone.md").read_text("utf-8")
    assert "| question | Which leg? |" in text
    assert "2 places, " in text
    assert "samples n = 24; 0 skipped; 24 asked of every variant" in text

    code, said, err = call(samples, "crossval", out, "--folds", "2", "--json")
    assert code == 0, err
    validation = json.loads(said)
    assert sorted(p["cities"] for p in validation["parts"]) == [
        ["alder-falls-xx"],
        ["brackwater-county-xx"],
    ]
    assert validation["untouched"]["ndcg@10"]["n"] == 24
    assert "The untouched part, n = 24" in call(samples, "crossval", out, "--folds", "2")[1]


def test_ctrl_c_shows_the_questions_asked_so_far_and_keeps_them(
    samples: Database, variants: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run.jsonl"
    words = ["eval", "ablate", "--cases", CASES, "--variants", variants, "--out", out]
    running = subprocess.Popen(
        [*PERMITBOX, *map(str, words)],
        env=environment(PERMITBOX_DSN=samples.dsn),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    patience = time.monotonic() + 60
    while running.poll() is None and time.monotonic() < patience:
        if out.exists() and len(out.read_text("utf-8").splitlines()) > 4:
            running.send_signal(signal.SIGINT)
            break
        time.sleep(0.01)
    said, err = running.communicate(timeout=60)
    assert running.returncode == 130, err
    assert "Stopped: what follows is of the questions asked so far." in err
    assert "Do no harm, by kind" in said
    assert 1 < len(out.read_text("utf-8").splitlines()) < 1 + 24 * 4


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["ablate", "--cases", CASES, "--variants", "none.toml"], "none.toml: No such file"),
        (["ablate", "--cases", CASES, "--variants", CASES], "samples.jsonl: "),
        (["ablate", "--cases", CASES, "--ledger", "A B"], "words joined by hyphens"),
        (["ablate", "--cases", CASES, "--city", "nowhere-xx"], "nowhere-xx: no case is about it"),
        (["crossval", CASES], "is not a file that `--out` of `eval ablate` wrote"),
    ],
)
def test_a_wrong_option_is_one_sentence(
    samples: Database, words: list[str | Path], message: str
) -> None:
    code, out, err = call(samples, *words)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_a_study_without_a_leg_alone_is_refused_before_any_question_is_asked(
    samples: Database, tmp_path: Path
) -> None:
    path = tmp_path / "one.toml"
    path.write_text('question = "?"\n[[variant]]\nname = "p"\nfusion = "product"\n', "utf-8")
    code, _, err = call(samples, "ablate", "--cases", CASES, "--variants", path)
    assert code == 2
    assert "No variant has fusion 'leg'" in err


def test_the_cases_of_one_city_have_floors_of_their_own(samples: Database, tmp_path: Path) -> None:
    floors, run = tmp_path / "floors.toml", tmp_path / "run.json"
    flags = ["retrieval", "--cases", CASES, "--city", "alder-falls-xx", "--corpus", SAMPLES]
    summary = summary_of(samples, *flags)
    assert (summary["n"], summary["skipped"], summary["whole"]) == (12, 0, True)
    assert list(summary["per_file"]) == ["samples@alder-falls-xx"]
    run.write_text(json.dumps(summary), "utf-8")
    pinning = ["floor", "--set", "--run", run, "--score", "hit@5", "--floors", floors]
    assert call(samples, *pinning)[0] == 0
    code, _, err = call(samples, *flags, "--check-floor", "--floors", floors)
    assert code == 0, err
    assert "The floors hold." in err
