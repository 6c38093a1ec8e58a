"""Real law text for the unit tests, read where it lies beside the checkout; none of it is copied."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import settings

CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus"

# A busy machine is no reason to fail; time is asserted where it matters.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

Lines = Callable[..., list[str]]


def _lines(pattern: str, *, every: int = 1, most: int = 1_000_000) -> Iterator[str]:
    for path in sorted(CORPUS.glob(pattern)):
        with path.open("rb") as raw, zstandard.ZstdDecompressor().stream_reader(raw) as stream:
            lines = io.TextIOWrapper(stream, "utf-8", newline="\n")
            yield from islice(lines, 0, most, every)


@pytest.fixture(scope="session")
def law_lines() -> Lines:
    """Return a reader of the JSON lines of the real codes; skip where they are not at hand."""
    if not CORPUS.is_dir():
        if os.environ.get("CI"):
            pytest.fail("the law text must be at hand in CI: it is not in shared/corpus")
        pytest.skip("the law text (shared/corpus beside the checkout) is not on this machine")
    return lambda pattern, **how: list(_lines(pattern, **how))


@pytest.fixture(scope="session")
def law_records(law_lines: Lines) -> Callable[..., list[dict[str, Any]]]:
    """Return a reader of the records of the real codes."""
    return lambda pattern, **how: [json.loads(line) for line in law_lines(pattern, **how)]
