"""Fixtures that more than one test module uses: a home, an opened house, a scripted model, a server."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import socket
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, fields
from datetime import date
from importlib.resources import files
from pathlib import Path

import pytest
import uvicorn
from fastapi import FastAPI

from appliance.ask import ChatAt
from appliance.ingest import ingest
from appliance.ports import ChatMessage
from appliance.settings import Settings
from appliance.wiring import House, open_house

# Text that tries to be markup and to turn its surroundings round, and whose characters outside the
# basic plane make code points and UTF-16 units differ.
HOSTILE_HEADING = 'Trolls <img src=x onerror="window.hacked=1"> \u202eand bridges'
HOSTILE_TEXT = (
    "\U0001f9cc\U0001f309\U0001d54a Preamble with astral signs \U0001f9cc\U0001f9cc.\n\n"
    "(a) A troll <script>window.hacked=1</script> shall not collect a toll of more than 3 goats "
    "under a bridge \u202ereversed\u202c & **bold** <b>words</b>.\n\n"
    "(b) A bridge shall have a sign \U0001f309 that states the toll in goats.\n\n"
    "| Bridge | Toll |\n|---|---|\n| <i>Stone</i> | 3 goats |\n| Rope \U0001f309 | 1 goat |\n"
)


@pytest.fixture(scope="session")
def settings() -> Iterator[Settings]:
    """Yield the settings of a home that any user can reach, as the database's own user must."""
    home = Path(tempfile.mkdtemp(prefix="pbx-"))
    home.chmod(0o755)
    # Without the cache: tests that ask the same question must not meet one another's answers.
    yield Settings(home=home / "home", answer_cache=False)
    shutil.rmtree(home)


@pytest.fixture(scope="session")
def hostile_corpus() -> Iterator[Path]:
    """Yield a corpus file of one city with a hostile section, and one without any date."""
    record = {
        "jurisdiction": "troll-bridge-xx",
        "jurisdiction_name": "Troll <b>Bridge</b> (fictional)",
        "id": "troll-1",
        "citation": "Troll Code § 1",
        "heading": HOSTILE_HEADING,
        "path": ["<u>Title 1</u>"],
        "text": HOSTILE_TEXT,
        "url": "javascript:alert(1)",
        "retrieved_at": "2026-03-02T09:00:00Z",
    }
    with tempfile.TemporaryDirectory(prefix="pbx-") as folder:
        path = Path(folder) / "trolls.jsonl"
        path.write_text(json.dumps(record) + "\n", "utf-8")
        yield path


@pytest.fixture(scope="session")
async def sample_house(settings: Settings, hostile_corpus: Path) -> AsyncIterator[House]:
    """Yield a house with the two sample cities and the hostile one, ingested once per session."""
    async with open_house(settings) as house:
        paths = [Path(str(files("appliance") / "samples")), hostile_corpus]
        summary = await ingest(
            house.loader,
            house.encoder,
            paths,
            city=None,
            today=date.today(),
            tell=lambda _: None,
        )
        assert not summary.rejected
        assert not summary.unreadable
        yield house


# ------------------------------------------------------------------ a model that says what it is told


@dataclass(slots=True)
class ScriptedChat:
    """A twin of a chat server: streams its pieces, then, if it is to hang, says nothing more."""

    pieces: Sequence[str]
    hangs: bool = False
    prompts: list[str] = field(default_factory=list)
    closed: asyncio.Event = field(default_factory=asyncio.Event)

    async def model(self) -> str:
        return "scripted"

    async def context(self) -> int:
        return 8192

    async def stream(
        self, messages: Sequence[ChatMessage], *, max_tokens: int, temperature: float
    ) -> AsyncGenerator[str]:
        self.prompts.append("\n".join(m.content for m in messages))
        try:
            for piece in self.pieces:
                yield piece
            if self.hangs:
                await asyncio.Event().wait()
        finally:
            self.closed.set()

    async def choose(self, messages: Sequence[ChatMessage], choices: Sequence[str]) -> str:
        self.prompts.append("\n".join(m.content for m in messages))
        return choices[-1]


@dataclass(slots=True, kw_only=True)
class _HouseWithModel(House):
    at: ChatAt

    async def chat(self) -> ChatAt:
        return self.at


GiveModel = Callable[..., tuple[House, ScriptedChat]]


@pytest.fixture(scope="session")
def with_model(sample_house: House) -> GiveModel:
    """Return a function that gives the sample house a scripted model."""

    def give(*pieces: str, demo: bool = False, hangs: bool = False) -> tuple[House, ScriptedChat]:
        chat = ScriptedChat(pieces, hangs)
        parts = {f.name: getattr(sample_house, f.name) for f in fields(House)}
        return _HouseWithModel(**parts, at=ChatAt(chat=chat, demo=demo)), chat

    return give


# ------------------------------------------------------------------ a real server

Serve = Callable[[FastAPI], AbstractAsyncContextManager[str]]


@pytest.fixture(scope="session")
def serve() -> Serve:
    """Return a context manager that serves an app on a free loopback port and gives its address."""

    @asynccontextmanager
    async def serving(app: FastAPI) -> AsyncIterator[str]:
        listener = socket.create_server(("127.0.0.1", 0))
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            lifespan="off",
            ws="none",
            timeout_graceful_shutdown=2,  # a stream that nobody ends must not hold the tests up
        )
        server = uvicorn.Server(config)
        server.capture_signals = contextlib.nullcontext  # signals are pytest's
        task = asyncio.create_task(server.serve(sockets=[listener]))
        while not server.started:
            await asyncio.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            await task
            listener.close()

    return serving
