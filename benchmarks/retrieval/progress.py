"""Where a benchmark stands: its lines on standard error, its time limit, its memory."""

from __future__ import annotations

import resource
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

_PAUSE = 4.0  # seconds between two lines of one step, and between two looks at the memory
_MB = 1_000_000


@dataclass(slots=True, kw_only=True)
class Clock:
    """The time that a run has, and what was cut short for it."""

    seconds: float
    cut: list[str] = field(default_factory=list)
    _began: float = field(default_factory=time.monotonic)

    @property
    def spent(self) -> float:
        """Return the seconds since the run began."""
        return time.monotonic() - self._began

    @property
    def left(self) -> float:
        """Return the seconds that are left, none rather than fewer."""
        return max(0.0, self.seconds - self.spent)

    def over(self, what: str) -> bool:
        """Tell whether the time is up; what had to stop or to be left out is noted."""
        if self.spent < self.seconds:
            return False
        if what not in self.cut:
            self.cut.append(what)
        return True


@dataclass(slots=True, kw_only=True)
class Step:
    """One step of known length, told on standard error with what is left of it."""

    what: str
    total: int
    clock: Clock
    done: int = 0
    _began: float = field(default_factory=time.monotonic)
    _told: float = 0.0

    def add(self, count: int = 1) -> None:
        """Count, and tell now and then."""
        self.done += count
        now = time.monotonic()
        if now - self._told >= _PAUSE or self.done >= self.total:
            self._told = now
            took = now - self._began
            left = took / self.done * (self.total - self.done) if self.done else 0.0
            rate = self.done / max(took, 1e-6)
            say(
                self.clock,
                f"{self.what}: {self.done:,} of {self.total:,}, {rate:,.0f} a second, "
                + (f"{left:.0f} s left" if self.done < self.total else f"{took:.1f} s"),
            )


def say(clock: Clock, line: str) -> None:
    """Print a line with the time since the start, to standard error."""
    minutes, seconds = divmod(int(clock.spent), 60)
    print(f"[{minutes:3}:{seconds:02}] {line}", file=sys.stderr, flush=True)


class Memory:
    """The most memory that the database and this process have had, looked at every few seconds.

    Of the server's processes their own pages are added up, and what they share is counted once.
    Where there is no /proc the server's share is not known and counts as 0.
    """

    def __init__(self, postmaster: int) -> None:
        self.server_mb = 0
        self._postmaster = postmaster
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._thread.join()

    @property
    def client_mb(self) -> int:
        """Return the most that this process has had, in MB (macOS counts bytes, Linux kilobytes)."""
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit // _MB

    def _watch(self) -> None:
        while not self._ended.wait(_PAUSE / 4):
            sizes = list(_sizes(self._postmaster))
            own = sum(anonymous for anonymous, _ in sizes)
            shared = max((shared for _, shared in sizes), default=0)
            self.server_mb = max(self.server_mb, (own + shared) * 1024 // _MB)


def _sizes(postmaster: int) -> Iterator[tuple[int, int]]:
    """Yield the own and the shared kilobytes of the postmaster and its children."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile
            status = dict(
                line.split(":", 1)
                for line in (process / "status").read_text().splitlines()
                if ":" in line
            )
            family = {int(process.name), int(status["PPid"])}
            if postmaster in family:
                yield _kilobytes(status, "RssAnon"), _kilobytes(status, "RssShmem")


def _kilobytes(status: dict[str, str], name: str) -> int:
    return int(status.get(name, "0 kB").split()[0])
