"""The only way to the model server: four routes, each with the key; everything else is not there.

vLLM answers some twenty routes without its key (tokenize, pooling, load, docs …).  It therefore
listens on a Unix socket in a folder of ours, and this gateway on the loopback port that others are
told.  What is passed on is named by our own table and never by the caller's path or query.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from appliance.settings import Secret

ROUTES: Final = (
    ("POST", "/v1/chat/completions"),
    ("GET", "/v1/models"),
    ("GET", "/health"),
    ("GET", "/metrics"),  # for our own Prometheus
)
# A reply may take as long as its reader waits; only the socket itself must answer at once.
_TIMEOUT: Final = httpx.Timeout(None, connect=5.0)
# Far above any prompt that fits a context: more is no question.
MOST_BYTES: Final = 8 << 20


@asynccontextmanager
async def gateway(listener: socket.socket, server: Path, key: Secret) -> AsyncIterator[None]:
    """Pass the allowed routes from `listener` on to the server at the Unix socket `server`."""
    # The bare context loads no certificates, which a socket of this machine has no use for.
    transport = httpx.AsyncHTTPTransport(
        uds=str(server),
        verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
        limits=httpx.Limits(max_connections=None),
    )
    async with httpx.AsyncClient(
        transport=transport, base_url="http://model", timeout=_TIMEOUT
    ) as client:
        config = uvicorn.Config(
            _app(client, key),
            log_level="critical",  # a server that breaks off is told of by whoever keeps it up
            access_log=False,
            lifespan="off",
            ws="none",
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=1,
        )
        running = uvicorn.Server(config)
        # Signals are the box's: uvicorn's own handlers would end the gateway before the rest is told.
        running.capture_signals = contextlib.nullcontext  # type: ignore[method-assign,assignment]
        task = asyncio.create_task(running.serve(sockets=[listener]))
        try:
            yield
        finally:
            running.should_exit = True
            await task


def _app(client: httpx.AsyncClient, key: Secret) -> Starlette:
    async def pass_on(request: Request) -> Response:
        if not _has_key(request, key):
            return Response(status_code=401, headers={"WWW-Authenticate": "Bearer"})
        body = bytearray()
        async for piece in request.stream():
            body += piece
            if len(body) > MOST_BYTES:
                return Response(status_code=413)
        return await _forwarded(client, request, bytes(body), key)

    return Starlette(
        routes=[Route(path, pass_on, methods=[method]) for method, path in ROUTES],
    )


def _has_key(request: Request, key: Secret) -> bool:
    given = request.headers.get("authorization", "")
    return secrets.compare_digest(given.encode(), f"Bearer {key.value}".encode())


async def _forwarded(
    client: httpx.AsyncClient, request: Request, body: bytes, key: Secret
) -> Response:
    outward = client.build_request(
        request.method,
        request.scope["path"],  # one of ROUTES, or we were not called
        content=body,
        headers={"Authorization": f"Bearer {key.value}", "Content-Type": "application/json"},
    )
    try:
        reply = await client.send(outward, stream=True)
    except httpx.TransportError:
        return Response(status_code=503)
    return StreamingResponse(
        _pieces(reply), status_code=reply.status_code, media_type=reply.headers.get("content-type")
    )


async def _pieces(reply: httpx.Response) -> AsyncIterator[bytes]:
    """Yield the reply as it comes; a reader that leaves frees the server."""
    try:
        async for piece in reply.aiter_raw():
            yield piece
    finally:
        await reply.aclose()
