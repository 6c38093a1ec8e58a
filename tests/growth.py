"""How does the work grow with the text?  Bounds in seconds would be bounds on the machine."""

from __future__ import annotations

import time
from collections.abc import Callable

NOISE = 0.05  # seconds: below, a clock says nothing


def grows_linearly(work: Callable[[str], object], unit: str, size: int = 100_000) -> bool:
    """Tell whether four times the text takes about four times as long; quadratic work takes 16 times."""
    return _seconds(work, unit, size) < 9 * _seconds(work, unit, size // 4) + NOISE


def _seconds(work: Callable[[str], object], unit: str, size: int) -> float:
    """Return the processor's seconds, the lesser of two."""
    text = (unit * size)[:size]
    seconds = []
    for _ in range(2):
        begin = time.process_time()
        work(text)
        seconds.append(time.process_time() - begin)
    return min(seconds)
