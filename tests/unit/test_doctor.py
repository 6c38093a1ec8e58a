"""Is the machine fit to be a box?  Each finding is judged by itself."""

from __future__ import annotations

import json
import socket
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from appliance.cli import app
from appliance.doctor import (
    Finding,
    clock,
    database,
    disk,
    exposure,
    fits,
    home_rights,
    listening,
    memory,
    model_files,
    page_port,
    python_version,
    variables,
)
from appliance.settings import Secret, Settings
from models.manifest import read_manifest
from models.shapes import GIB
from tests.unit.test_weights import CONFIG, SHAPE, safetensors

DEMO = read_manifest().profile("cpu-demo")
BOX = read_manifest().profile("rtx-5060-ti-16gb")
NOW = datetime(2026, 12, 1, tzinfo=UTC)
# Two listening sockets (127.0.0.1:8081 and 0.0.0.0:8082) and one that is connected.
SOCKETS = """\
  sl  local_address rem_address   st tx_queue rx_queue
   0: 0100007F:1F91 00000000:0000 0A 00000000:00000000
   1: 00000000:1F92 00000000:0000 0A 00000000:00000000
   2: 00000000:1F93 0200007F:C350 01 00000000:00000000
"""


@pytest.mark.parametrize(
    ("finding", "state", "words"),
    [
        (python_version((3, 11, 0)), "ok", "3.11.0"),
        (python_version((3, 10, 9)), "fix", "3.10.9"),
        (clock(NOW, datetime(2026, 11, 30, tzinfo=UTC)), "ok", "2026-"),
        (clock(datetime(2020, 1, 1, tzinfo=UTC), NOW), "fix", "before this program was installed"),
        (disk(Path("/x"), 90 * GIB), "ok", "90.0 GiB free at /x"),
        (disk(Path("/x"), GIB), "fix", "1.0 GiB free"),
        (memory(24 * GIB, DEMO), "ok", "24.0 GiB"),
        (memory(4 * GIB, DEMO), "note", "wants"),
        (memory(GIB, DEMO), "fix", "wants"),
        (memory(8 * GIB, BOX), "ok", "8.0 GiB"),
        (memory(None, DEMO), "note", "does not say"),
        (fits(DEMO), "ok", "cpu-demo"),
        (fits(BOX), "note", "never run"),
    ],
)
def test_what_the_machine_has_is_judged(finding: Finding, state: str, words: str) -> None:
    assert finding.state == state
    assert words in finding.says
    assert (finding.fix is not None) == (state == "fix" or words == "wants")


@pytest.mark.parametrize(("mode", "state"), [(0o755, "ok"), (0o700, "ok"), (0o777, "fix")])
def test_a_home_that_others_may_write_in_is_to_be_closed(
    tmp_path: Path, mode: int, state: str
) -> None:
    tmp_path.chmod(mode)
    assert home_rights(tmp_path).state == state


@pytest.mark.parametrize(
    ("port", "state"), [(0x1F91, "ok"), (0x1F92, "fix"), (0x1F93, "ok"), (9999, "ok")]
)
def test_a_model_port_that_is_open_to_others_is_found(port: int, state: str) -> None:
    assert exposure(SOCKETS, Settings(model_port=port)).state == state


def test_the_sockets_of_this_very_machine_are_read() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        table = Path("/proc/net/tcp")
        if not table.exists():
            pytest.skip("this system has no /proc/net/tcp")
        assert ("0100007F", port) in set(listening(table.read_text()))


def test_a_taken_port_is_said_with_a_way_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        taken = page_port(Settings(port=server.getsockname()[1]))
    assert taken.state == "note"
    assert taken.fix is not None
    assert page_port(Settings(host="0.0.0.0", port=0)).state == "note"
    assert page_port(Settings(port=0)).state == "ok"


@pytest.mark.parametrize(
    ("environ", "state"),
    [({}, "ok"), ({"HF_HUB_OFFLINE": "1"}, "ok"), ({"HF_HUB_OFFLINE": "0"}, "fix")],
)
def test_variables_that_make_libraries_call_out_are_found(
    environ: dict[str, str], state: str
) -> None:
    (finding,) = variables(environ)
    assert finding.state == state


def test_a_database_that_does_not_answer_is_named_without_its_password() -> None:
    dsn = "postgresql://me:hunter2@127.0.0.1:1/none"
    finding = database(Settings(dsn=Secret(dsn)))
    assert finding.state == "fix"
    assert "does not answer" in finding.says
    assert "hunter2" not in f"{finding.says} {finding.fix}"


def test_a_missing_model_is_asked_for_by_name(tmp_path: Path) -> None:
    missing = model_files(Settings(home=tmp_path), BOX)
    assert missing.state == "fix"
    assert "Qwen/Qwen3-14B-AWQ" in (missing.fix or "")
    folder = tmp_path / "models" / "Qwen3-14B-AWQ"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    assert model_files(Settings(home=tmp_path), BOX).state == "fix"  # a server would refuse it
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "model.safetensors").write_bytes(safetensors(SHAPE.weight_bytes))
    small = replace(BOX, llm=replace(BOX.llm, shape=SHAPE))
    assert model_files(Settings(home=tmp_path), small).state == "ok"
    assert model_files(Settings(home=tmp_path), DEMO).state == "note"
    elsewhere = Settings(home=tmp_path, chat_url="http://127.0.0.1:9")
    assert model_files(elsewhere, BOX).state == "ok"


def test_the_command_exits_1_only_if_something_must_be_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERMITBOX_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PERMITBOX_PORT", "0")
    sound = CliRunner().invoke(app, ["doctor", "--json"])
    assert sound.exit_code == 0
    value = json.loads(sound.stdout)
    assert value["ok"] is True
    assert {"Python", "disk", "database", "plan", "model port"} <= {
        f["name"] for f in value["findings"]
    }
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    ill = CliRunner().invoke(app, ["doctor"])
    assert ill.exit_code == 1
    assert "unset HF_HUB_OFFLINE" in ill.stdout
