"""The five learners behind one face: examples in, a trained model with its size out.

ID3 knows categories only, so numbers become quarters of the training set first.  The two libraries
know numbers only, so each category becomes a column of 0 and 1.  Everybody keeps to defaults: 100
rounds for the libraries, the program's own settings for C4.5.  Nothing was tuned.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import quantiles
from typing import Any

import lightgbm
import numpy as np
import numpy.typing as npt
import xgboost

from models.boosted import Boosted, SmallTree, Split, likeliest
from models.boosted import to_fields as boosted_fields
from models.trees import Example, Growth, Row, Tree, c45, id3, leaves, predicted, to_fields

Matrix = npt.NDArray[np.float64]
_ROUNDS = 100
_THREADS = 1  # a box answers one page at a time, and the machine is shared


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """A model that judges rows; `size` is in bytes as it would be shipped."""

    judge: Callable[[Sequence[Row]], list[str]]
    size: int
    leaves: int


Learner = Callable[[Sequence[Example]], Trained]


# ------------------------------------------------------------------ ours


def learn_id3(examples: Sequence[Example]) -> Trained:
    """Train ID3 on quarters."""
    cuts = _cuts(examples)
    tree = id3([Example(row=_in_quarters(e.row, cuts), label=e.label) for e in examples])
    return _trained(tree, lambda row: _in_quarters(row, cuts))


def learn_c45(examples: Sequence[Example]) -> Trained:
    """Train C4.5, release 8."""
    return _trained(c45(examples, Growth()), lambda row: row)


def _trained(tree: Tree, prepare: Callable[[Row], Row]) -> Trained:
    return Trained(
        judge=lambda rows: [predicted(tree, prepare(row)) for row in rows],
        size=len(json.dumps(to_fields(tree), separators=(",", ":"))),
        leaves=leaves(tree),
    )


def _cuts(examples: Sequence[Example]) -> dict[str, list[float]]:
    columns: dict[str, list[float]] = {}
    for name, value in (pair for e in examples for pair in e.row.items()):
        if isinstance(value, float | int):
            columns.setdefault(name, []).append(float(value))
    return {name: sorted(set(quantiles(values, n=4))) for name, values in columns.items()}


def _in_quarters(row: Row, cuts: Mapping[str, list[float]]) -> dict[str, str]:
    return {
        name: "?"
        if value is None
        else value
        if isinstance(value, str)
        else f"quarter {sum(value > cut for cut in cuts[name])}"
        for name, value in row.items()
    }


# ------------------------------------------------------------------ the libraries


def learn_xgboost(examples: Sequence[Example]) -> Trained:
    """Train XGBoost."""
    columns, labels = _columns(examples), sorted({e.label for e in examples})
    data = xgboost.DMatrix(
        _matrix([e.row for e in examples], columns), label=[labels.index(e.label) for e in examples]
    )
    settings = {"objective": "multi:softprob", "num_class": len(labels), "nthread": _THREADS}
    booster = xgboost.train({**settings, "seed": 0}, data, num_boost_round=_ROUNDS)
    return Trained(
        judge=lambda rows: _likeliest(
            booster.predict(xgboost.DMatrix(_matrix(rows, columns))), labels
        ),
        size=len(booster.save_raw("json")),
        leaves=sum(tree.count("leaf=") for tree in booster.get_dump()),
    )


def learn_lightgbm(examples: Sequence[Example]) -> Trained:
    """Train LightGBM."""
    booster, columns, labels = _boosted(examples, rounds=_ROUNDS)
    return Trained(
        judge=lambda rows: _likeliest(np.asarray(booster.predict(_matrix(rows, columns))), labels),
        size=len(booster.model_to_string()),
        leaves=sum(tree["num_leaves"] for tree in booster.dump_model()["tree_info"]),
    )


def learn_small_lightgbm(examples: Sequence[Example]) -> Trained:
    """Train a LightGBM of few small trees, and judge with our own evaluator."""
    model = small_lightgbm(examples)
    return Trained(
        judge=lambda rows: [likeliest(model, _numbers(row)) for row in rows],
        size=len(json.dumps(boosted_fields(model), separators=(",", ":"))),
        leaves=sum(len(tree.leaves) for tree in model.trees),
    )


def small_lightgbm(examples: Sequence[Example]) -> Boosted:
    """Return 40 rounds of trees of 8 leaves, as the record that our own evaluator reads.

    Raises ArithmeticError if the evaluator and the library do not agree on every example.
    """
    booster, columns, labels = _boosted(examples, rounds=40, num_leaves=8)
    model = exported(booster, [name for name, _ in columns], labels)
    rows = [e.row for e in examples]
    theirs = _likeliest(np.asarray(booster.predict(_matrix(rows, columns))), labels)
    if theirs != [likeliest(model, _numbers(row)) for row in rows]:
        raise ArithmeticError("Our evaluator judges otherwise than LightGBM: the export is wrong.")
    return model


def exported(booster: lightgbm.Booster, columns: Sequence[str], labels: Sequence[str]) -> Boosted:
    """Return a LightGBM model over numbers without unknowns as our own record."""
    trees = [
        _small_tree(tree["tree_structure"], columns, labels[number % len(labels)])
        for number, tree in enumerate(booster.dump_model()["tree_info"])
    ]
    return Boosted(labels=tuple(labels), trees=tuple(trees))


def _small_tree(root: dict[str, Any], columns: Sequence[str], label: str) -> SmallTree:
    splits: list[Split | None] = []
    leaves: list[float] = []

    def place(node: dict[str, Any]) -> int:
        if "leaf_value" in node:
            leaves.append(float(node["leaf_value"]))
            return -len(leaves)
        if node["decision_type"] != "<=" or node["missing_type"] != "None":
            raise ValueError("Only numbers without unknown values can be exported.")
        here = len(splits)
        splits.append(None)
        splits[here] = Split(
            column=columns[node["split_feature"]],
            at=float(node["threshold"]),
            left=place(node["left_child"]),
            right=place(node["right_child"]),
        )
        return here

    place(root)
    return SmallTree(label=label, splits=tuple(s for s in splits if s), leaves=tuple(leaves))


def _boosted(
    examples: Sequence[Example], *, rounds: int, num_leaves: int = 31
) -> tuple[lightgbm.Booster, list[tuple[str, str | None]], list[str]]:
    columns, labels = _columns(examples), sorted({e.label for e in examples})
    data = lightgbm.Dataset(
        _matrix([e.row for e in examples], columns),
        label=np.array([labels.index(e.label) for e in examples]),
    )
    settings = {"objective": "multiclass", "num_class": len(labels), "num_leaves": num_leaves}
    repeatable = {"num_threads": _THREADS, "seed": 0, "deterministic": True, "verbose": -1}
    booster = lightgbm.train({**settings, **repeatable}, data, num_boost_round=rounds)
    return booster, columns, labels


def _numbers(row: Row) -> dict[str, float]:
    return {name: value for name, value in row.items() if isinstance(value, float)}


def _columns(examples: Sequence[Example]) -> list[tuple[str, str | None]]:
    """Return (attribute, None) for a number and (attribute, value) for each value of a category."""
    return sorted(
        {
            (name, value if isinstance(value, str) else None)
            for e in examples
            for name, value in e.row.items()
            if value is not None
        },
        key=lambda column: (column[0], column[1] or ""),
    )


def _matrix(rows: Sequence[Row], columns: Sequence[tuple[str, str | None]]) -> Matrix:
    return np.array([[_cell(row, *column) for column in columns] for row in rows], dtype=np.float64)


def _cell(row: Row, name: str, category: str | None) -> float:
    value = row.get(name)
    if value is None:
        return math.nan
    return float(value == category) if category is not None else float(value)


def _likeliest(chances: npt.NDArray[np.floating], labels: Sequence[str]) -> list[str]:
    return [labels[int(best)] for best in chances.argmax(axis=1)]


LEARNERS: dict[str, Learner] = {
    "ID3": learn_id3,
    "C4.5": learn_c45,
    "XGBoost": learn_xgboost,
    "LightGBM": learn_lightgbm,
}

# What ships must be small and need no library: 40 rounds of 8 leaves, in place of 100 of 31.
SMALL = "LightGBM, small"
