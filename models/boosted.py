"""Boosted trees, judged without the library that trained them.  Pure but for reading its own neighbours.

Knows sums of small trees over numbers: a row goes left where its value is at most the bound, and the
leaves' values are added up by label.  Where a model came from and what its numbers mean is its
owner's business; `permitbox bench trees` trains and writes them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TypedDict


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """One question.  A branch that is not negative is another split, else leaf number -1 - branch."""

    column: str
    at: float
    left: int
    right: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallTree:
    """One tree of the sum; the first split is its root, and a tree without splits is its one leaf."""

    label: str  # whose score it adds to
    splits: tuple[Split, ...]
    leaves: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Boosted:
    """A trained model."""

    labels: tuple[str, ...]
    trees: tuple[SmallTree, ...]


def scores(model: Boosted, row: Mapping[str, float]) -> dict[str, float]:
    """Return the sum of each label, before it is made a chance."""
    sums: dict[str, list[float]] = {label: [] for label in model.labels}
    for tree in model.trees:
        sums[tree.label].append(_leaf(tree, row))
    return {label: math.fsum(values) for label, values in sums.items()}


def likeliest(model: Boosted, row: Mapping[str, float], among: Sequence[str] | None = None) -> str:
    """Return the label of the greatest score; of equals, the model's first."""
    found = scores(model, row)
    return max(among or model.labels, key=lambda label: found[label])


def _leaf(tree: SmallTree, row: Mapping[str, float]) -> float:
    node = 0 if tree.splits else -1
    while node >= 0:
        split = tree.splits[node]
        node = split.left if row[split.column] <= split.at else split.right
    return tree.leaves[-1 - node]


# ------------------------------------------------------------------ a model as JSON


class TreeFields(TypedDict):
    """A tree as JSON; a split is [column, bound, left, right]."""

    label: str
    splits: list[tuple[str, float, int, int]]
    leaves: list[float]


class BoostedFields(TypedDict):
    """A model as JSON."""

    labels: list[str]
    trees: list[TreeFields]


def to_fields(model: Boosted) -> BoostedFields:
    """Return a model as what `json.dumps` takes."""
    return BoostedFields(
        labels=list(model.labels),
        trees=[
            TreeFields(
                label=tree.label,
                splits=[(s.column, s.at, s.left, s.right) for s in tree.splits],
                leaves=list(tree.leaves),
            )
            for tree in model.trees
        ],
    )


def from_fields(fields: BoostedFields) -> Boosted:
    """Return the model that `to_fields` wrote."""
    trees = (
        SmallTree(
            label=tree["label"],
            splits=tuple(
                Split(column=column, at=at, left=left, right=right)
                for column, at, left, right in tree["splits"]
            ),
            leaves=tuple(tree["leaves"]),
        )
        for tree in fields["trees"]
    )
    return Boosted(labels=tuple(fields["labels"]), trees=tuple(trees))


@cache
def shipped(name: str) -> Boosted:
    """Return the model that lies beside this module as NAME.json."""
    return from_fields(json.loads(files("models").joinpath(f"{name}.json").read_text("utf-8")))
