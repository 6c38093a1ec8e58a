"""`permitbox audit`: is what the box holds of a city fit to be searched, and what is missing of it?

Prints what the audit flow finds; the exit code is for deployments.
"""

from __future__ import annotations

import getpass
import shlex
import socket
from collections.abc import Sequence
from datetime import date
from typing import Annotated, Any

import typer

from appliance.audit import SETTABLE, Audited, audit, clear, override
from appliance.commands.options import Json, city_of, err, out, print_json, run_in_house
from appliance.domain import CityId, State
from appliance.errors import BadRequest, EmptyIndex
from appliance.forms import audit_json
from appliance.wiring import House


def audit_command(
    cities: Annotated[list[str] | None, typer.Argument(help="City ids; all without any.")] = None,
    set_to: Annotated[
        str | None, typer.Option("--set", help="Set the state against the audit: live, say.")
    ] = None,
    because: Annotated[
        str, typer.Option("--because", help="Why; kept and shown with the city.")
    ] = "",
    take_back: Annotated[
        bool, typer.Option("--clear", help="Take back what was set; the audit counts again.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Decide for each city whether it can be searched; exit 1 if one cannot."""
    wanted = [city_of(name) for name in cities or ()]
    state = _state(set_to)
    if (state is not None or take_back) and len(wanted) != 1:
        raise BadRequest("--set and --clear work on one city; name it.")
    if state is not None and take_back:
        raise BadRequest("Either --set a state or --clear it.")

    async def work(house: House) -> list[Audited]:
        audits, today = house.loader.audits, date.today()
        if take_back:
            return [await clear(audits, wanted[0], today)]
        if state is not None:
            return [
                await override(audits, wanted[0], state, because=because, who=_who(), today=today)
            ]
        return await audit(audits, wanted or await _all(house), today)

    audited: list[Audited] = run_in_house(work)
    if as_json:
        print_json({"cities": [audit_json(a) for a in audited]})
    else:
        _print(audited)
    if not all(a.state.searchable for a in audited):
        raise typer.Exit(1)


def _state(name: str | None) -> State | None:
    if name is None:
        return None
    if name not in [s.value for s in SETTABLE]:
        names = ", ".join(s.value for s in SETTABLE)
        raise BadRequest(f"--set {shlex.quote(name)} is no state that can be set: {names}.")
    return State(name)


def _who() -> str:
    """Return who sits at this machine, for the log of overrides."""
    return f"{getpass.getuser()}@{socket.gethostname()}"


async def _all(house: House) -> list[CityId]:
    held = await house.store.cities()
    if not held:
        raise EmptyIndex("Nothing has been ingested yet; `permitbox ingest PATH` loads a code.")
    return [c.city.id for c in held]


# ------------------------------------------------------------------ for people


def _print(audited: Sequence[Audited]) -> None:
    for each in audited:
        _print_one(each)
    worst = [a for a in audited if not a.state.searchable]
    searchable = len(audited) - len(worst)
    out.print(f"\n{searchable} of {len(audited)} cities can be searched.")


_STYLES = {State.LIVE: "green", State.LIMITED: "yellow"}


def _print_one(audited: Audited) -> None:
    facts = audit_json(audited)
    style = _STYLES.get(audited.state, "bold red")
    out.print(f"\n[{style}]{audited.state.upper():<12}[/]", end=" ")
    out.print(_line(facts), markup=False)
    out.print(f"  {audited.verdict.coverage}", markup=False)
    for finding in audited.verdict.findings:
        out.print(f"  - {finding.reason}", markup=False)
    for fix in dict.fromkeys(f.fix for f in audited.verdict.findings):
        out.print(f"    mend: {fix}", markup=False, style="dim")
    if audited.coverage.audit is not None and audited.coverage.audit.warning:
        err.print(
            f"{facts['city']}: {audited.coverage.audit.warning}", style="bold red", markup=False
        )


def _line(facts: dict[str, Any]) -> str:
    answered = sum(1 for p in facts["probes"] if p["hits"])
    return (
        f"{facts['city']:<26} {facts['documents']:>7,} documents {facts['in_force']:>7,} sections "
        f"in force {facts['chunks']:>7,} chunks {facts['rejected']:>5,} rejected  "
        f"probes {answered}/{len(facts['probes'])}  newest {facts['newest'] or 'undated'}"
    )
