"""`permitbox eval compare`: two files of results, paired, with what the difference may be by chance."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from eval.run import app


def run_of(path: Path, values: list[float]) -> Path:
    lines = [
        json.dumps({"file": "f", "id": str(i), "scores": {"mrr": value}})
        for i, value in enumerate(values)
    ]
    path.write_text("\n".join(lines), "utf-8")
    return path


def test_a_difference_comes_with_its_interval_and_both_tests(tmp_path: Path) -> None:
    before = run_of(tmp_path / "before.jsonl", [0.2] * 12)
    after = run_of(tmp_path / "after.jsonl", [0.5] * 11 + [0.1])
    result = CliRunner().invoke(app, ["compare", str(before), str(after), "--json"])
    assert result.exit_code == 0, result.stderr
    row = json.loads(result.stdout)["scores"]["mrr"]
    assert row["difference"]["value"] == 0.2667
    assert row["shown"] == "better"
    assert 0 < row["p_randomisation"] < 0.01
    assert 0 < row["p_bootstrap"] < 0.01
    shown = CliRunner().invoke(app, ["compare", str(before), str(after)]).stdout
    assert "p (bootstrap)" in shown
    assert "p (randomisation)" in shown


def test_a_run_compared_with_itself_shows_no_difference(tmp_path: Path) -> None:
    run = run_of(tmp_path / "one.jsonl", [0.2, 0.9, 0.4])
    row = json.loads(CliRunner().invoke(app, ["compare", str(run), str(run), "--json"]).stdout)[
        "scores"
    ]["mrr"]
    assert (row["shown"], row["p_bootstrap"], row["p_randomisation"]) == (
        "no difference shown",
        1.0,
        1.0,
    )
