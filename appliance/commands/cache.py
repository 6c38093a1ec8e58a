"""`permitbox cache`: how many answers are kept for whoever asks the same, and forgetting them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from appliance.commands.options import Json, city_of, out, print_json, run_in_house
from appliance.ports import CacheCount

cache_app = typer.Typer(
    help="Answers that are kept for whoever asks the same.", no_args_is_help=True
)


@cache_app.command("stats")
def stats_command(as_json: Json = False) -> None:
    """Count the kept answers by city; their text cannot be read without asking."""
    counts: Sequence[CacheCount] = run_in_house(lambda house: house.cache.counts())
    if as_json:
        print_json(
            [
                {
                    "city": c.city,
                    "answers": c.answers,
                    "bytes": c.bytes,
                    "oldest": c.oldest.isoformat(),
                }
                for c in counts
            ]
        )
        return
    for c in counts:
        out.print(f"{c.city:<28} {c.answers:>6,} answers {c.bytes:>10,} bytes  since {c.oldest:%F}")
    if not counts:
        out.print("No answer is kept.")


@cache_app.command("clear")
def clear_command(
    city: Annotated[str | None, typer.Argument(help="The city's id; all without one.")] = None,
) -> None:
    """Forget the kept answers of a city, or all of them."""
    which = None if city is None else city_of(city)
    gone: int = run_in_house(lambda house: house.cache.clear(which))
    out.print(f"{gone:,} answers forgotten.")
