"""`permitbox eval cache`: does the cache of answers take one question for another?

Twins that get their question's answer are false hits, rephrasings that get it are true ones.  Needs
no database.  With --encode the same is asked of the encoder's cosine, which the cache does not use.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from appliance.answers.meaning import meaning_of
from appliance.clients.encode import MiniLmEncoder
from appliance.commands.options import Json, out, print_json
from eval.cases import parse_cases
from eval.session import errors_in_one_line, no_case_file, read
from eval.twins import Variant, rephrasings, twins

_COSINES = (0.85, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995)
Variants = Callable[[str], Iterable[Variant]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How many variants of each kind there are, and how many are taken for their question."""

    made: Counter[str]
    taken: Counter[str]

    @classmethod
    def of(cls, questions: Sequence[str], variants: Variants) -> Tally:
        """Count the variants of all questions that have the question's meaning."""
        made: Counter[str] = Counter()
        taken: Counter[str] = Counter()
        for question in questions:
            own = meaning_of(question)
            for variant in variants(question):
                made[variant.kind] += 1
                taken[variant.kind] += own is not None and meaning_of(variant.text) == own
        return cls(made=made, taken=taken)

    def json(self) -> dict[str, object]:
        """Return the counts, in all and by kind."""
        by_kind = {k: {"n": n, "taken": self.taken[k]} for k, n in self.made.items()}
        return {"n": self.made.total(), "taken": self.taken.total(), "kinds": by_kind}


def cache_command(
    cases: Annotated[list[Path], typer.Option("--cases", help="Files of questions, JSON lines.")],
    encode: Annotated[
        int, typer.Option("--encode", min=0, help="Of so many questions also by cosine.")
    ] = 0,
    as_json: Json = False,
) -> None:
    """Does the cache take one question for another?  Twins must not be, rephrasings should be."""
    with errors_in_one_line():
        files = [parse_cases(read(path, no_case_file), path.name) for path in cases]
        questions = list(dict.fromkeys(case.question for file in files for case in file))
        report = {
            "questions": len(questions),
            "twins": Tally.of(questions, twins).json(),
            "rephrasings": Tally.of(questions, rephrasings).json(),
        }
        if encode:
            step = max(1, len(questions) // encode)
            report["cosine"] = asyncio.run(_by_cosine(questions[::step][:encode]))
    if as_json:
        print_json(report)
    else:
        out.print(json.dumps(report, indent=2), markup=False)


async def _by_cosine(questions: Sequence[str]) -> dict[str, object]:
    """Return how many twins and rephrasings a bound on the cosine alone would take."""
    encoder = MiniLmEncoder(threads=0)
    try:
        near = await _cosines(encoder, questions, _few(twins))
        same = await _cosines(encoder, questions, _few(rephrasings))
    finally:
        encoder.close()
    return {
        "questions": len(questions),
        "twins": len(near),
        "rephrasings": len(same),
        "taken": {
            str(least): {
                "twins": int((near >= least).sum()),
                "rephrasings": int((same >= least).sum()),
            }
            for least in _COSINES
        },
    }


def _few(variants: Variants) -> Variants:
    """Return the first variant of each kind: encoding is dear."""

    def first(question: str) -> Iterator[Variant]:
        yield from {v.kind: v for v in reversed(list(variants(question)))}.values()

    return first


async def _cosines(
    encoder: MiniLmEncoder, questions: Sequence[str], variants: Variants
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    found = []
    for question in questions:
        own = await encoder.encode_query(question)
        found += [float(own @ await encoder.encode_query(v.text)) for v in variants(question)]
    return np.array(found)
