"""Who asks, as a browser knows it: a secret in a cookie that no script can read.

There is no log-in; whoever brings the cookie is the owner of what was asked with it.
"""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Depends, Request
from fastapi.responses import Response

from appliance.answers.ownership import Owner

COOKIE: Final = "permitbox_asker"


def asker_of(request: Request) -> Owner:
    """Return the owner whose cookie the request brings, or a new one."""
    return Owner.of(request.cookies.get(COOKIE)) or Owner.new()


Asker = Annotated[Owner, Depends(asker_of)]


def remembered(response: Response, owner: Owner, *, days: int) -> Response:
    """Return the response with the owner's cookie, which lives as long as answers do."""
    response.set_cookie(
        COOKIE, owner.token, max_age=days * 86_400, path="/", httponly=True, samesite="strict"
    )
    return response


def forgotten(response: Response) -> Response:
    """Return the response that takes the cookie away."""
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return response
