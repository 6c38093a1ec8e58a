"""The API's routes: each reads a request, calls one flow and returns its JSON."""

from __future__ import annotations

import time
from datetime import date
from typing import Annotated, Any

import anyio
from fastapi import APIRouter, Path, Query
from fastapi.responses import JSONResponse, Response, StreamingResponse
from prometheus_client import CONTENT_TYPE_LATEST

from appliance.answers.routing import checked_question
from appliance.ask import drain, searchable
from appliance.domain import LEGS, CityId, SectionId, Span, StoredSection
from appliance.domain import Query as Wanted
from appliance.errors import BadRequest, EmptyIndex, StoreError
from appliance.forms import hits_json, outcome_json, said_json
from appliance.ports import Coverage, Searcher
from appliance.retrieve import Recipe
from appliance.several import best_of, retrieve_in
from appliance.web import stream
from appliance.web.asker import Asker, remembered
from appliance.web.desk import AtDesk, Desk, city_named, having_named
from appliance.web.schemas import (
    AnswerOut,
    AskBody,
    CitiesOut,
    CoverageOut,
    Day,
    HealthOut,
    HitsOut,
    Legs,
    ModelOut,
    Problem,
    SectionOut,
    coverage_out,
    section_out,
)

# A probe that waits longer than this has its answer: no.
_HEALTH_SECONDS = 3.0

_PROBLEM: dict[str, Any] = {
    "model": Problem,
    "content": {"application/problem+json": {}},
}
PROBLEMS: dict[int | str, dict[str, Any]] = {
    404: _PROBLEM | {"description": "No such city or section"},
    409: _PROBLEM | {"description": "Nothing has been ingested yet"},
    413: _PROBLEM | {"description": "The body is too large"},
    422: _PROBLEM | {"description": "The request does not fit"},
    503: _PROBLEM
    | {"description": "The database does not answer, or the city is kept from being searched"},
}

routes = APIRouter(responses=PROBLEMS)
probes = APIRouter(tags=["probes"])

SectionNumber = Annotated[
    int, Path(ge=1, lt=2**63, description="`section_id` of a hit or a citation.")
]
Start = Annotated[int | None, Query(ge=0, description="First code point of the quote.")]
End = Annotated[int | None, Query(ge=0, description="Code point after the quote.")]


# ------------------------------------------------------------------ asking


@routes.post(
    "/api/chat",
    tags=["ask"],
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "Server-sent events: `passages`, `token`, `citation`, then `answer` "
            "(the JSON of `/api/ask`; what was answered before has neither passages nor tokens) "
            "and perhaps `support` (a model's opinion on one of its claims), "
            "or `error` (a problem).",
            "content": {
                "text/event-stream": {
                    "schema": {"type": "string"},
                    "example": 'event: token\ndata: {"text": "A fence", "demo": false}\n\n',
                }
            },
        }
    },
)
async def chat(body: AskBody, desk: AtDesk, asker: Asker) -> Response:
    """Answer a question as it comes about."""
    response = await stream.opened(desk.answer(body.asked(), asker))
    return remembered(response, asker, days=desk.house.settings.answer_days)


@routes.post("/api/ask", tags=["ask"], responses={200: {"model": AnswerOut}})
async def ask_whole(body: AskBody, desk: AtDesk, asker: Asker) -> Response:
    """Answer a question in one piece."""
    answer = await drain(desk.answer(body.asked(), asker))
    response = JSONResponse(outcome_json(answer))
    return remembered(response, asker, days=desk.house.settings.answer_days)


@routes.get("/api/search", tags=["ask"], responses={200: {"model": HitsOut}})
async def search(
    desk: AtDesk,
    city: Annotated[
        str,
        Query(
            examples=["alder-falls-xx"],
            description="A city's id, several with commas between them, or `all`.",
        ),
    ],
    q: Annotated[str, Query(examples=["fence height front yard"])],
    k: Annotated[int, Query(ge=1, le=100)] = 10,
    legs: Annotated[Legs, Query()] = LEGS,
    as_of: Annotated[Day, Query()] = None,
    having: Annotated[
        list[str],
        Query(
            alias="with",
            description="Only sections that name all of these.",
            examples=["district=R-1"],
        ),
    ] = [],  # noqa: B006  (FastAPI copies it)
) -> JSONResponse:
    """Return the passages that a question finds, best first; each city is searched for itself."""
    store, encoder = desk.house.store, desk.house.encoder
    text, wanted = checked_question(q), having_named(having)
    cities = await _cities(desk, city)
    day = as_of or date.today()
    began = time.perf_counter()
    asked = Wanted(text=text, city=cities[0], as_of=day, having=wanted)
    found = await retrieve_in(store, encoder, asked, cities, k, recipe=Recipe.of(legs))
    best = [passage for passage, _ in best_of(found, k)]
    desk.metrics.searched(time.perf_counter() - began, len(best))
    return JSONResponse({"hits": hits_json(best, day)} | said_json(found.values()))


