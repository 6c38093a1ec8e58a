"""`permitbox answers`: one's own questions and answers, and what operators may count of all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any
from uuid import UUID

import typer

from appliance.commands.options import Json, out, print_json, run_in_house
from appliance.errors import BadRequest, NoSuchAnswer
from appliance.forms import own_answer_json, statistic_json
from appliance.owner_file import owner_of_home
from appliance.ports import AnswerStatistic
from appliance.wiring import House

answers_app = typer.Typer(
    help="Your own questions and answers, and counts of all.", no_args_is_help=True
)


def _id_of(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise BadRequest(
            f"{text[:80]!r} is not the id of an answer; `permitbox answers list` shows them."
        ) from None


async def _own(house: House, id_: UUID | None, limit: int) -> list[dict[str, Any]]:
    owner = owner_of_home(house.settings.home)
    kept = await house.trail.of_owner(owner.name, id_=id_, limit=limit)
    return [found for answer in kept if (found := own_answer_json(answer, owner))]


@answers_app.command("list")
def list_command(
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="How many.")] = 20,
    as_json: Json = False,
) -> None:
    """List what was asked here by this home's user, the newest first."""
    found: list[dict[str, Any]] = run_in_house(lambda house: _own(house, None, limit))
    if as_json:
        print_json(found)
        return
    for answer in found:
        line = f"{answer['id']}  {answer['asked_at'][:16]}  {answer['city']}  {answer['outcome']}"
        out.print(line, style="dim", markup=False)
        out.print(f"    {answer['question']}", markup=False)
    if not found:
        out.print("Nothing was asked here, or it was forgotten.")


@answers_app.command("show")
def show_command(id_: Annotated[str, typer.Argument(metavar="ID", help="An answer's id.")]) -> None:
    """Print one of one's own answers, as `permitbox ask --json` gave it."""
    wanted = _id_of(id_)
    found: list[dict[str, Any]] = run_in_house(lambda house: _own(house, wanted, 1))
    if not found:
        raise NoSuchAnswer
    print_json(found[0])


@answers_app.command("forget")
def forget_command(
    id_: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="An answer's id; --all without one.")
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="All of one's own answers.")] = False,
) -> None:
    """Delete one of one's own answers, or all."""
    if (id_ is None) is not all_:
        raise BadRequest("Name the id of one answer, or --all.")
    which = None if id_ is None else _id_of(id_)
    gone: int = run_in_house(
        lambda house: house.trail.forget(owner_of_home(house.settings.home).name, which)
    )
    out.print(f"{gone:,} answers forgotten.")


@answers_app.command("stats")
def stats_command(
    days: Annotated[int, typer.Option("--days", min=1, max=3650, help="Of the last days.")] = 30,
    as_json: Json = False,
) -> None:
    """Count answers by day, city and outcome, with their times; no text of a question is known."""
    counted: Sequence[AnswerStatistic] = run_in_house(lambda house: house.trail.statistics(days))
    if as_json:
        print_json([statistic_json(c) for c in counted])
        return
    for c in counted:
        kind = c.outcome if c.reason is None else f"{c.outcome} ({c.reason})"
        times = "" if c.p50_ms is None else f"p50 {c.p50_ms:,.0f} ms, p95 {c.p95_ms:,.0f} ms"
        out.print(
            f"{c.day}  {c.city:<28} {kind:<28} {c.answers:>6,}  {c.from_cache:,} kept  {times}"
        )
    if not counted:
        out.print("Nothing was asked in these days.")
