"""What the commands share: their common options, and the house around a piece of work."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Sequence
from datetime import date
from typing import Annotated, Any

import typer

from appliance.corpus.entities import parse_having
from appliance.domain import CityId, Having, parse_city_id
from appliance.errors import BadRequest
from appliance.settings import Settings, read_settings
from appliance.terminal import PlainConsole
from appliance.wiring import House, open_house
from models.manifest import Profile, UnknownProfile, read_manifest

out = PlainConsole(soft_wrap=True, highlight=False)
err = PlainConsole(stderr=True, soft_wrap=True, highlight=False)

Json = Annotated[bool, typer.Option("--json", help="Print JSON for a script.")]
City = Annotated[str, typer.Option("--city", help="The city's id, like new-york-ny.")]
AsOf = Annotated[
    str | None, typer.Option("--as-of", help="The day whose law applies, like 2026-07-01.")
]
ProfileName = Annotated[
    str | None, typer.Option("--profile", help="A hardware profile; the box's own without it.")
]
With = Annotated[
    list[str] | None,
    typer.Option("--with", help="Only sections that name this: district=R-1, permit=fence."),
]


def run_in_house(
    work: Callable[[House], Coroutine[Any, Any, Any]], settings: Settings | None = None
) -> Any:
    """Open the house, do the work in it, close it; Ctrl-C is exit 130."""

    async def whole() -> Any:
        async with open_house(settings or read_settings()) as house:
            return await work(house)

    try:
        return asyncio.run(whole())
    except KeyboardInterrupt:
        err.print("permitbox: stopped; what was done is kept.")
        raise typer.Exit(130) from None


def profile_of(name: str | None) -> Profile:
    """Return the hardware profile that an option names, or the box's own.  Raises BadRequest."""
    try:
        return read_manifest().profile(name or read_settings().profile)
    except UnknownProfile as error:
        raise BadRequest(str(error)) from error


def city_of(text: str) -> CityId:
    """Return the city id that an option gives.  Raises BadRequest."""
    try:
        return parse_city_id(text)
    except ValueError as error:
        raise BadRequest(f"{error}; `permitbox cities` lists the cities of this box.") from None


def cities_of(text: str, held: Sequence[CityId]) -> tuple[CityId, ...]:
    """Return the cities that "a-xx,b-xx" names, or those held for "all".  Raises BadRequest."""
    if text.strip() == "all":
        return tuple(held)
    return tuple(dict.fromkeys(city_of(part.strip()) for part in text.split(",")))


def day_of(text: str | None, option: str = "--as-of") -> date:
    """Return the day that an option gives, today without one.  Raises BadRequest."""
    if text is None:
        return date.today()
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise BadRequest(f"{option} {text!r} is not a date like 2026-07-01.") from None


def having_of(texts: Sequence[str]) -> tuple[Having, ...]:
    """Return the filters that the options give.  Raises BadRequest."""
    try:
        return tuple(map(parse_having, texts))
    except ValueError as error:
        raise BadRequest(f"--with {error}.") from None


def print_json(value: object) -> None:
    """Print one JSON value on one line."""
    print(json.dumps(value, ensure_ascii=False))