async def _cities(desk: Desk, named: str) -> list[CityId]:
    """Return the cities that "a-xx,b-xx" or "all" names, each of which can be searched."""
    if named.strip() == "all":
        usable = [c.city.id for c in await desk.house.store.cities() if c.usable]
        if not usable:
            raise EmptyIndex("No city of this box can be searched; `permitbox cities` says why.")
        return usable
    cities = [city_named(part) for part in named.split(",")]
    for one in cities:
        await searchable(desk.house.store, one)
    return cities


# ------------------------------------------------------------------ what is held


@routes.get("/api/cities", tags=["code"])
async def cities(desk: AtDesk) -> CitiesOut:
    """Return the cities of this box, by id."""
    return CitiesOut(cities=tuple(coverage_out(c) for c in await desk.house.store.cities()))


@routes.get("/api/coverage/{city}", tags=["code"])
async def coverage(city: str, desk: AtDesk) -> CoverageOut:
    """Return what is held of one city."""
    return coverage_out(await desk.house.store.coverage(city_named(city)))


@routes.get("/api/sections/{number}", tags=["code"])
async def section(
    number: SectionNumber,
    desk: AtDesk,
    start: Start = None,
    end: End = None,
    as_of: Annotated[Day, Query()] = None,
) -> SectionOut:
    """Return a whole section; with `start` and `end`, that quote is marked in its blocks."""
    found, quote = await section_with_quote(desk.house.store, number, start, end)
    return section_out(found, quote, as_of or date.today())


async def section_with_quote(
    store: Searcher, number: int, start: int | None, end: int | None
) -> tuple[StoredSection, Span | None]:
    """Return a section and the quote that was asked for.  Raises NoSuchSection and BadRequest."""
    found = await store.section(SectionId(number))
    if start is None and end is None:
        return found, None
    first, last = found.inside, found.inside + len(found.text)
    if start is None or end is None or not first <= start < end <= last:
        raise BadRequest(
            f"start and end must be a stretch of the section's code points, {first} to {last}."
        )
    return found, Span(start=start, end=end).shifted(-first)


# ------------------------------------------------------------------ the model server


@routes.get("/api/model", tags=["model"])
async def model(desk: AtDesk) -> ModelOut:
    """Return what the model server is doing."""
    return await model_now(desk)


async def model_now(desk: Desk) -> ModelOut:
    """Return the state of our own model server, or whether another one answers."""
    state = desk.model_state()
    if state is not None:
        return ModelOut(
            phase=state.phase,
            detail=state.detail,
            seconds=round(state.seconds, 1),
            model=state.served.model if state.served else None,
        )
    at = await desk.house.chat()
    if at is None:
        return ModelOut(phase="quotes", detail="no model server: the code answers in its own words")
    return ModelOut(phase="ready", detail="a model server answers", model=await at.chat.model())


# ------------------------------------------------------------------ probes


@probes.get("/healthz", responses={503: {"model": HealthOut}})
async def healthz(desk: AtDesk, response: Response) -> HealthOut:
    """Tell whether the database answers a query now."""
    held = await _cities_soon(desk)
    if held is None:
        response.status_code = 503
        return HealthOut(status="down", database=False, cities=0)
    return HealthOut(status="ok", database=True, cities=len(held))


@probes.get("/metrics", response_class=Response)
async def metrics(desk: AtDesk) -> Response:
    """Return the counters and gauges for Prometheus."""
    held = await _cities_soon(desk)
    ready = await desk.model_answers()
    return Response(
        desk.metrics.exposition(held, model_ready=ready), media_type=CONTENT_TYPE_LATEST
    )


async def _cities_soon(desk: Desk) -> list[Coverage] | None:
    """Return what is held, or None if the database does not say so in time."""
    with anyio.move_on_after(_HEALTH_SECONDS):
        try:
            return list(await desk.house.store.cities())
        except StoreError:
            return None
    return None
