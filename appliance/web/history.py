"""One's own questions and answers: over the API and on a page, to read and to delete.

Whose they are is said by the cookie; nobody else's are shown, and nobody else can read them.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from urllib.parse import parse_qs
from uuid import UUID

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from appliance.answers.ownership import Owner
from appliance.errors import NoSuchAnswer
from appliance.forms import own_answer_json
from appliance.web import templates
from appliance.web.api import PROBLEMS
from appliance.web.asker import Asker, forgotten
from appliance.web.desk import AtDesk, Desk

api = APIRouter(responses=PROBLEMS, tags=["own answers"])
page = APIRouter(include_in_schema=False)

_ON_THE_PAGE = 200


class OwnAnswerOut(BaseModel):
    """An answer of one's own: the JSON of `/api/ask` as it was then, with its id and time."""

    model_config = ConfigDict(extra="allow", frozen=True)

    id: UUID
    asked_at: datetime
    city: str
    question: str
    as_of: str
    outcome: str
    text: str


class OwnAnswersOut(BaseModel):
    """One's own answers, the newest first."""

    model_config = ConfigDict(frozen=True)

    answers: tuple[OwnAnswerOut, ...]


class ForgottenOut(BaseModel):
    """How many answers were deleted."""

    model_config = ConfigDict(frozen=True)

    forgotten: int = Field(examples=[3])


@api.get("/api/answers", responses={200: {"model": OwnAnswersOut}})
async def own_answers(
    desk: AtDesk, asker: Asker, limit: Annotated[int, Query(ge=1, le=1000)] = 100
) -> JSONResponse:
    """Return what the bearer of the cookie has asked."""
    return JSONResponse({"answers": await _own(desk, asker, limit=limit)})


@api.get("/api/answers/{id_}", responses={200: {"model": OwnAnswerOut}})
async def own_answer(id_: UUID, desk: AtDesk, asker: Asker) -> JSONResponse:
    """Return one answer of the bearer of the cookie."""
    found = await _own(desk, asker, id_=id_)
    if not found:
        raise NoSuchAnswer
    return JSONResponse(found[0])


@api.delete("/api/answers/{id_}", responses={200: {"model": ForgottenOut}})
async def forget_one(id_: UUID, desk: AtDesk, asker: Asker) -> ForgottenOut:
    """Delete one answer of the bearer of the cookie."""
    gone = await desk.house.trail.forget(asker.name, id_)
    if not gone:
        raise NoSuchAnswer
    return ForgottenOut(forgotten=gone)


@api.delete("/api/answers", responses={200: {"model": ForgottenOut}})
async def forget_all(desk: AtDesk, asker: Asker) -> JSONResponse:
    """Delete all answers of the bearer of the cookie, and the cookie."""
    gone = await desk.house.trail.forget(asker.name)
    response = JSONResponse({"forgotten": gone})
    forgotten(response)
    return response


async def _own(
    desk: Desk, asker: Owner, *, id_: UUID | None = None, limit: int = 1
) -> list[dict[str, Any]]:
    kept = await desk.house.trail.of_owner(asker.name, id_=id_, limit=limit)
    return [found for answer in kept if (found := own_answer_json(answer, asker))]


# ------------------------------------------------------------------ the page


@page.get("/history")
async def history(request: Request, desk: AtDesk, asker: Asker) -> Response:
    """Show what the bearer of the cookie has asked, with buttons to delete it."""
    found = await _own(desk, asker, limit=_ON_THE_PAGE)
    names = {str(c.city.id): c.city.name for c in await desk.house.store.cities()}
    days = desk.house.settings.answer_days
    return templates.history_page(request, found, names=names, days=days)


@page.post("/history/forget")
async def forget_by_form(request: Request, desk: AtDesk, asker: Asker) -> Response:
    """Delete one answer, or all without an id, and show what is left."""
    form = parse_qs((await request.body()).decode("utf-8", "replace"))
    response = RedirectResponse("/history", status_code=303)
    if "id" in form:
        await desk.house.trail.forget(asker.name, _id_of(form["id"][0]))
        return response
    await desk.house.trail.forget(asker.name)
    return forgotten(response)


def _id_of(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise NoSuchAnswer from None
