"""The page-kind task: the signs of a section's body in, the kind that its heading names out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from appliance.corpus.kinds import LAW_KINDS, kind_by_rules, kind_of, signs
from benchmarks.trees.learners import LEARNERS, SMALL, learn_small_lightgbm, small_lightgbm
from benchmarks.trees.sections import Labelled, labelled_sections
from benchmarks.trees.trial import Case, table, tried
from models.boosted import to_fields
from models.trees import Example

SHIPPED = "page_kind"


def cases(sections: Sequence[Labelled]) -> list[Case]:
    """Return what the learners are given of each section: its body's signs, never its heading."""
    return [
        Case(
            place=section.place,
            row=signs(section.body),
            label=section.label,
            ruled=kind_by_rules(section.body, LAW_KINDS),
        )
        for section in sections
    ]


def report(corpus: Path) -> str:
    """Return the table of all learners on places that they never saw."""
    sections = labelled_sections(corpus)
    found = cases(sections)
    outcomes = tried(found, {**LEARNERS, SMALL: learn_small_lightgbm})
    labels = ", ".join(
        f"{sum(c.label == label for c in found):,} {label}" for label in sorted(LAW_KINDS)
    )
    places = len({c.place for c in found})
    law = sum(kind_of(s.heading, s.body) in LAW_KINDS for s in sections)
    return (
        f"{len(found):,} sections of {places} places: {labels}.\n\n{table(outcomes, len(found))}\n\n"
        f"By heading and body, and without being told that they are law, {law:,} of them are "
        "taken for one of the three kinds of law."
    )


def ship(corpus: Path) -> Path:
    """Train what the appliance uses on all places, and write it where it reads it."""
    examples = [Example(row=c.row, label=c.label) for c in cases(labelled_sections(corpus))]
    path = Path(__file__).parents[2] / "models" / f"{SHIPPED}.json"
    path.write_text(json.dumps(to_fields(small_lightgbm(examples)), separators=(",", ":")) + "\n")
    return path
