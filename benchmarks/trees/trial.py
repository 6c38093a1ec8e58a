"""One trial: every case is judged by models that never saw its place.

The places go into five folds by the digest of their names; each fold is judged by models trained on
the other four.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.trees.learners import LEARNERS, Learner
from benchmarks.trees.scores import Confusion, accuracy, bootstrapped, difference, macro_f1
from models.trees import Example, Row

_FOLDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What the learner is given, what it should say, and where it is from."""

    place: str
    row: Row
    label: str
    ruled: str | None = None  # what the rules say without learning; None: there are no rules
    way: str = ""  # how it was broken, where it was


@dataclass(slots=True, kw_only=True)
class Outcome:
    """How one learner did over all folds."""

    confusions: dict[str, Confusion] = field(default_factory=dict)  # by place
    train_s: float = 0.0
    judge_s: float = 0.0
    size: int = 0  # of the last fold's model
    leaves: int = 0

    def count(self, cases: Sequence[Case], judged: Sequence[str]) -> None:
        """Add the judgements of a fold."""
        for case, label in zip(cases, judged, strict=True):
            self.confusions.setdefault(case.place, Counter())[case.label, label] += 1


def tried(cases: Sequence[Case], learners: Mapping[str, Learner] = LEARNERS) -> dict[str, Outcome]:
    """Return the outcome of each learner, and of the rules where there are any."""
    outcomes = {name: Outcome() for name in learners}
    for number in range(_FOLDS):
        held = [c for c in cases if fold_of(c.place) == number]
        rest = [Example(row=c.row, label=c.label) for c in cases if fold_of(c.place) != number]
        for name, learn in learners.items():
            if held:
                _judge_fold(outcomes[name], learn, rest, held)
    if all(c.ruled is not None for c in cases):
        outcomes["rules"] = Outcome()
        outcomes["rules"].count(cases, [c.ruled or "" for c in cases])
    return outcomes


def _judge_fold(
    outcome: Outcome,
    learn: Learner,
    rest: Sequence[Example],
    held: Sequence[Case],
) -> None:
    began = time.perf_counter()
    trained = learn(rest)
    outcome.train_s += time.perf_counter() - began
    began = time.perf_counter()
    judged = trained.judge([c.row for c in held])
    outcome.judge_s += time.perf_counter() - began
    outcome.size, outcome.leaves = trained.size, trained.leaves
    outcome.count(held, judged)


def fold_of(place: str) -> int:
    """Return the fold of a place: nothing but its name decides."""
    return hashlib.sha256(place.encode()).digest()[0] % _FOLDS


# ------------------------------------------------------------------ the table


def table(outcomes: Mapping[str, Outcome], cases: int) -> str:
    """Return the outcomes as a Markdown table, best macro F1 first."""
    ranked = sorted(outcomes.items(), key=lambda o: -bootstrapped(o[1].confusions, macro_f1).value)
    best = ranked[0][1].confusions
    lines = [
        "| | accuracy | macro F1 | behind the best in macro F1 | leaves | KB | train s | judge µs |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, outcome in ranked:
        behind = (
            difference(best, outcome.confusions, macro_f1) if outcome is not ranked[0][1] else ""
        )
        learnt = (
            f"{outcome.leaves:,} | {outcome.size / 1000:.1f} | {outcome.train_s / _FOLDS:.2f}"
            f" | {1e6 * outcome.judge_s / cases:.0f}"
            if outcome.leaves
            else " | | | "
        )
        lines.append(
            f"| {name} | {bootstrapped(outcome.confusions, accuracy)}"
            f" | {bootstrapped(outcome.confusions, macro_f1)} | {behind} | {learnt} |"
        )
    return "\n".join(lines)
