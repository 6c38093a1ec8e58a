"""Which files a model server may be given, and how they come in from a stick."""

from __future__ import annotations

import json
import os
import struct
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from appliance.cli import app
from appliance.errors import WeightsRefused
from appliance.serving.weights import Copying, bring_in, verify
from appliance.settings import Settings
from models.manifest import read_manifest
from models.shapes import Shape

# A model of the true kind, a thousand times smaller.
SHAPE = Shape(
    layers=2,
    hidden=64,
    heads=2,
    kv_heads=1,
    head_dim=32,
    intermediate=128,
    gated=True,
    vocabulary=256,
    tied=True,
    bits=16.0,
    group=0,
)
CONFIG = {
    "num_hidden_layers": 2,
    "hidden_size": 64,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "intermediate_size": 128,
    "vocab_size": 256,
}
_BOX = read_manifest().profile("rtx-5060-ti-16gb")
BOX = replace(_BOX, llm=replace(_BOX.llm, shape=SHAPE))


def safetensors(size: int) -> bytes:
    header = json.dumps(
        {"w": {"dtype": "BF16", "shape": [size // 2], "data_offsets": [0, size]}}
    ).encode()
    return struct.pack("<Q", len(header)) + header + bytes(size)


@pytest.fixture
def stick(tmp_path: Path) -> Path:
    folder = tmp_path / "stick"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "tokenizer.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(safetensors(SHAPE.weight_bytes))
    return folder


def test_a_folder_of_the_right_model_has_nothing_wrong(stick: Path) -> None:
    assert verify(stick, SHAPE) == []


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda f: (f / "config.json").unlink(), "config.json is missing"),
        (lambda f: (f / "config.json").write_text("[]"), "no object"),
        (
            lambda f: (f / "config.json").write_text(json.dumps(CONFIG | {"hidden_size": 65})),
            "hidden_size is 65",
        ),
        (
            lambda f: (f / "config.json").write_text(json.dumps(CONFIG | {"auto_map": {}})),
            "code of its own",
        ),
        (lambda f: (f / "modeling.py").write_text("import os"), "could run as code"),
        (lambda f: (f / "pytorch_model.BIN").write_bytes(b"x"), "could run as code"),
        (lambda f: (f / "model.safetensors").unlink(), "no .safetensors"),
        (lambda f: (f / "model.safetensors").write_bytes(b"junk"), "or cut"),
        (lambda f: os.truncate(f / "model.safetensors", 5000), "is cut"),
        (
            lambda f: (f / "model.safetensors").write_bytes(safetensors(SHAPE.weight_bytes // 2)),
            "are expected",
        ),
        (lambda f: (f / "link.json").symlink_to("/etc/hostname"), "is a link"),
    ],
)
def test_what_a_server_must_not_be_given_is_named(stick: Path, spoil, words: str) -> None:
    spoil(stick)
    assert any(words in wrong for wrong in verify(stick, SHAPE)), verify(stick, SHAPE)


def test_a_model_comes_in_whole_and_takes_the_old_ones_place(stick: Path, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home")
    old = settings.models_dir / "Qwen3-14B-AWQ"
    old.mkdir(parents=True)
    (old / "old.txt").write_text("old")
    seen: list[Copying] = []
    target = bring_in(settings, BOX, stick, seen.append)
    assert target == old
    assert sorted(p.name for p in target.iterdir()) == sorted(p.name for p in stick.iterdir())
    assert seen[-1].done == seen[-1].total
    assert [p.name for p in settings.models_dir.iterdir()] == ["Qwen3-14B-AWQ"]


def test_a_wrong_model_leaves_everything_as_it_was(stick: Path, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home")
    old = settings.models_dir / "Qwen3-14B-AWQ"
    old.mkdir(parents=True)
    (stick / "evil.pkl").write_bytes(b"x")
    with pytest.raises(WeightsRefused, match="could run as code"):
        bring_in(settings, BOX, stick, lambda _: None)
    assert list(settings.models_dir.iterdir()) == [old]


def test_what_a_kill_left_behind_is_swept_away(stick: Path, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home")
    partial = settings.models_dir / ".Qwen3-14B-AWQ.partial"
    partial.mkdir(parents=True)
    (partial / "half").write_bytes(b"x")
    target = bring_in(settings, BOX, stick, lambda _: None)
    assert not (target / "half").exists()


def test_a_packaged_model_is_not_brought_in_by_hand(stick: Path, tmp_path: Path) -> None:
    with pytest.raises(WeightsRefused, match="permitbox up"):
        bring_in(
            Settings(home=tmp_path), read_manifest().profile("cpu-demo"), stick, lambda _: None
        )


def test_the_commands_say_what_is_here(
    stick: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERMITBOX_HOME", str(tmp_path / "home"))
    runner = CliRunner()
    listed = json.loads(runner.invoke(app, ["models", "list", "--json"]).stdout)["profiles"]
    assert {p["files"] for p in listed} == {"not here"}
    assert [p["profile"] for p in listed if p["chosen"]] == ["cpu-demo"]
    absent = runner.invoke(app, ["models", "verify", "--profile", "h200"])
    assert absent.exit_code == 1
    assert "is not a folder" in absent.stdout
    refused = runner.invoke(app, ["models", "import", str(stick), "--profile", "h200"])
    assert isinstance(refused.exception, WeightsRefused)
    assert "and the manifest's model has" in str(refused.exception)
