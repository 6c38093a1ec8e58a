"""`permitbox eval calc`: are rules found, and calculations exact?  Parse options, measure, print."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from appliance.store.calculators import PostgresCalculators
from appliance.wiring import House
from eval import session
from eval.calculation import (
    CalculationCase,
    CalculationResult,
    measure_calculations,
    parse_calculation_cases,
    summary,
)
from eval.session import AsJson, NothingToScore, errors_in_one_line, in_house, no_case_file


def calc_command(
    cases: Annotated[Path, typer.Option("--cases", help="A file of worked calculations.")],
    as_json: AsJson = False,
) -> None:
    """Does the builder find the rule unaided, and is the result exact?  Nothing is stored."""
    with errors_in_one_line():
        taken = parse_calculation_cases(session.read(cases, no_case_file), cases.name)

        async def work(house: House) -> tuple[list[CalculationResult], int]:
            here = {c.city.id for c in await house.store.cities() if c.sections}
            wanted = [c for c in taken if c.city in here]
            if not wanted:
                raise NothingToScore("No case is of a city that this box holds.")
            return await _measured(house, wanted), len(taken) - len(wanted)

        results, skipped = in_house(work)
        found = summary(results, skipped)
        if as_json:
            print(json.dumps(found, ensure_ascii=False))
            return
        for result in results:
            _show(result)
        counts = ", ".join(f"{k} {v}" for k, v in found.items() if k != "results")
        session.out.print(counts)


async def _measured(house: House, cases: list[CalculationCase]) -> list[CalculationResult]:
    store = PostgresCalculators(house.pool)
    return [r async for r in measure_calculations(store, cases, today=date.today())]


def _show(result: CalculationResult) -> None:
    facts = result.details()
    marks = f"{'found' if result.found else '-':<6} {'exact' if facts['exact'] else '-':<6}"
    said = facts["problem"] or f"{facts['result']} (wanted {facts['wanted']})"
    session.out.print(f"{result.case.id}  {marks} {said}  {facts['calculator']}", markup=False)
