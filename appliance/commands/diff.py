"""`permitbox diff`: the sections of a city that were added, changed, removed or renumbered."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Annotated, Any

import typer

from appliance.commands.options import Json, city_of, day_of, out, print_json, run_in_house
from appliance.corpus.versions import Changes, Entry, Pair, word_changes
from appliance.diff import Difference, difference
from appliance.wiring import House

# Of each kind so many are printed for a person; a first ingest adds thousands.
_SHOWN = 50


def diff_command(
    city: Annotated[str, typer.Argument(help="The city's id, like new-york-ny.")],
    since: Annotated[
        str | None,
        typer.Option("--since", help="The first day of the changes; without it, the last ingest."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show which sections of a city were added, changed, removed or renumbered."""
    chosen = city_of(city)
    day = None if since is None else day_of(since, "--since")

    async def work(house: House) -> Difference:
        await house.store.coverage(chosen)
        return await difference(house.history, chosen, since=day, today=date.today())

    found: Difference = run_in_house(work)
    if as_json:
        print_json({"city": chosen} | difference_json(found))
        return
    _print(found)


def difference_json(found: Difference) -> dict[str, Any]:
    """Return the JSON form of a difference."""
    changes = found.changes
    return {
        "since": found.since.isoformat() if found.since else None,
        "basis": found.basis,
        "added": [_entry_json(e) for e in changes.added],
        "changed": [_changed_json(p) for p in changes.changed],
        "removed": [_entry_json(e) for e in changes.removed],
        "renumbered": [
            {"from": _entry_json(p.before), "to": _entry_json(p.after), "changes": _words(p)}
            for p in changes.renumbered
        ],
    }


def _entry_json(entry: Entry) -> dict[str, Any]:
    return {
        "external_id": entry.external_id,
        "citation": entry.citation,
        "number": entry.number,
        "heading": entry.heading,
        "standing": entry.standing,
    }


def _changed_json(pair: Pair) -> dict[str, Any]:
    return _entry_json(pair.after) | {"changes": _words(pair)}


def _words(pair: Pair) -> str:
    """Return what changed in words: in the text, else in the heading or the standing."""
    before, after = pair.before, pair.after
    if before.text != after.text:
        return word_changes(before.text, after.text)
    if before.heading != after.heading:
        return word_changes(before.heading, after.heading)
    return "" if before.standing == after.standing else f"{before.standing} -> {after.standing}"


def _print(found: Difference) -> None:
    changes = found.changes
    out.print(_between(found), markup=False)
    _print_list("added", "+", [_name(e) for e in changes.added])
    _print_list("removed", "-", [_name(e) for e in changes.removed])
    moved = [f"{_name(p.before)} is now {_name(p.after)}" for p in changes.renumbered]
    _print_list("renumbered", ">", moved)
    _print_list("changed", "~", [f"{_name(p.after)}\n    {_words(p)}" for p in changes.changed])
    out.print(_counts(changes), markup=False)


def _between(found: Difference) -> str:
    if found.basis == "law in force":
        return f"The law in force before {found.since}, and today's:"
    if found.basis == "held before":
        return f"What the box held before {found.since}, and what it holds now:"
    if found.since is None:
        return "The city was read for the first time:"
    return f"Changed by the last ingest (what was held at {found.since:%Y-%m-%d %H:%M}, and now):"


def _print_list(kind: str, mark: str, lines: Sequence[str]) -> None:
    for line in lines[:_SHOWN]:
        out.print(f"{mark} {line}", markup=False)
    if len(lines) > _SHOWN:
        out.print(
            f"  … and {len(lines) - _SHOWN:,} more {kind}; --json lists them all", markup=False
        )


def _name(entry: Entry) -> str:
    heading = entry.heading
    return heading if entry.citation in heading else f"{entry.citation} {heading}"


def _counts(changes: Changes) -> str:
    return (
        f"{len(changes.added):,} added, {len(changes.changed):,} changed, "
        f"{len(changes.removed):,} removed, {len(changes.renumbered):,} renumbered"
    )
