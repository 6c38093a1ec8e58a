"""`permitbox plan`: does a profile fit its card, and how fast will it be?  The sum, line by line."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.table import Table

from appliance.commands.options import Json, ProfileName, err, out, print_json, profile_of
from models.plan import Load, Plan, own_load, plan
from models.shapes import GIB

Users = Annotated[
    int | None,
    typer.Option("--users", min=1, max=1024, help="At once; the profile's own number."),
]
Context = Annotated[
    int | None,
    typer.Option("--context", min=256, max=1_000_000, help="Tokens of prompt and reply together."),
]


def plan_command(
    profile: ProfileName = None,
    users: Users = None,
    context: Context = None,
    as_json: Json = False,
) -> None:
    """Work out whether language model, encoder and reranker fit; exit 1 if they do not."""
    chosen = profile_of(profile)
    own = own_load(chosen)
    load = Load(users=users or own.users, context=context or own.context)
    made = plan(chosen, load)
    if as_json:
        print_json(plan_json(made))
    else:
        _show(made)
    if not made.fits:
        err.print(f"permitbox: {made.refusal}", markup=False)
        raise typer.Exit(1)


def plan_json(made: Plan) -> dict[str, Any]:
    """Return a plan as a script takes it; bytes, tokens a second, seconds."""
    speed = made.speed
    return {
        "profile": made.profile,
        "users": made.load.users,
        "context": made.load.context,
        "fits": made.fits,
        "total_bytes": made.total_bytes,
        "card_bytes": made.card_bytes,
        "parts": [{"name": p.name, "bytes": p.bytes, "why": p.why} for p in made.parts],
        "kv_cache": made.kv,
        "kv_tokens": made.kv_tokens,
        "encoder_on": made.helpers,
        "vllm_args": list(made.arguments),
        "smallest_change": made.smallest_change,
        "speed": {
            "decode_one": list(speed.decode_one),
            "decode_all": list(speed.decode_all),
            "prefill": list(speed.prefill),
            "first_token_s": list(speed.first_token_s),
        },
    }


def _show(made: Plan) -> None:
    table = Table("part", "GiB", "why", title=f"{made.profile}: {_load(made.load)}")
    table.columns[1].justify = "right"
    for part in made.parts:
        table.add_row(part.name, f"{part.bytes / GIB:.2f}", part.why)
    table.add_section()
    table.add_row("all", f"{made.total_bytes / GIB:.2f}", f"of {made.card_bytes / GIB:.2f}")
    out.print(table)
    speed = made.speed
    for what, (low, high), unit in (
        ("one user", speed.decode_one, "tokens/s"),
        (f"{made.load.users} users together", speed.decode_all, "tokens/s"),
        ("prefill", speed.prefill, "tokens/s"),
        ("first token of a prompt of 2,000", speed.first_token_s, "s"),
    ):
        out.print(f"{what}: {low:,.1f} to {high:,.1f} {unit} (a sum, not measured)", markup=False)
    out.print(f"a server for this load: {' '.join(made.arguments)}", markup=False, style="dim")


def _load(load: Load) -> str:
    return f"{load.users} at once, {load.context:,} tokens each"
