"""The model server killed at random points: the box keeps answering and mends itself.

An outside checker: the box is its own process, asked over HTTP and looked at through /proc.
"""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

pytestmark = [
    pytest.mark.box,
    pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for the processes in /proc"),
]

KILLS = 20
SEED = 20261130
# A start takes half a minute on two cores: kills fall into the start as well as into service.
LONGEST_WAIT = 25.0
READY_SECONDS = 420.0  # the longest pause between starts, and a start
INSTALL_SECONDS = 900.0

QUESTION = {
    "city": "alder-falls-xx",
    "question": "How long is my permit good for if I never start?",
}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a home that the database's user can reach, with the prepared environment if there is one."""
    place = tmp_path_factory.mktemp("killed")
    place.chmod(0o755)
    place.parent.chmod(0o755)
    home = place / "home"
    home.mkdir()
    if prepared := os.environ.get("TEST_LLM_HOME"):
        for name in ("envs", "models"):
            (home / name).symlink_to(Path(prepared, name))
    return home


@contextmanager
def box(home: Path) -> Iterator[str]:
    """Run `permitbox up` on the home; yield the page's address."""
    port = free_port()
    environ = {k: v for k, v in os.environ.items() if not k.startswith("PERMITBOX_")}
    process = subprocess.Popen(
        [sys.executable, "-c", "from appliance.cli import main; main()", "up"],
        env=environ
        | {
            "PERMITBOX_HOME": str(home),
            "PERMITBOX_PORT": str(port),
            "PERMITBOX_MODEL_PORT": str(free_port()),
            "PERMITBOX_CHAT_SECONDS": "30",
        },
        cwd=Path(__file__).parents[2],
    )
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(60)
        assert process.poll() == 0, "the box did not stop cleanly"
        assert not model_processes(home), "something of the model server was left behind"


def model_processes(home: Path) -> list[int]:
    """Return the processes whose output is this home's model log."""
    log = (home / "logs" / "model-server.log").resolve()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (entry / "fd" / "1").resolve() == log:
                found.append(int(entry.name))
    return found


def phase(address: str) -> str:
    with suppress(httpx.HTTPError):
        return str(httpx.get(f"{address}/api/model", timeout=10).json()["phase"])
    return "no page"


def wait_for(address: str, wanted: str, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while (now := phase(address)) != wanted:
        assert time.monotonic() < deadline, f"still {now}"
        time.sleep(0.5)


def check_answer(address: str) -> dict[str, object]:
    """Ask, and check the answer from outside: an answer comes whatever the model does."""
    reply = httpx.post(f"{address}/api/ask", json=QUESTION, timeout=60)
    assert reply.status_code == 200, reply.text
    answer: dict[str, object] = reply.json()
    assert answer["outcome"] == "quotes"
    citations = answer["citations"]
    assert isinstance(citations, list)
    assert any("180 days" in c["quote"] for c in citations)
    return answer


def test_twenty_kills_at_random_points_need_no_hand(home: Path) -> None:
    chance = random.Random(SEED)
    print(f"seed {SEED}")
    with box(home) as address:
        wait_for(address, "ready", INSTALL_SECONDS)
        for kill in range(KILLS):
            time.sleep(chance.uniform(0, LONGEST_WAIT))
            victims = model_processes(home)
            if victims:
                victim = chance.choice(victims)
                with suppress(ProcessLookupError):
                    os.kill(victim, signal.SIGKILL)
            print(f"kill {kill + 1}: {phase(address)}, {len(victims)} processes")
            check_answer(address)
        wait_for(address, "ready", READY_SECONDS)
        answer = check_answer(address)
        assert answer["draft"], "the model takes part again"
        groups = {os.getpgid(p) for p in model_processes(home)}
        assert len(groups) <= 2, f"more than one server (and its guard) is up: {groups}"
