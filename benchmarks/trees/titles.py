"""Titles of real pages of city sites, each read with its page and given a kind by hand.

The pages themselves belong to their cities and are not kept; only the titles are judged.  Those with
`seen` were known when the rules were mended; the others came after, and mended only the one rule that
takes the date after a board's name for a meeting.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files

from appliance.corpus.kinds import kinds_by_title


@dataclass(frozen=True, slots=True, kw_only=True)
class Title:
    """One title, the kind of its page, and whether the rules knew it."""

    title: str
    kind: str
    seen: bool
    url: str


def titles() -> list[Title]:
    """Return the titles in the file's order."""
    text = files("benchmarks.trees").joinpath("titles.jsonl").read_text("utf-8")
    return [Title(**json.loads(line)) for line in text.splitlines()]


def report() -> str:
    """Return how many titles keep their kind, and how many are settled by it alone."""
    found = [(t.kind, kinds_by_title(t.title)) for t in titles()]
    kept = sum(kind in kinds for kind, kinds in found)
    settled = sum(len(kinds) == 1 for _, kinds in found)
    right = sum(kinds == (kind,) for kind, kinds in found)
    return (
        f"Of {len(found)} titles of real pages, {kept} keep their kind among those that the title "
        f"leaves open; {settled} titles settle the kind, {right} of them rightly."
    )
