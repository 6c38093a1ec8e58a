"""Two UCI sets, as a check that our learners are no worse than the libraries on known ground.

Tic-tac-toe (Aha 1991) is categories only; the votes (Schlimmer 1987) hold unknown values, which the
file writes as "?".  Rows have no places, so they are dealt out into fifty hands instead.
"""

from __future__ import annotations

import csv
from pathlib import Path

from benchmarks.trees.trial import Case, table, tried
from models.trees import Value

_HANDS = 50
SETS = {"tic-tac-toe": "tic-tac-toe.csv", "house votes 1984": "house-votes-84.csv"}


def report(corpus: Path) -> str:
    """Return a table for each set."""
    parts = []
    for name, file in SETS.items():
        cases = rows(corpus / "uci" / file)
        parts.append(f"{name}, {len(cases)} rows:\n\n{table(tried(cases), len(cases))}")
    return "\n\n".join(parts)


def rows(path: Path) -> list[Case]:
    """Return the rows of a set; the label is the column `class`, or else the last."""
    with path.open(newline="", encoding="utf-8") as lines:
        records = list(csv.DictReader(lines))
    names = list(records[0])
    target = "class" if "class" in names else names[-1]
    return [
        Case(
            place=f"hand {number % _HANDS}",
            row={name: _value(record[name]) for name in names if name != target},
            label=record[target],
        )
        for number, record in enumerate(records)
    ]


def _value(written: str) -> Value:
    return None if written == "?" else written
