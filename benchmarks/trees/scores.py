"""Accuracy and macro F1 with intervals, from counts of (truth, judgement) by place.  Pure.

Pages of one city look alike, so the bootstrap draws places, not pages.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

Confusion = Counter[tuple[str, str]]
_DRAWS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A figure and its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"


def accuracy(confusion: Mapping[tuple[str, str], int]) -> float:
    """Return the share judged right."""
    right = sum(n for (truth, judged), n in confusion.items() if truth == judged)
    return right / sum(confusion.values())


def macro_f1(confusion: Mapping[tuple[str, str], int]) -> float:
    """Return the mean F1 over the labels that occur as truth."""
    labels = sorted({truth for truth, _ in confusion})
    return sum(label_f1(confusion, label) for label in labels) / len(labels)


def label_f1(confusion: Mapping[tuple[str, str], int], label: str) -> float:
    """Return the F1 of one label."""
    right = confusion.get((label, label), 0)
    named = sum(n for (_, judged), n in confusion.items() if judged == label)
    held = sum(n for (truth, _), n in confusion.items() if truth == label)
    return 2 * right / (named + held) if named + held else 0.0


def bootstrapped(
    by_place: Mapping[str, Confusion], figure: Callable[[Confusion], float], seed: int = 0
) -> Score:
    """Return a figure over all places, with the interval of the same figure over places drawn again."""
    places = [by_place[name] for name in sorted(by_place)]
    lots = random.Random(seed)  # noqa: S311 - a repeatable draw, no secret
    drawn = sorted(figure(_summed(lots.choices(places, k=len(places)))) for _ in range(_DRAWS))
    return Score(
        value=figure(_summed(places)),
        low=drawn[int(0.025 * _DRAWS)],
        high=drawn[int(0.975 * _DRAWS) - 1],
    )


def difference(
    first: Mapping[str, Confusion],
    second: Mapping[str, Confusion],
    figure: Callable[[Confusion], float],
    seed: int = 0,
) -> Score:
    """Return first minus second, paired: both are drawn with the same places."""
    names = sorted(first)
    lots = random.Random(seed)  # noqa: S311 - a repeatable draw, no secret

    def of(drawn: Sequence[str]) -> float:
        one, other = (_summed(side[name] for name in drawn) for side in (first, second))
        return figure(one) - figure(other)

    drawn = sorted(of(lots.choices(names, k=len(names))) for _ in range(_DRAWS))
    return Score(
        value=of(names), low=drawn[int(0.025 * _DRAWS)], high=drawn[int(0.975 * _DRAWS) - 1]
    )


def _summed(confusions: Iterable[Confusion]) -> Confusion:
    total: Confusion = Counter()
    for confusion in confusions:
        for pair, n in confusion.items():
            total[pair] += n
    return total
