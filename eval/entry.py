"""An ablation as an entry of the ledger.  Pure, but for `next_entry`.

The entry says all but the decision, which a person writes after reading it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from appliance.errors import BadRequest
from eval.ablation import Ablation
from eval.grids import Grid, harm_grid, last_grid, main_grid

UNDECIDED = "(to be written by whoever has read the tables)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """What it takes to repeat a run."""

    command: str
    commit: str | None
    digests: Mapping[str, str]  # of each case file with the corpus
    held: str  # what the box held of the cities asked
    cases: str  # the files with their numbers, and what was skipped
    on: date


def next_entry(ledger: Path, name: str) -> Path:
    """Return the path of a new entry: the next number and the name.  Raises BadRequest."""
    if not re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", name):
        raise BadRequest(f"--ledger {name!r} must be words joined by hyphens, like 'fusion-again'.")
    if not ledger.is_dir():
        raise BadRequest("There is no ledger here: entries are written in a checkout only.")
    numbers = [int(p.name[:3]) for p in ledger.glob("[0-9][0-9][0-9]-*.md")]
    return ledger / f"{max(numbers, default=0) + 1:03}-{name}.md"


def entry(name: str, ablation: Ablation, provenance: Provenance) -> str:
    """Return the Markdown of an entry."""
    facts = [
        ("date", provenance.on.isoformat()),
        ("question", ablation.question),
        ("command", f"`{provenance.command}`"),
        ("commit", provenance.commit or "none: run outside a checkout"),
        ("corpus", f"{provenance.held}; digests {_digests(provenance.digests)}"),
        ("cases", f"{provenance.cases}; {ablation.n:,} asked of every variant"),
        ("decision", UNDECIDED),
    ]
    head = "\n".join(f"| {field} | {value} |" for field, value in facts)
    title = name.replace("-", " ").capitalize()
    parts = [f"# {title}", f"| field | |\n|---|---|\n{head}", _NOTE]
    parts += [f"**{grid.title}**\n\n{grid.markdown()}" for grid in grids(ablation, whole=True)]
    return "\n\n".join(parts) + "\n"


_NOTE = """\
Intervals and p are of the paired bootstrap over the questions (2,000 resamples), p of the randomisation
test and of harm from 10,000 exchanges. Harm: the interval leaves zero out and that p is below .05; the
best single leg is chosen on the questions that it is compared on, which favours it. Milliseconds are of
the machine that ran it: compare them in this table only."""


def grids(ablation: Ablation, *, whole: bool) -> Sequence[Grid]:
    """Return the tables of an ablation; harm of the last variant only if it shall fit a terminal."""
    fused = list(ablation.by_kind[0].against)
    shown = fused if whole else fused[-1:]
    return (
        main_grid(ablation.rows),
        last_grid(ablation.rows[-1].name, ablation.last),
        harm_grid("kind", ablation.by_kind, shown),
        harm_grid("city", ablation.by_city, shown),
    )


def _digests(digests: Mapping[str, str]) -> str:
    if not digests:
        return "none, as no --corpus was given"
    return ", ".join(f"{name} `{digest[:16]}`" for name, digest in sorted(digests.items()))
