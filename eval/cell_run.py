"""`permitbox eval cells`: are the cells of comparisons right?  Parse options, measure, print."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from appliance.wiring import House
from eval import session
from eval.cases import parse_comparison_cases
from eval.cells import CellResult, counted, held_cases, measure_cells
from eval.results import Json, milliseconds, result_line
from eval.session import (
    AsJson,
    NothingToScore,
    Out,
    commit,
    errors_in_one_line,
    in_house,
    no_case_file,
    opened,
)


def cells_command(
    cases: Annotated[Path, typer.Option("--cases", help="A file of comparisons with known cells.")],
    no_model: Annotated[
        bool, typer.Option("--no-model", help="Let rules choose, even if a model server runs.")
    ] = False,
    as_json: AsJson = False,
    out: Out = None,
) -> None:
    """Is each city's cell right, and does nothing of another city stand in it?"""
    with errors_in_one_line():
        given = parse_comparison_cases(session.read(cases, no_case_file), cases.name)

        async def work(house: House) -> tuple[list[CellResult], Json]:
            here = [c.city.id for c in await house.store.cities() if c.usable]
            taken, left_out = held_cases(given, here)
            if not taken:
                raise NothingToScore("No case is of a city that this box holds.")
            if left_out:
                session.err.print(f"{left_out} cells skipped: their city is not in this box.")
            chat = None if no_model else await house.chat()
            measured = measure_cells(
                house.store, house.encoder, chat, taken, file=cases.stem, today=date.today()
            )
            with opened(out) as lines:
                results = []
                async for result in measured:
                    results.append(result)
                    if lines is not None:
                        lines.write(result_line(result) + "\n")
                        lines.flush()
            model = None if chat is None or chat.demo else await chat.chat.model()
            return results, {"comparisons": len(taken), "skipped": left_out, "model": model}

        results, facts = in_house(work)
        _report(results, facts, as_json)


def _report(results: list[CellResult], facts: Json, as_json: bool) -> None:
    counts = counted(results)
    if as_json:
        times = {"ms_a_cell": milliseconds([r.ms for r in results]), "commit": commit()}
        print(json.dumps({"cells": len(results), "scores": counts} | facts | times))
        return
    for name, c in counts.items():
        interval = f"[{c['low']:.3f}, {c['high']:.3f}]"
        session.out.print(
            f"{name:<13} {c['count']:>4} of {c['n']} {c['of']}  {c['value']:.3f} {interval}"
        )
    session.out.print(", ".join(f"{k} {v}" for k, v in facts.items()), style="dim")
