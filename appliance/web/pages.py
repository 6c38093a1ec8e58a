"""The pages for people: the question page and a section's own page.  Both work without JavaScript."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from appliance.answers.conversation import MOST_TURNS
from appliance.answers.ownership import Owner
from appliance.ask import Asked, Finished, drain
from appliance.errors import PermitBoxError
from appliance.web import templates
from appliance.web.api import End, SectionNumber, Start, section_with_quote
from appliance.web.asker import Asker, remembered
from appliance.web.desk import AtDesk, Desk, city_named
from appliance.web.problems import problem_of
from appliance.web.schemas import Day, Problem

routes = APIRouter(include_in_schema=False)


@routes.get("/")
async def page(
    request: Request,
    desk: AtDesk,
    asker: Asker,
    city: Annotated[str, Query(max_length=200)] = "",
    q: str = "",
    as_of: Annotated[Day, Query()] = None,
    before: Annotated[list[str], Query(max_length=MOST_TURNS)] = [],  # noqa: B006  (FastAPI copies it)
) -> Response:
    """Show the question page; a question in the address is answered in it."""
    finished, problem = await _answered(desk, asker, city, q, as_of, before) if q else (None, None)
    held = await desk.house.store.cities()
    shown = templates.question_page(
        request,
        held,
        city=city,
        question=q,
        as_of=as_of,
        before=before,
        finished=finished,
        problem=problem,
    )
    return remembered(shown, asker, days=desk.house.settings.answer_days) if finished else shown


async def _answered(
    desk: Desk,
    asker: Owner,
    city: str,
    question: str,
    as_of: date | None,
    before: Sequence[str],
) -> tuple[Finished | None, Problem | None]:
    """Return the answer, or the problem to show in its place."""
    try:
        asked = Asked(
            question=question,
            city=city_named(city),
            as_of=as_of or date.today(),
            before=tuple(before),
        )
        return await drain(desk.answer(asked, asker)), None
    except PermitBoxError as error:
        return None, problem_of(error)


@routes.get("/sections/{number}")
async def section(
    request: Request,
    number: SectionNumber,
    desk: AtDesk,
    start: Start = None,
    end: End = None,
    as_of: Annotated[Day, Query()] = None,
) -> Response:
    """Show a whole section with the quote marked."""
    found, quote = await section_with_quote(desk.house.store, number, start, end)
    held = await desk.house.store.coverage(found.city)
    return templates.section_page(request, found, quote, held.city, as_of or date.today())
