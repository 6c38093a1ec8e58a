"""`permitbox absent`: does anything in a city's code mention a thing?  Every section is read."""

from __future__ import annotations

from typing import Annotated

import typer

from appliance.absence import Scan, scan, sentence
from appliance.answers.routing import checked_question
from appliance.ask import searchable
from appliance.commands.options import (
    AsOf,
    City,
    Json,
    city_of,
    day_of,
    out,
    print_json,
    run_in_house,
)
from appliance.comparison_forms import scan_json
from appliance.wiring import House


def absent_command(
    things: Annotated[
        list[str],
        typer.Argument(help="The thing, or several names of one thing, as people say it."),
    ],
    city: City,
    as_of: AsOf = None,
    as_json: Json = False,
) -> None:
    """Say whether anything in the city's code mentions a thing, after reading all of it."""
    asked, where, day = [checked_question(t) for t in things], city_of(city), day_of(as_of)

    async def work(house: House) -> tuple[Scan, str]:
        coverage = await searchable(house.store, where)
        return await scan(house.store, where, asked, day), coverage.city.name

    scanned, name = run_in_house(work)
    if as_json:
        print_json(scan_json(scanned, name))
        return
    _show(scanned, name)


def _show(scanned: Scan, name: str) -> None:
    out.print(sentence(scanned, name), markup=False)
    out.print(
        "Looked for: " + ", ".join(f"{f.form} ({f.sections:,})" for f in scanned.looked),
        markup=False,
        style="dim",
    )
    for one in scanned.mentioned:
        out.print(f"\n{one.place.citation} — {one.place.heading}", markup=False)
        if one.words:
            out.print(f"  … {' '.join(one.words.split())} …", markup=False, style="dim")
    if (more := scanned.places - len(scanned.mentioned)) > 0:
        out.print(f"\n… and {more:,} more sections", style="dim")
