"""The pinned floors: they hold, they rise, and nobody lowers one by accident."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from typer.testing import CliRunner

from eval.floors import (
    Bar,
    Floor,
    FloorRefused,
    FloorsUnreadable,
    Lowering,
    Measured,
    digest_of_files,
    parse_floors,
    pin,
    render_floors,
    shortfalls,
)
from eval.run import app

TODAY = date(2026, 7, 1)
FLOOR = Floor(
    name="samples",
    digest="d1",
    scores={"hit@5": Bar(value=0.875, tolerance=0.05), "mrr": Bar(value=0.6)},
)
LOWERED = replace(
    FLOOR,
    lowerings=(
        Lowering(
            score="hit@5",
            old=Bar(value=0.9),
            new=Bar(value=0.875, tolerance=0.05),
            on=TODAY,
            reason='the "gold" of af-003\nwas wrong',
        ),
    ),
)


def repin(
    score: float, *, tolerance: float | None = None, lower: bool = False, reason: str = ""
) -> Floor:
    measured = Measured(name="samples", digest="d1", scores={"hit@5": score})
    return pin(FLOOR, measured, tolerance=tolerance, lower=lower, reason=reason, today=TODAY)


# ------------------------------------------------------------------ checking


@pytest.mark.parametrize(
    ("measured", "short"),
    [
        ({"hit@5": 0.875, "mrr": 0.6}, []),
        ({"hit@5": 0.825, "mrr": 0.9}, []),
        ({"hit@5": 0.8249}, ["hit@5"]),
        ({"mrr": 0.5999, "hit@5": 0.1}, ["hit@5", "mrr"]),
        ({"hit@5": 1.0, "ndcg@10": 0.0}, []),  # the latter is not pinned
    ],
)
def test_a_score_below_its_floor_is_named(measured: dict[str, float], short: list[str]) -> None:
    assert [s.score for s in shortfalls(FLOOR, measured, "d1")] == short


def test_a_shortfall_says_all_there_is_to_know() -> None:
    (short,) = shortfalls(FLOOR, {"hit@5": 0.75}, "d1")
    assert str(short) == ("samples: hit@5 is 0.7500, below its floor of 0.8750 (tolerance 0.05)")


def test_a_floor_says_nothing_of_other_data() -> None:
    with pytest.raises(FloorRefused, match="other cases or another corpus"):
        shortfalls(FLOOR, {"hit@5": 1.0}, "d2")


def test_a_run_of_which_nothing_is_pinned_does_not_pass() -> None:
    with pytest.raises(FloorRefused, match="No score of this kind of run"):
        shortfalls(FLOOR, {"facts": 1.0}, "d1")


# ------------------------------------------------------------------ pinning


def test_a_first_floor_is_what_was_measured_cut_and_not_rounded_up() -> None:
    measured = Measured(name="new", digest="d", scores={"hit@5": 0.66666})
    floor = pin(None, measured, tolerance=None, lower=False, reason="", today=TODAY)
    assert floor == Floor(name="new", digest="d", scores={"hit@5": Bar(value=0.6666)})


def test_a_floor_rises_without_a_word_and_keeps_its_tolerance_and_the_others() -> None:
    floor = repin(0.9)
    assert floor.scores == {"hit@5": Bar(value=0.9, tolerance=0.05), "mrr": Bar(value=0.6)}
    assert floor.lowerings == ()


def test_a_floor_may_be_pinned_where_it_is() -> None:
    assert repin(0.875) == FLOOR


@pytest.mark.parametrize(
    ("lower", "reason"), [(False, ""), (True, ""), (True, "  "), (False, "a good one")]
)
@pytest.mark.parametrize(("score", "tolerance"), [(0.8, None), (0.875, 0.06), (0.99, 0.06)])
def test_lowering_is_refused_without_lower_and_a_reason(
    lower: bool, reason: str, score: float, tolerance: float | None
) -> None:
    with pytest.raises(FloorRefused, match=r"that takes --lower and a --reason"):
        repin(score, tolerance=tolerance, lower=lower, reason=reason)


def test_lowering_leaves_a_trace() -> None:
    floor = repin(0.8, lower=True, reason=" the gold was wrong ")
    assert floor.scores["hit@5"] == Bar(value=0.8, tolerance=0.05)
    assert floor.lowerings == (
        Lowering(
            score="hit@5",
            old=Bar(value=0.875, tolerance=0.05),
            new=Bar(value=0.8, tolerance=0.05),
            on=TODAY,
            reason="the gold was wrong",
        ),
    )


def test_other_data_are_no_way_around_the_refusal() -> None:
    measured = Measured(name="samples", digest="d2", scores={"hit@5": 0.1})
    with pytest.raises(FloorRefused):
        pin(FLOOR, measured, tolerance=None, lower=False, reason="", today=TODAY)


# ------------------------------------------------------------------ the file


@pytest.mark.parametrize(
    "floors",
    [[], [FLOOR], [LOWERED], [LOWERED, replace(FLOOR, name="dev-nyc.dc \x7f")]],
    ids=["none", "one", "lowered", "two"],
)
def test_what_is_written_is_read_again(floors: list[Floor]) -> None:
    assert parse_floors(render_floors(floors)) == {f.name: f for f in floors}


@pytest.mark.parametrize(
    "text",
    [
        "[",
        "samples = 1",
        "[samples]\ndigest = 'd'",
        "[samples]\ndigest = 'd'\nscores = 1",
        "[samples]\ndigest = 'd'\nscores = { mrr = 0.5 }",
        "[samples]\ndigest = 'd'\nscores = {}\nlowered = [1]",
        "[samples]\ndigest = 'd'\nscores = {}\nlowered = [{ score = 'mrr' }]",
    ],
)
def test_a_file_in_another_form_is_refused(text: str) -> None:
    with pytest.raises(FloorsUnreadable, match="not in its form"):
        parse_floors(text)


def test_the_digest_is_of_bytes_and_not_of_places(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        for name in ("cases", "a", "b"):
            (tmp_path / folder / name).write_text(name)
    one, two = ([tmp_path / f / n for n in ("a", "b")] for f in ("one", "two"))
    digest = digest_of_files(tmp_path / "one" / "cases", one)
    assert digest == digest_of_files(tmp_path / "two" / "cases", reversed(two))
    two[0].write_text("another law")
    assert digest != digest_of_files(tmp_path / "two" / "cases", two)


# ------------------------------------------------------------------ the command


@pytest.fixture
def run_file(tmp_path: Path) -> Path:
    return write_run(tmp_path, hit=0.75)


def write_run(folder: Path, *, hit: float, whole: bool = True) -> Path:
    path = folder / "run.json"
    summary = {
        "whole": whole,
        "digests": {"samples": "d1"},
        "per_file": {"samples": {"n": 24, "hit@5": {"value": hit}}},
    }
    path.write_text(json.dumps(summary))
    return path


def call(*words: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["floor", *map(str, words)])
    return result.exit_code, " ".join(result.output.split())


def test_the_command_pins_shows_and_refuses_to_lower(tmp_path: Path, run_file: Path) -> None:
    floors = tmp_path / "floors.toml"
    pin_it = ["--set", "--run", run_file, "--score", "hit@5", "--floors", floors]
    assert call(*pin_it)[0] == 0
    write_run(tmp_path, hit=0.5)
    code, said = call(*pin_it)
    assert code == 2
    assert "samples: this would lower hit@5 from 0.75 to 0.5" in said
    assert parse_floors(floors.read_text())["samples"].scores == {"hit@5": Bar(value=0.75)}
    assert call(*pin_it, "--lower", "--reason", "the gold was wrong")[0] == 0
    (lowering,) = parse_floors(floors.read_text())["samples"].lowerings
    assert (lowering.old, lowering.new) == (Bar(value=0.75), Bar(value=0.5))
    assert lowering.on == date.today()
    assert "0.5000" in call("--floors", floors)[1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--set"], "--set needs --run FILE and at least one --score."),
        (["--set", "--run", "none.json", "--score", "mrr"], "none.json: No such file"),
    ],
)
def test_the_command_says_what_is_missing(words: list[str], message: str) -> None:
    code, said = call(*words)
    assert code == 2
    assert message in said


def test_only_a_whole_run_that_has_the_score_can_be_pinned(tmp_path: Path) -> None:
    floors = tmp_path / "floors.toml"
    part = write_run(tmp_path, hit=0.75, whole=False)
    code, said = call("--set", "--run", part, "--score", "hit@5", "--floors", floors)
    assert (code, "is not a whole run" in said) == (2, True)
    code, said = call("--set", "--run", part, "--score", "mrr", "--floors", floors)
    assert (code, "is not the JSON of a run" in said) == (2, True)
    assert not floors.exists()
