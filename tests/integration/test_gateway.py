"""The gateway before the model server: a real server on a real Unix socket, asked over real HTTP."""

from __future__ import annotations

import asyncio
import socket
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from appliance.serving.gateway import MOST_BYTES, ROUTES, gateway
from appliance.settings import Secret

pytestmark = pytest.mark.asyncio

KEY = {"Authorization": "Bearer s3cret"}
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


@dataclass
class Server:
    """Answers everything, and notes what it was asked."""

    asked: list[str] = field(default_factory=list)
    left: asyncio.Event = field(default_factory=asyncio.Event)
    endless: bool = False

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            self.asked.append(head.split(b"\r\n")[0].decode())
            writer.write(STREAM + b"5\r\nfirst\r\n")
            if self.endless:
                await reader.read()  # until the gateway hangs up
            else:
                writer.write(b"4\r\nlast\r\n0\r\n\r\n")
            await writer.drain()
        self.left.set()
        writer.close()


@asynccontextmanager
async def behind(server: Server | None) -> AsyncIterator[str]:
    with tempfile.TemporaryDirectory() as folder, socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        path = Path(folder, "model")
        unix = await asyncio.start_unix_server(server.answer, path) if server else None
        async with gateway(listener, path, Secret("s3cret")):
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        if unix:
            unix.close()


async def ask(method: str, url: str, headers: dict[str, str]) -> httpx.Response:
    async with httpx.AsyncClient(trust_env=False, timeout=10) as client:
        return await client.request(method, url, headers=headers)


@pytest.mark.parametrize(("method", "path"), ROUTES)
async def test_an_allowed_route_is_passed_on_with_the_key_only(method: str, path: str) -> None:
    server = Server()
    async with behind(server) as url:
        for wrong in ({}, {"Authorization": "Bearer wrong"}):
            assert (await ask(method, url + path, wrong)).status_code == 401
        assert server.asked == []
        reply = await ask(method, f"{url}{path}?x=1", KEY)
    assert (reply.status_code, reply.content) == (200, b"firstlast")
    assert server.asked == [f"{method} {path} HTTP/1.1"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/tokenize"),
        ("GET", "/docs"),
        ("GET", "/openapi.json"),
        ("GET", "/version"),
        ("POST", "/v1/completions"),
        ("GET", "/v1/chat/completions"),
        ("POST", "/v1/models"),
        ("GET", "/v1/models/../../version"),
        ("GET", "/v1/models%2f..%2f..%2fversion"),
        ("GET", "/v1/models/"),
        ("GET", "//v1/models"),
    ],
)
async def test_nothing_else_reaches_the_server_even_with_the_key(method: str, path: str) -> None:
    server = Server()
    async with behind(server) as url:
        reply = await ask(method, url + path, KEY)
    assert reply.status_code in (307, 404, 405)
    assert server.asked == []


async def test_a_body_that_is_no_question_is_too_large_and_does_not_reach_the_server() -> None:
    server = Server()
    async with behind(server) as url, httpx.AsyncClient(trust_env=False, timeout=10) as client:
        address = url + "/v1/chat/completions"
        reply = await client.post(address, headers=KEY, content=bytes(MOST_BYTES + 1))
        assert reply.status_code == 413
        assert server.asked == []


async def test_a_server_that_is_not_up_is_unavailable() -> None:
    async with behind(None) as url:
        assert (await ask("GET", url + "/health", KEY)).status_code == 503


async def test_the_first_piece_comes_before_the_last_and_leaving_frees_the_server() -> None:
    server = Server(endless=True)
    async with behind(server) as url, httpx.AsyncClient(trust_env=False, timeout=10) as client:
        async with client.stream("POST", url + "/v1/chat/completions", headers=KEY) as reply:
            assert await anext(reply.aiter_raw()) == b"first"
            assert not server.left.is_set()
        await asyncio.wait_for(server.left.wait(), 5)
