"""`permitbox refs`: what the sections of a city cite, where that leads, and why some lead nowhere."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

import typer

from appliance.commands.options import City, Json, city_of, err, out, print_json, run_in_house
from appliance.corpus.references import normalise_number
from appliance.corpus.resolution import Unresolved
from appliance.ports import CrossReference
from appliance.store.edges import PostgresEdges
from appliance.wiring import House

_BECAUSE = {
    Unresolved.NO_SUCH_SECTION: "the code, as it is held here, has no such section",
    Unresolved.SEVERAL: "more than one section fits",
    Unresolved.EXTERNAL_LAW: "the law of a state or of Congress, or a code that is not held",
    Unresolved.ORDINANCE_NOT_HELD: "an ordinance whose text is not held",
    Unresolved.NO_CONTAINER: "it stands in no such chapter, article or title",
}


def refs_command(
    city: City,
    unresolved: Annotated[
        bool, typer.Option("--unresolved", help="Only those that lead nowhere, with the reason.")
    ] = False,
    section: Annotated[
        str | None,
        typer.Option("--section", help="What this section cites, and what cites it: 28-105.1."),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the cross references of a city's code, and where each one leads.

    With --json one line each: {"from","to","text","kind","resolved","reason","start","end","candidates"}.
    """
    asked = city_of(city)
    number = None if section is None else normalise_number(section)
    show = _print_json if as_json else _print

    async def work(house: House) -> list[CrossReference]:
        await house.store.coverage(asked)
        return await PostgresEdges(house.pool).references(asked, number)

    references: list[CrossReference] = run_in_house(work)
    for reference in references:
        if reference.reason or not unresolved:
            show(reference)
    if not as_json:
        _sum_up(Counter(r.reason or "" for r in references))


def reference_json(reference: CrossReference) -> dict[str, Any]:
    """Return a reference as `permitbox refs --json` prints it."""
    return {
        "from": reference.source,
        "to": reference.target,
        "text": reference.text,
        "kind": reference.kind,
        "resolved": reference.target is not None,
        "reason": reference.reason,
        "start": reference.span.start,
        "end": reference.span.end,
        "candidates": list(reference.candidates),
    }


def _print_json(reference: CrossReference) -> None:
    print_json(reference_json(reference))


def _print(reference: CrossReference) -> None:
    text = " ".join(reference.text.split())
    if reference.reason is not None:
        because = _BECAUSE[Unresolved(reference.reason)]
        fits = f": {', '.join(reference.candidates)}" if reference.candidates else ""
        out.print(f"{reference.source_citation}: {text} — {because}{fits}", markup=False)
        return
    standing = reference.standing
    dead = f" ({standing})" if standing is not None and standing != "in_force" else ""
    out.print(
        f"{reference.source_citation}: {text} → {reference.target_citation}{dead}", markup=False
    )


def _sum_up(counts: Counter[str]) -> None:
    total = counts.total()
    err.print(f"{total:,} references, {counts['']:,} resolved")
    for reason, count in counts.most_common():
        if reason:
            err.print(f"  {count:>8,}  {_BECAUSE[Unresolved(reason)]}")
