"""Errors as the web says them: RFC 9457 problems for programs, one page for people.

A problem carries one sentence that is fit to be shown and never anything of our
inside: no trace, no path, no statement, and none of the client's own input.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from appliance.errors import NoSuchCity, PermitBoxError
from appliance.web.headers import SECURITY_HEADERS
from appliance.web.schemas import FieldFault, Problem
from appliance.web.templates import problem_page

_UNEXPECTED = "Something went wrong inside the box; its log has the details."
_SENTENCES = {
    404: "There is nothing at this address.",
    405: "This address does not take that method.",
    400: "The body could not be read; send JSON in UTF-8.",
}


def problem_of(error: PermitBoxError) -> Problem:
    """Return the problem of an error that PermitBox raised on purpose."""
    kind = type(error)
    return Problem(
        type=f"urn:permitbox:problem:{_kebab(kind.__name__)}",
        title=(kind.__doc__ or kind.__name__).split("\n", 1)[0].rstrip("."),
        status=kind.status,
        detail=str(error),
        nearest=error.nearest if isinstance(error, NoSuchCity) else None,
    )


def problem(status: int, detail: str, faults: Sequence[FieldFault] = ()) -> Problem:
    """Return a problem that needs no more than its HTTP status to be told apart."""
    return Problem(
        type="about:blank",
        title=HTTPStatus(status).phrase,
        status=status,
        detail=detail,
        errors=tuple(faults) or None,
    )


class ProblemResponse(JSONResponse):
    """A problem on its way out."""

    media_type = "application/problem+json"

    def __init__(self, shown: Problem, headers: dict[str, str] | None = None) -> None:
        super().__init__(
            shown.model_dump(exclude_none=True), status_code=shown.status, headers=headers
        )


def install(app: FastAPI) -> None:
    """Make every error of the app a problem."""
    app.add_exception_handler(PermitBoxError, _ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unexpected)


async def _ours(request: Request, error: Exception) -> Response:
    assert isinstance(error, PermitBoxError)
    return _respond(request, problem_of(error))


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    faults = [_fault(e) for e in error.errors()]
    detail = "; ".join(f"{f.field}: {f.detail}" for f in faults[:3])
    return _respond(request, problem(422, f"The request does not fit: {detail}.", faults))


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status = error.status_code
    detail = _SENTENCES.get(status, error.detail)
    return _respond(request, problem(status, detail), dict(error.headers or {}))


async def _unexpected(_: Request, __: Exception) -> Response:
    # Starlette sends this one from outside of all middleware, so the headers must be put on here.
    return ProblemResponse(problem(500, _UNEXPECTED), headers=dict(SECURITY_HEADERS))


def _respond(request: Request, shown: Problem, headers: dict[str, str] | None = None) -> Response:
    if _wants_page(request):
        return problem_page(request, shown, headers)
    return ProblemResponse(shown, headers)


def _wants_page(request: Request) -> bool:
    """Tell whether a person looks at the response: a browser that goes to an address."""
    path = request.url.path
    is_page = path == "/" or path.startswith(("/sections/", "/history"))
    return is_page and "text/html" in request.headers.get("accept", "")


def _fault(error: dict[str, Any]) -> FieldFault:
    """Return one of pydantic's findings, without the input that it quotes."""
    where = [str(part) for part in error["loc"] if part not in ("body", "query", "path")]
    said = str(error["msg"]).removeprefix("Value error, ").rstrip(".")
    if error["type"] == "json_invalid":
        return FieldFault(field="body", detail="is not JSON")
    return FieldFault(field=".".join(where) or "body", detail=said)


def _kebab(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()
