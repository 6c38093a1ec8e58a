"""How answers and progress look in a terminal.  Knows records and Rich, no store and no model."""

from __future__ import annotations

import sys
import time
from typing import Any

from rich.console import Console

from appliance.answers.harmless import visible
from appliance.answers.validity import dates_of, warning_of
from appliance.ask import Finished
from appliance.domain import Abstention, Route
from appliance.ingest import Progress


class PlainConsole(Console):
    """A console on which texts from outside can only be read: they steer no terminal."""

    def print(self, *objects: Any, **how: Any) -> None:
        """Print as Rich does, texts without control characters and turns of direction."""
        super().print(*(visible(o) if isinstance(o, str) else o for o in objects), **how)


def print_answer(finished: Finished, out: Console) -> None:
    """Print an answer for a person: the text, its proofs, and what to be wary of."""
    outcome = finished.outcome
    out.print()
    if finished.read_as is not None:
        out.print(f"Read as: {finished.read_as}\n", style="dim", markup=False)
    out.print(outcome.text, markup=False)
    if isinstance(outcome, Abstention):
        if outcome.office:
            out.print(f"\nAsk: {outcome.office}", markup=False)
        return
    out.print("\nProven citations:", style="bold")
    for number, c in enumerate(outcome.citations, start=1):
        out.print(
            f"  [{number}] {c.section.citation} ({dates_of(c.section)}; version "
            f"{c.section.version[:8]}, characters {c.span.start} to {c.span.end})",
            markup=False,
        )
        for law in c.section.pending(finished.asked.as_of):
            sentence = warning_of(law, finished.asked.as_of)
            out.print(f"      {sentence}", style="yellow", markup=False)
    for claim in outcome.withheld:
        why = ", ".join(flag.value.replace("_", " ") for flag in claim.flags)
        out.print(f"  withheld ({why}): {claim.text}", style="yellow", markup=False)
    if finished.route is Route.CALCULATION:
        city = finished.asked.city
        out.print(
            f'\nA matter of numbers? permitbox calc --city {city} "…"', style="dim", markup=False
        )
    if outcome.note:
        out.print(f"\n{outcome.note}", style="dim", markup=False)


class Ticker:
    """Shows progress: a live line on a terminal, a line every 10 s elsewhere."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._last = 0.0

    def __call__(self, progress: Progress) -> None:
        """Show where the work stands, not too often."""
        now = time.monotonic()
        pause = 0.2 if self._console.is_terminal else 10.0
        if now - self._last < pause and progress.done < progress.total:
            return
        self._last = now
        line = progress_line(progress)
        if self._console.is_terminal:
            sys.stderr.write(f"\r\x1b[2K{line[: self._console.width - 1]}")
            sys.stderr.flush()
        else:
            self._console.print(line, markup=False)

    def end(self) -> None:
        """Leave the live line behind."""
        if self._console.is_terminal and self._last:
            sys.stderr.write("\n")


def progress_line(p: Progress) -> str:
    """Return one line like "encoding salem-va  1,024/4,096 chunks  25 %  51 chunks/s  0:01:00 left"."""
    share = 100 * p.done // p.total if p.total else 100
    left = "" if p.eta is None else f"  {clock(p.eta)} left"
    if p.unit == "bytes":
        amount = f"{p.done / 1e6:,.1f}/{p.total / 1e6:,.1f} MB"
        rate = f"{p.rate / 1e6:,.1f} MB/s"
    else:
        amount = f"{p.done:,}/{p.total:,} {p.unit}"
        rate = f"{p.rate:,.0f} {p.unit}/s"
    return f"{p.stage} {p.what}  {amount}  {share} %  {rate}{left}"


def clock(seconds: float) -> str:
    """Return seconds as h:mm:ss."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"
