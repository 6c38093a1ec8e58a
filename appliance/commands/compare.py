"""`permitbox compare`: one question to several cities, a proven cell each."""

from __future__ import annotations

from typing import Annotated

import typer

from appliance.answers.validity import dates_of
from appliance.commands.options import (
    AsOf,
    Json,
    cities_of,
    day_of,
    out,
    print_json,
    run_in_house,
)
from appliance.compare import Cell, Comparison, FoundCell, compare
from appliance.comparison_forms import comparison_json
from appliance.wiring import House


def compare_command(
    question: Annotated[str, typer.Argument(help="The question, as it is asked of one city.")],
    cities: Annotated[
        str | None,
        typer.Option(
            "--cities", help="Ids with commas between them, or all; else those that it names."
        ),
    ] = None,
    as_of: AsOf = None,
    as_json: Json = False,
) -> None:
    """Ask several cities one question: a table of facts, each proven or said not to be there."""
    day = day_of(as_of)

    async def work(house: House) -> Comparison:
        held = [c.city.id for c in await house.store.cities() if c.usable]
        asked = cities_of(cities, held) if cities is not None else ()
        return await compare(house.store, house.encoder, await house.chat(), question, asked, day)

    comparison: Comparison = run_in_house(work)
    if as_json:
        print_json(comparison_json(comparison))
        return
    for cell in comparison.cells:
        _show(cell)


def _show(cell: Cell) -> None:
    out.print(f"\n{cell.city.name}", style="bold", markup=False)
    if isinstance(cell, FoundCell):
        section = cell.citation.section
        out.print(f"  {' '.join(cell.text.split())}", markup=False)
        out.print(f"  “{' '.join(cell.citation.quote.split())}”", style="dim", markup=False)
        out.print(f"  {section.citation} ({dates_of(section)})", style="dim", markup=False)
        return
    out.print(f"  {cell.text}", markup=False)
    for passage in cell.nearest:
        near = f"{passage.section.citation} {passage.section.heading}"
        out.print(f"  nearest: {near}", style="dim", markup=False)
    for scan in cell.scans:
        looked = ", ".join(f"{f.form} ({f.sections:,})" for f in scan.looked)
        out.print(f"  looked for: {looked}", style="dim", markup=False)
    if cell.scans:
        out.print(f"  in all {cell.scans[0].sections:,} sections", style="dim", markup=False)
