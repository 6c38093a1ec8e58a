"""The web application over an open house: the page and the API.

The house is opened by the caller and outlives the app, so there is no lifespan
here and importing this module opens nothing.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

from fastapi import FastAPI
from starlette.staticfiles import StaticFiles
from starlette.types import Message, Receive, Scope, Send

from appliance.metrics import Metrics
from appliance.serving.model_server import ServerState
from appliance.settings import Settings
from appliance.web import api, calculators, comparing, history, pages, problems
from appliance.web.desk import Desk
from appliance.web.perimeter import Measured, Perimeter
from appliance.web.templates import HERE
from appliance.wiring import House


def _no_model_server() -> ServerState | None:
    return None


def create_app(
    house: House, *, model_state: Callable[[], ServerState | None] = _no_model_server
) -> FastAPI:
    """Return the application; `model_state` says what this process's model server is doing."""
    # FastAPI's own pages on the API load scripts from elsewhere; /openapi.json is enough.
    app = FastAPI(
        title="PermitBox",
        version="0.1.0",
        summary="Building-permit and municipal-code questions, answered from the code with proof.",
        docs_url=None,
        redoc_url=None,
    )
    metrics = Metrics()
    house.store.on_short = metrics.short
    app.state.desk = Desk(house=house, metrics=metrics, model_state=model_state)
    problems.install(app)
    app.include_router(pages.routes)
    app.include_router(calculators.page)
    app.include_router(api.routes)
    app.include_router(calculators.api)
    app.include_router(history.page)
    app.include_router(history.api)
    app.include_router(api.probes)
    app.include_router(comparing.routes)
    app.mount("/static", _Static(directory=HERE / "static"))
    app.add_middleware(Perimeter, own_names=own_names(house.settings))
    app.add_middleware(Measured, observe=metrics.http)
    app.openapi = lambda: _described(app)  # type: ignore[method-assign]
    return app


def _described(app: FastAPI) -> dict[str, Any]:
    """Return the API's description, with problems under the media type that they have."""
    if app.openapi_schema is None:
        described = FastAPI.openapi(app)
        for path in described["paths"].values():
            for operation in path.values():
                for response in operation["responses"].values():
                    content = response.get("content", {})
                    if "application/problem+json" in content:
                        content["application/problem+json"] = content.pop("application/json")
        app.openapi_schema = described
    return app.openapi_schema


def own_names(settings: Settings) -> frozenset[str]:
    """Return the host names of this machine, in small letters."""
    return frozenset(
        name.lower() for name in ("localhost", socket.gethostname(), settings.host) if name
    )


class _Static(StaticFiles):
    """Files that a browser asks about each time: the box was updated, and nobody clears caches."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def revalidating(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"cache-control", b"no-cache")]
            await send(message)

        await super().__call__(scope, receive, revalidating)
