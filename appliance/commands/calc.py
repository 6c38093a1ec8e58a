"""`permitbox calc`: calculate by a city's own rules, and decide which rules may be used for that.

`permitbox calc --city ID "question"` is the command `run`; the others look after the calculators.
"""

from __future__ import annotations

import getpass
from collections.abc import Sequence
from datetime import date
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from appliance.answers.routing import checked_question
from appliance.ask import searchable
from appliance.calculate import (
    Calculation,
    Checked,
    approve,
    calculate,
    check,
    held,
    pick,
    propose_for,
)
from appliance.calculation_json import calculation_json, calculator_json
from appliance.calculators.calculator import Calculator, from_json
from appliance.calculators.compute import described
from appliance.commands.options import City, Json, city_of, err, out, print_json, run_in_house
from appliance.errors import BadRequest
from appliance.ports import CalculatorState, StoredCalculator
from appliance.store.calculators import PostgresCalculators
from appliance.wiring import House


class _Group(TyperGroup):
    """Commands, and a question that needs none: what begins with no command is one for `run`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put `run` before anything that is no command and no call for help (`ctx` is typer's own)."""
        if args and args[0] not in self.commands and args[0] != "--help":
            args = ["run", *args]
        return super().parse_args(ctx, args)


calc_app = typer.Typer(
    cls=_Group,
    help="Calculate fees, parking spaces and areas by a city's own rules, each step with its citation.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Id = Annotated[int, typer.Argument(help="The calculator's number, as `calc list` prints it.")]


# ------------------------------------------------------------------ calculating


@calc_app.command("run")
def run_command(
    question: Annotated[str, typer.Argument(help="What to calculate, in your own words.")],
    city: City,
    given: Annotated[
        list[str] | None,
        typer.Option("--input", help="An input by name: seats=360, lot_width=60ft, district=R1-B."),
    ] = None,
    calculator: Annotated[
        int | None, typer.Option("--calculator", help="Use this one, whatever the question says.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Calculate by the rule that the question means; `calc --city ID "question"` does the same."""
    asked, named = checked_question(question), inputs_of(given or ())

    async def work(house: House) -> Calculation:
        of = city_of(city)
        await searchable(house.store, of)
        store = PostgresCalculators(house.pool)
        picked = await pick(store, of, asked, named, calculator=calculator)
        return await calculate(store, of, picked, today=date.today())

    found: Calculation = run_in_house(work)
    if as_json:
        print_json(calculation_json(found))
        return
    _show_result(calculation_json(found))


def inputs_of(texts: Sequence[str]) -> dict[str, str]:
    """Return the inputs that "name=value" options give.  Raises BadRequest."""
    given: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise BadRequest(f"--input {text!r} must be a name and a value, like seats=360.")
        given[name.strip()] = value.strip()
    return given


def _show_result(found: dict[str, Any]) -> None:
    out.print(f"{found['text']}    {found['title']}", markup=False, style="bold")
    for step in found["steps"]:
        out.print(f"  {step['text']}    [{step['citation']['section']}]", markup=False)
    citation = found["citation"]
    quote = " ".join(citation["quote"].split())
    out.print(f"“{quote}” — {citation['section']}, {citation['dates']}", markup=False, style="dim")
    for name in found["unused"]:
        err.print(f"not an input of this calculator: {name}", style="yellow", markup=False)
    if found["unread"]:
        err.print(f"the rule goes on, unread: {found['unread']}", style="yellow", markup=False)
    for other in found["others"]:
        line = f"or calculator {other['calculator']}: {other['title']}"
        err.print(line, style="dim", markup=False)


# ------------------------------------------------------------------ looking after them


@calc_app.command("list")
def list_command(
    city: City,
    proposed: Annotated[
        bool, typer.Option("--proposed", help="Those that wait for a person.")
    ] = False,
    all_: Annotated[bool, typer.Option("--all", help="Of every state.")] = False,
    as_json: Json = False,
) -> None:
    """List a city's calculators: those in use and those disabled, or those that wait."""
    states: list[CalculatorState] = ["proposed"] if proposed else ["approved", "disabled"]
    if all_:
        states = ["approved", "disabled", "proposed", "rejected"]

    async def work(house: House) -> list[StoredCalculator]:
        await house.store.coverage(city_of(city))
        return list(await PostgresCalculators(house.pool).listed(city_of(city), states))

    rows = [calculator_json(s, from_json(s.form)) for s in run_in_house(work)]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        takes = ", ".join(i["name"] for i in row["inputs"])
        out.print(
            f"{row['id']:>6}  {row['state']:<9} {row['title']}  ({takes}) → {row['unit']}  "
            f"[{row['section']}]",
            markup=False,
        )
        if row["because"]:
            out.print(f"        {row['because']}", style="yellow", markup=False)
    err.print(f"{len(rows):,} calculators")


@calc_app.command("show")
def show_command(calculator: Id, as_json: Json = False) -> None:
    """Show what a calculator takes and does, beside the words of the law that it was read from."""

    async def work(house: House) -> StoredCalculator:
        return await PostgresCalculators(house.pool).one(calculator)

    stored: StoredCalculator = run_in_house(work)
    form = from_json(stored.form)
    if as_json:
        print_json(calculator_json(stored, form) | {"form": stored_form(stored)})
        return
    _show(stored, form)


def stored_form(stored: StoredCalculator) -> object:
    """Return the stored data of a calculator as JSON values."""
    import json

    return json.loads(stored.form)


def _show(stored: StoredCalculator, form: Calculator) -> None:
    out.print(f"{stored.id}  {stored.state}  {form.title}", markup=False, style="bold")
    if stored.because:
        out.print(stored.because, style="yellow", markup=False)
    for over in form.context:
        out.print(f"  under: {over}", style="dim", markup=False)
    for wanted in form.inputs:
        out.print(f"  takes: {described(wanted)}", markup=False)
    for step in form.steps:
        facts = {k: getattr(step, k) for k in step.__slots__ if k not in ("kind", "source")}
        said = ", ".join(f"{k} {v}" for k, v in facts.items() if v not in (None, (), ""))
        out.print(f"  {step.kind}: {said}    [{step.source + 1}]", markup=False)
    for n, binding in enumerate(form.bindings, start=1):
        quote = " ".join(binding.quote.split())
        out.print(f"  [{n}] {binding.citation}: “{quote}”", markup=False)
    if form.unread:
        out.print(f"  unread: {form.unread}", style="yellow", markup=False)


@calc_app.command("propose")
def propose_command(
    city: City,
    section: Annotated[
        str | None, typer.Option("--section", help="Only this record, by its external id.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Look for rules that can be computed in a city's law; a person decides which are used."""

    async def work(house: House) -> tuple[int, int]:
        of = city_of(city)
        await house.store.coverage(of)
        return await propose_for(PostgresCalculators(house.pool), of, external_id=section)

    found, new = run_in_house(work)
    if as_json:
        print_json({"city": city, "found": found, "new": new})
        return
    out.print(f"{found:,} found, {new:,} new; `permitbox calc list --city {city} --proposed`")


@calc_app.command("approve")
def approve_command(calculator: Id) -> None:
    """Let a calculator answer questions, after reading it beside the law (`calc show`)."""

    async def work(house: House) -> Calculator:
        store = PostgresCalculators(house.pool)
        return await approve(store, calculator, who=_who(), today=date.today())

    form: Calculator = run_in_house(work)
    out.print(f"{calculator} approved: {form.title}", markup=False)


@calc_app.command("reject")
def reject_command(calculator: Id) -> None:
    """Keep a calculator from being used, and from being proposed again."""

    async def work(house: House) -> Calculator:
        store = PostgresCalculators(house.pool)
        one = held(await store.one(calculator))
        await store.decide(calculator, "rejected", who=_who())
        return one.calculator

    form: Calculator = run_in_house(work)
    out.print(f"{calculator} rejected: {form.title}", markup=False)


def _who() -> str:
    """Return the name of the person at this machine, as the system knows it."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user has no name
        return "unknown"


@calc_app.command("check")
def check_command(
    city: Annotated[str | None, typer.Option("--city", help="Only this city's.")] = None,
    as_json: Json = False,
) -> None:
    """Look up the words of every calculator in use; those whose words have changed are disabled."""

    async def work(house: House) -> dict[str, list[Checked]]:
        cities = (
            [c.city.id for c in await house.store.cities()] if city is None else [city_of(city)]
        )
        store = PostgresCalculators(house.pool)
        return {c: await check(store, c, today=date.today()) for c in cities}

    found: dict[str, list[Checked]] = run_in_house(work)
    rows = [
        {"city": c, "id": r.id, "title": r.title, "outcome": r.outcome, "because": r.because}
        for c, results in found.items()
        for r in results
    ]
    if as_json:
        print_json(rows)
    else:
        for row in rows:
            why = f": {row['because']}" if row["because"] else ""
            out.print(f"{row['id']:>6}  {row['outcome']:<9} {row['title']}{why}", markup=False)
    if any(row["outcome"] == "disabled" for row in rows):
        raise typer.Exit(1)
