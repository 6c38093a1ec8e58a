"""`permitbox search`: the passages that a question finds, and why they stand where they do."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import typer

from appliance.answers.routing import checked_question
from appliance.ask import searchable
from appliance.commands.options import (
    AsOf,
    City,
    Json,
    With,
    city_of,
    day_of,
    err,
    having_of,
    out,
    print_json,
    run_in_house,
)
from appliance.domain import LEGS, Leg, Query
from appliance.errors import BadRequest
from appliance.forms import (
    did_you_mean,
    did_you_mean_json,
    explanation_json,
    hits_json,
    read_as_json,
)
from appliance.naming import missing
from appliance.retrieve import PRODUCT, Retrieved, retrieve
from appliance.wiring import House


def search_command(
    query: Annotated[str, typer.Argument(help="The question, or words, or a section number.")],
    city: City,
    k: Annotated[int, typer.Option("--k", min=1, max=100, help="How many passages.")] = 10,
    legs: Annotated[
        str, typer.Option("--legs", help="Which legs search: any of dense,lexical,named.")
    ] = ",".join(LEGS),
    having: With = None,
    as_of: AsOf = None,
    rerank: Annotated[
        bool, typer.Option("--rerank/--no-rerank", help="Let a reranker read the best of them.")
    ] = PRODUCT.rerank,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say what each leg gave, by which index, and why.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show the passages that a question finds, best first."""
    asked = Query(
        text=checked_question(query),
        city=city_of(city),
        as_of=day_of(as_of),
        having=having_of(having or ()),
    )
    recipe = replace(PRODUCT, legs=parse_legs(legs), rerank=rerank)

    async def work(house: House) -> Retrieved:
        await searchable(house.store, asked.city)
        return await retrieve(house.store, house.encoder, asked, k, recipe=recipe)

    found: Retrieved = run_in_house(work)
    hits = hits_json(found.passages, asked.as_of)
    if explain:
        for hit, passage in zip(hits, found.passages, strict=True):
            hit["explain"] = explanation_json(passage, found)
    _remark(found)
    if as_json:
        absent = did_you_mean_json(missing(found.named))
        print_json({"hits": hits, "did_you_mean": absent, "read_as": read_as_json(found)})
        return
    for hit in hits:
        _show(hit)


def parse_legs(text: str) -> tuple[Leg, ...]:
    """Return the legs that "dense,named" names.  Raises BadRequest."""
    names = [n.strip() for n in text.split(",") if n.strip()]
    if not names or any(n not in LEGS for n in names):
        raise BadRequest(f"--legs {text!r} must name some of {', '.join(LEGS)}.")
    return tuple(leg for leg in LEGS if leg in names)


def _remark(found: Retrieved) -> None:
    """Say on standard error what was read otherwise than it was written, and what does not exist."""
    for correction in found.corrections:
        err.print(f"read {correction.written} as {correction.read}", style="dim", markup=False)
    for named in missing(found.named):
        err.print(did_you_mean(named), style="yellow", markup=False)


def _show(hit: dict[str, Any]) -> None:
    out.print(
        f"\n{hit['rank']}. {hit['section']} — {hit['heading']}  ({hit['score']})", markup=False
    )
    out.print(hit["text"].strip(), markup=False)
    for place in hit["also"]:
        line = f"the same in {place['section']} — {place['heading']}"
        out.print(line, style="dim", markup=False)
    if "explain" in hit:
        for leg, seen in hit["explain"]["legs"].items():
            out.print(f"{leg}: {_pairs(seen)}", style="dim", markup=False)
        out.print(f"features: {_pairs(hit['explain']['features'])}", style="dim", markup=False)
    for law in hit["warnings"]:
        when = law["effective"] or "a day that it does not state"
        out.print(f"amended by {law['law']}, effective {when}", style="yellow", markup=False)


def _pairs(values: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())
