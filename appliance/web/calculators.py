"""Calculators on the web: two routes of the API, and a page with a form that needs no JavaScript."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, Response

from appliance.answers.routing import checked_question
from appliance.ask import searchable
from appliance.calculate import Calculation, Held, Picked, calculate, held, pick
from appliance.calculation_json import calculation_json, calculator_json
from appliance.calculators.calculator import from_json
from appliance.domain import CityId
from appliance.errors import PermitBoxError
from appliance.store.calculators import PostgresCalculators
from appliance.web import templates
from appliance.web.calculation_schemas import CalculateBody, CalculationOut, CalculatorsOut
from appliance.web.desk import AtDesk, Desk, city_named
from appliance.web.problems import problem_of
from appliance.web.schemas import Problem

_PROBLEM: dict[str, Any] = {"model": Problem, "content": {"application/problem+json": {}}}
api = APIRouter(
    tags=["calculate"],
    responses={
        404: _PROBLEM | {"description": "No such city, or no calculator is meant"},
        422: _PROBLEM | {"description": "The request does not fit, or an input is missing"},
        503: _PROBLEM | {"description": "The city is kept from being searched"},
    },
)
page = APIRouter(include_in_schema=False)

INPUT = "in."  # what the page's fields of inputs begin with


@api.get("/api/calculators", responses={200: {"model": CalculatorsOut}})
async def calculators(
    desk: AtDesk, city: Annotated[str, Query(examples=["alder-falls-xx"])]
) -> JSONResponse:
    """Return the calculators of a city that a person has approved."""
    of = city_named(city)
    await desk.house.store.coverage(of)
    stored = await PostgresCalculators(desk.house.pool).listed(of, ["approved"])
    rows = [calculator_json(s, from_json(s.form)) for s in stored]
    return JSONResponse({"calculators": rows})


@api.post("/api/calculate", responses={200: {"model": CalculationOut}})
async def calculate_by_api(body: CalculateBody, desk: AtDesk) -> JSONResponse:
    """Calculate by the rule that the question means, or by the calculator of that number."""
    city, given = city_named(body.city), {k: str(v) for k, v in body.inputs.items()}
    picked = await _pick(desk, city, body.question, given, body.calculator)
    store = PostgresCalculators(desk.house.pool)
    found = await calculate(store, city, picked, today=date.today())
    return JSONResponse(calculation_json(found))


async def _pick(
    desk: Desk, city: CityId, question: str, given: Mapping[str, str], calculator: int | None
) -> Picked:
    await searchable(desk.house.store, city)
    asked = checked_question(question) if question or calculator is None else ""
    store = PostgresCalculators(desk.house.pool)
    return await pick(store, city, asked, given, calculator=calculator)


# ------------------------------------------------------------------ the page


@dataclass(frozen=True, slots=True, kw_only=True)
class Worked:
    """What the page shows of one request."""

    picked: Picked | None = None
    calculation: Calculation | None = None
    problem: Problem | None = None


@page.get("/calculate")
async def calculate_page(
    request: Request,
    desk: AtDesk,
    city: Annotated[str, Query(max_length=200)] = "",
    q: str = "",
    calculator: str = "",
) -> Response:
    """Show the calculators of a city, the form of one, and its result with every step."""
    cities = await desk.house.store.cities()
    chosen = city or next((c.city.id for c in cities if c.state.searchable), "")
    given = {
        k.removeprefix(INPUT): v
        for k, v in request.query_params.items()
        if k.startswith(INPUT) and v
    }
    number = int(calculator) if calculator.isdecimal() and len(calculator) < 19 else None
    worked = await _worked(desk, chosen, q, given, number) if q or number else Worked()
    return templates.calculate_page(
        request,
        cities,
        city=chosen,
        question=q,
        listed=await _in_use(desk, chosen),
        picked=worked.picked,
        calculation=worked.calculation,
        problem=worked.problem,
    )


async def _worked(
    desk: Desk, city: str, question: str, given: Mapping[str, str], calculator: int | None
) -> Worked:
    """Return the result, or what is missing for one."""
    picked = None
    try:
        of = city_named(city)
        picked = await _pick(desk, of, question, given, calculator)
        store = PostgresCalculators(desk.house.pool)
        found = await calculate(store, of, picked, today=date.today())
    except PermitBoxError as error:
        # A form that nobody has filled yet is no fault.
        new = picked is not None and not given and not question
        return Worked(picked=picked, problem=None if new else problem_of(error))
    return Worked(picked=picked, calculation=found)


async def _in_use(desk: Desk, city: str) -> list[Held]:
    if not city:
        return []
    stored = await PostgresCalculators(desk.house.pool).listed(CityId(city), ["approved"])
    return [held(s) for s in stored]
