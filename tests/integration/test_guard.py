"""The guard, with real processes: whoever dies, and however, nothing of the program is left."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.serving import guard

pytestmark = [
    pytest.mark.asyncio,
    pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for the left-over in /proc"),
]

ROOT = Path(__file__).resolve().parents[2]

# A program with a child of its own; both carry MARK in their arguments, so that they can be found.
PARENT = """
import subprocess, sys, time
subprocess.Popen([sys.executable, "-c", sys.argv[2], *sys.argv[1:]])
print("up", flush=True)
time.sleep(600)
"""
SLEEPER = "import time; time.sleep(600)"
STUBBORN = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(600)"
# A caller that can be killed from outside.
CALLER = """
import asyncio, os, sys
from appliance.serving import guard
async def main():
    process = await guard.spawn(sys.argv[1:], env=dict(os.environ), output=None, grace=1.0)
    await process.wait()
asyncio.run(main())
"""


@pytest.fixture
def mark() -> Iterator[str]:
    yield (name := f"guarded-{os.getpid()}-{time.monotonic_ns()}")
    for pid in pids_with(name):
        os.kill(pid, signal.SIGKILL)


def pids_with(mark: str) -> list[int]:
    """Return the living processes that have `mark` among their arguments."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            arguments = (entry / "cmdline").read_bytes()
        except OSError:  # it ended while we looked
            continue
        if mark.encode() in arguments:
            found.append(int(entry.name))
    return found


async def gone(mark: str, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while pids_with(mark):
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.05)
    return True


def program(mark: str, child: str = SLEEPER) -> tuple[str, ...]:
    return (sys.executable, "-c", PARENT, mark, child)


async def spawn(mark: str, child: str = SLEEPER, grace: float = 5.0) -> asyncio.subprocess.Process:
    process = await guard.spawn(
        program(mark, child), env=dict(os.environ), output=asyncio.subprocess.PIPE, grace=grace
    )
    assert await guard.lines(process).readline() == b"up\n"
    await asyncio.sleep(0.3)  # the child has to have set its handler
    assert len(pids_with(mark)) == 3  # guard, program, its child
    return process


async def test_an_end_ends_the_children_too(mark: str) -> None:
    process = await spawn(mark)
    await guard.end(process, 5.0)
    assert not pids_with(mark)


async def test_who_ignores_sigterm_is_killed_after_the_grace(mark: str) -> None:
    process = await spawn(mark, STUBBORN, grace=0.5)
    began = time.monotonic()
    await guard.end(process, 0.5)
    assert not pids_with(mark)
    assert 0.4 < time.monotonic() - began < 3


async def test_children_that_outlive_the_program_are_ended(mark: str) -> None:
    process = await spawn(mark)
    child = max(pids_with(mark))
    [the_program] = [pid for pid in pids_with(mark) if pid not in (process.pid, child)]
    os.kill(the_program, signal.SIGKILL)
    assert await asyncio.wait_for(process.wait(), 5) == 128 + signal.SIGKILL
    assert not pids_with(mark)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_the_death_of_the_guard_ends_the_program(mark: str, number: int) -> None:
    process = await guard.spawn(
        (sys.executable, "-c", SLEEPER, mark),
        env=dict(os.environ),
        output=asyncio.subprocess.DEVNULL,
        grace=1.0,
    )
    await asyncio.sleep(0.5)
    os.kill(process.pid, number)
    assert await gone(mark, 3)
    await process.wait()


async def test_the_sudden_death_of_the_caller_ends_everything(mark: str) -> None:
    caller = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", CALLER, *program(mark, STUBBORN)),
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    while len(pids_with(mark)) < 4:
        await asyncio.sleep(0.05)
    await asyncio.sleep(0.3)
    caller.kill()
    await caller.wait()
    assert await gone(mark, 4)


@pytest.mark.parametrize(
    ("code", "status"),
    [("0", 0), ("7", 7), ("__import__('os').kill(__import__('os').getpid(), 9)", 137)],
)
async def test_the_status_is_the_programs(code: str, status: int) -> None:
    process = await guard.spawn(
        (sys.executable, "-c", f"import sys; sys.exit({code})"),
        env=dict(os.environ),
        output=asyncio.subprocess.DEVNULL,
        grace=1.0,
    )
    assert await asyncio.wait_for(process.wait(), 5) == status
    await guard.end(process, 1.0)
