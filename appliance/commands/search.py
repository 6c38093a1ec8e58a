"""`permitbox search`: the passages that a question finds, and why they stand where they do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated, Any

import typer

from appliance.answers.routing import checked_question
from appliance.ask import searchable
from appliance.commands.options import (
    AsOf,
    Json,
    With,
    cities_of,
    day_of,
    err,
    having_of,
    out,
    print_json,
    run_in_house,
)
from appliance.domain import LEGS, CityId, Leg, Query
from appliance.errors import BadRequest, EmptyIndex
from appliance.forms import (
    did_you_mean,
    explanation_json,
    hits_json,
    said_json,
)
from appliance.naming import missing
from appliance.retrieve import PRODUCT, Recipe, Retrieved
from appliance.several import best_of, retrieve_in
from appliance.wiring import House


def search_command(
    query: Annotated[str, typer.Argument(help="The question, or words, or a section number.")],
    city: Annotated[
        str,
        typer.Option("--city", help="A city's id, several with commas between them, or all."),
    ],
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
    text, day, wanted = checked_question(query), day_of(as_of), having_of(having or ())
    recipe = replace(Recipe.of(parse_legs(legs)), rerank=rerank)

    async def work(house: House) -> dict[CityId, Retrieved]:
        cities = cities_of(city, [c.city.id for c in await house.store.cities() if c.usable])
        for one in cities:
            await searchable(house.store, one)
        if not cities:
            raise EmptyIndex("No city of this box can be searched; `permitbox cities` says why.")
        asked = Query(text=text, city=cities[0], as_of=day, having=wanted)
        return await retrieve_in(house.store, house.encoder, asked, cities, k, recipe=recipe)

    found: dict[CityId, Retrieved] = run_in_house(work)
    best = best_of(found, k)
    hits = hits_json([passage for passage, _ in best], day)
    if explain:
        for hit, (passage, of_city) in zip(hits, best, strict=True):
            hit["explain"] = explanation_json(passage, of_city)
    _remark(found.values())
    if as_json:
        print_json({"hits": hits} | said_json(found.values()))
        return
    for hit in hits:
        _show(hit, several=len(found) > 1)


def parse_legs(text: str) -> tuple[Leg, ...]:
    """Return the legs that "dense,named" names.  Raises BadRequest."""
    names = [n.strip() for n in text.split(",") if n.strip()]
    if not names or any(n not in LEGS for n in names):
        raise BadRequest(f"--legs {text!r} must name some of {', '.join(LEGS)}.")
    return tuple(leg for leg in LEGS if leg in names)


def _remark(found: Iterable[Retrieved]) -> None:
    """Say on standard error what was read otherwise than it was written, and what does not exist."""
    every = list(found)
    for written, read in said_json(every)["read_as"].items():
        err.print(f"read {written} as {read}", style="dim", markup=False)
    if all(missing(f.named) for f in every):
        for named in missing(every[0].named):
            err.print(did_you_mean(named), style="yellow", markup=False)


def _show(hit: dict[str, Any], *, several: bool) -> None:
    place = f"{hit['city']}: " if several else ""
    out.print(
        f"\n{hit['rank']}. {place}{hit['section']} — {hit['heading']}  ({hit['score']})",
        markup=False,
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
