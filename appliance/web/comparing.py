"""Comparing cities: the API's route and the page, which works without JavaScript."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, Response

from appliance.compare import MOST_CITIES, Comparison, compare
from appliance.comparison_forms import comparison_json
from appliance.domain import CityId
from appliance.errors import PermitBoxError
from appliance.web import templates
from appliance.web.api import PROBLEMS
from appliance.web.desk import AtDesk, Desk, city_named
from appliance.web.problems import problem_of
from appliance.web.schemas import CompareBody, ComparisonOut, Day, Problem

routes = APIRouter()


@routes.post(
    "/api/compare",
    tags=["ask"],
    responses=PROBLEMS | {200: {"model": ComparisonOut}},
)
async def compare_cities(body: CompareBody, desk: AtDesk) -> JSONResponse:
    """Ask several cities one question: a proven cell each, or what was looked for in vain."""
    cities = [city_named(c) for c in body.cities]
    return JSONResponse(comparison_json(await _compared(desk, body.question, cities, body.as_of)))


@routes.get("/compare", include_in_schema=False)
async def page(
    request: Request,
    desk: AtDesk,
    city: Annotated[list[str], Query(max_length=MOST_CITIES)] = [],  # noqa: B006  (FastAPI copies it)
    q: str = "",
    as_of: Annotated[Day, Query()] = None,
) -> Response:
    """Show the page that compares; a question in the address is answered in it."""
    comparison, problem = await _answered(desk, q, city, as_of) if q else (None, None)
    held = await desk.house.store.cities()
    return templates.comparison_page(
        request,
        held,
        chosen=city,
        question=q,
        as_of=as_of,
        comparison=comparison,
        problem=problem,
    )


async def _answered(
    desk: Desk, question: str, cities: list[str], as_of: date | None
) -> tuple[Comparison | None, Problem | None]:
    """Return the comparison, or the problem to show in its place."""
    try:
        named = [city_named(c) for c in cities]
        return await _compared(desk, question, named, as_of), None
    except PermitBoxError as error:
        return None, problem_of(error)


async def _compared(
    desk: Desk, question: str, cities: list[CityId], as_of: date | None
) -> Comparison:
    house = desk.house
    day = as_of or date.today()
    return await compare(house.store, house.encoder, await house.chat(), question, cities, day)
