"""The trained ranker: how much each thing that is known of a candidate counts.

A weighted sum, written by `permitbox bench ranker --write` and read by the search.  What its numbers
mean is their owner's business (appliance/answers/features.py).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranker:
    """A linear model over named features."""

    weights: Mapping[str, float]
    trained: str  # on what, by which command

    def row(self, names: Sequence[str]) -> tuple[float, ...]:
        """Return the weights in the order of the names; raises KeyError on one that was not trained."""
        return tuple(self.weights[name] for name in names)


def weighed(weights: Sequence[float], row: Sequence[float]) -> float:
    """Return the weighted sum of a row."""
    return math.fsum(w * x for w, x in zip(weights, row, strict=True))


@cache
def shipped_ranker() -> Ranker:
    """Return the model that lies beside this module as ranker.json."""
    fields = json.loads(files("models").joinpath("ranker.json").read_text("utf-8"))
    return Ranker(weights=fields["weights"], trained=fields["trained"])
