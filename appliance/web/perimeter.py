"""What a request must be before any route sees it, and what every response carries.

Pure ASGI, so that streams pass through unbuffered and a client that leaves is
noticed.  Knows nothing of the product.
"""

from __future__ import annotations

import ipaddress
import re
import time
from collections.abc import Callable
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from appliance.web.headers import SECURITY_HEADERS
from appliance.web.problems import ProblemResponse, problem

LARGEST_BODY: Final = 256 * 1024  # a question has at most 4,000 characters

_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(?::\d{1,5})?")
# Names that no stranger can own in the public DNS.
_OWN_SUFFIXES = (".local", ".lan", ".localhost", ".home.arpa", ".internal")
_SAFE_METHODS = frozenset(("GET", "HEAD", "OPTIONS"))


class Perimeter:
    """Refuses foreign host names, cross-site writes and large bodies; adds the headers."""

    def __init__(self, app: ASGIApp, *, own_names: frozenset[str]) -> None:
        self._app = app
        self._own_names = own_names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        send = _with_headers(send)
        refusal = self._refusal(scope["method"], headers)
        if refusal is not None:
            await refusal(scope, receive, send)
        else:
            await self._app(scope, _limited(receive), send)

    def _refusal(self, method: str, headers: Headers) -> ProblemResponse | None:
        if not is_own_host(headers.get("host", ""), self._own_names):
            # A page of another site whose name was made to point here (DNS rebinding) ends here.
            return ProblemResponse(
                problem(
                    421, "This box does not go by that name; use its address or its .local name."
                )
            )
        if method not in _SAFE_METHODS and is_cross_site(headers):
            return ProblemResponse(problem(403, "Pages of other sites may not ask this box."))
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length[:12]) > LARGEST_BODY:
            return ProblemResponse(problem(413, _TOO_LARGE))
        return None


_TOO_LARGE = f"The body is over {LARGEST_BODY // 1024} KiB; ask one thing at a time."


def is_own_host(host: str, own_names: frozenset[str]) -> bool:
    """Tell whether a Host header names this machine and not a stranger's domain."""
    match = _HOST.fullmatch(host)
    if match is None:
        return False
    name = match["name"].strip("[]").rstrip(".").lower()
    return name in own_names or name.endswith(_OWN_SUFFIXES) or _is_address(name)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def is_cross_site(headers: Headers) -> bool:
    """Tell whether a browser says that another site's page sent the request.

    A client that is no browser sends neither header and is let through: it has no
    user whose standing it could abuse.
    """
    if site := headers.get("sec-fetch-site"):
        return site not in ("same-origin", "none")
    origin = headers.get("origin")
    return origin is not None and urlsplit(origin).netloc != headers.get("host")


def _limited(receive: Receive) -> Receive:
    """Return `receive` that gives up on a body which grows too large without having said so."""
    taken = 0

    async def limited() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > LARGEST_BODY:
            raise HTTPException(413, _TOO_LARGE)
        return message

    return limited


def _with_headers(send: Send) -> Send:
    async def adding(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in SECURITY_HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return adding


# ------------------------------------------------------------------ measuring

Observe = Callable[[str, int, float], None]


class Measured:
    """Tells an observer of each request's route, status and time."""

    def __init__(self, app: ASGIApp, *, observe: Observe) -> None:
        self._app = app
        self._observe = observe

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            self._observe(_route_of(scope), status, time.perf_counter() - began)


def _route_of(scope: Scope) -> str:
    """Return the pattern of the route: one label however many sections there are."""
    route = scope.get("route")
    if route is not None:
        return str(getattr(route, "path", "other"))
    return "/static" if str(scope["path"]).startswith("/static/") else "other"
