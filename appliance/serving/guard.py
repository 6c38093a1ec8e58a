"""A child process that cannot outlive us: the two ends of one pipe.

Our end starts this very file as a small program, the guard, and holds the pipe
to its standard input.  The guard starts the real program in a process group of
its own and waits.  When the pipe closes (we asked it to, or we died, however
suddenly) or the program ends, the guard ends the whole group: SIGTERM, then
SIGKILL after the grace.  So a stop and a crash take the same, tested way.

Why not PR_SET_PDEATHSIG alone: it watches the thread that forked, reaches one
process and not its children, and needs code between fork and exec, which is
unsafe in a program with threads.  The guard has one thread, and uses it as a
second net for its own sudden death.

It knows nothing of models or of pip.  The guard's end uses the standard library
only, as it runs with `python -I` outside the package.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import IO

# How often the guard looks up when the pipe is silent: the cost is two wake-ups a second.
GLANCE_SECONDS = 0.5
# What our end waits beyond the grace before it takes matters into its own hands.
MARGIN_SECONDS = 3.0

_THIS_FILE = str(Path(__file__).resolve())
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


# ------------------------------------------------------------------ our end


async def spawn(
    program: Sequence[str],
    *,
    env: Mapping[str, str],
    output: int | IO[bytes],
    grace: float,
    keep: Sequence[int] = (),
) -> asyncio.subprocess.Process:
    """Start `program` under a guard and return the guard's process.

    Its exit status is the program's (128 + signal when a signal ended it).  The
    guard keeps the descriptors `keep` open until the last of the program is gone.
    """
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", _THIS_FILE, str(grace), *program),
        stdin=asyncio.subprocess.PIPE,
        stdout=output,
        stderr=asyncio.subprocess.STDOUT,
        env=dict(env),
        start_new_session=True,  # a Ctrl-C in the terminal is ours to hear, not the program's
        pass_fds=tuple(keep),
        limit=1 << 20,  # pip names every version of a package in one line
    )


def lines(process: asyncio.subprocess.Process) -> asyncio.StreamReader:
    """Return what the program writes, line by line; it was spawned with output=PIPE."""
    if process.stdout is None:
        raise ValueError("the program was not spawned with output=PIPE")
    return process.stdout


async def end(process: asyncio.subprocess.Process, grace: float) -> None:
    """End what `spawn` started, and wait until it is gone."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        await asyncio.wait_for(process.wait(), grace + MARGIN_SECONDS)
    except TimeoutError:
        os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


# ------------------------------------------------------------------ the guard's end


class _Asked(Exception):
    """Someone sent the guard a signal: the machine shuts down, or a person ends it."""


def guard(grace: float, program: Sequence[str]) -> int:
    """Run `program` until it ends or nobody holds the pipe; leave nothing of it behind."""
    signal.signal(signal.SIGTERM, _raise_asked)
    _adopt_orphans()
    child = subprocess.Popen(
        program,
        stdin=subprocess.DEVNULL,
        process_group=0,
        preexec_fn=_die_with_guard,  # noqa: PLW1509 -- safe here: the guard has one thread
    )
    with contextlib.suppress(_Asked):
        _wait(child, os.getppid())
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _end_group(child, grace)
    status = child.wait()
    return status if status >= 0 else 128 - status


def _wait(child: subprocess.Popen[bytes], parent: int) -> None:
    """Return when the program has ended, the pipe is closed or our end is dead.

    The parent is watched as well as the pipe, because a forked copy of our end
    could hold the pipe open after our end is gone.
    """
    while child.poll() is None and os.getppid() == parent:
        readable, _, _ = select.select([0], [], [], GLANCE_SECONDS)
        if readable and not os.read(0, 4096):
            return


def _end_group(child: subprocess.Popen[bytes], grace: float) -> None:
    deadline = time.monotonic() + grace
    signal_now = signal.SIGTERM
    while _send(child.pid, signal_now):
        while _alive(child) and time.monotonic() < deadline:
            time.sleep(0.05)
        if signal_now is signal.SIGKILL:
            return
        signal_now, deadline = signal.SIGKILL, time.monotonic() + 1.0


def _alive(child: subprocess.Popen[bytes]) -> bool:
    """Tell whether anything of the group is left, after burying what has died."""
    child.poll()
    if child.returncode is not None:
        _bury_orphans()
    return _send(child.pid, 0)


def _send(group: int, number: int) -> bool:
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    except PermissionError:  # macOS says so of a group in which only the dead are left
        return False
    return True


def _bury_orphans() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass
    except ChildProcessError:
        return


def _adopt_orphans() -> None:
    """Become the parent of grandchildren whose parent dies, so that we can bury them."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _die_with_guard() -> None:
    """Have the program ended should the guard itself be killed outright."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def _raise_asked(_number: int, _frame: FrameType | None) -> None:
    raise _Asked


if __name__ == "__main__":
    sys.exit(guard(float(sys.argv[1]), sys.argv[2:]))
