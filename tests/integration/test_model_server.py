"""The model server, for real: vLLM with the demo model is started, used, shared and killed.

Needs minutes and gigabytes, hence the mark `box`.  TEST_LLM_HOME names a
home whose environment and model are used; without it they are made here.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx
import pytest

from appliance.answers.support import GRADES, judge_messages
from appliance.clients.chat import OpenAIChat
from appliance.domain import Claim
from appliance.errors import ChatUnavailable
from appliance.ports import ChatMessage
from appliance.serving.gateway import ROUTES
from appliance.serving.model_server import ModelServer, Served, ServerState
from appliance.settings import Secret, Settings
from models.manifest import read_manifest

pytestmark = [
    pytest.mark.box,
    pytest.mark.asyncio,
    pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for the left-over in /proc"),
]

ROOT = Path(__file__).resolve().parents[2]
PROFILE = read_manifest().profile("cpu-demo")
PREPARED = os.environ.get("TEST_LLM_HOME")
START_SECONDS = 240.0 if PREPARED else 900.0

# Another process of the same home, which can be killed.
OWNER = """
import asyncio, sys
from pathlib import Path
from appliance.serving.model_server import ModelServer
from appliance.settings import Settings
from models.manifest import read_manifest
settings = Settings(home=Path(sys.argv[1]), model_port=int(sys.argv[2]))
profile = read_manifest().profile("cpu-demo")
asyncio.run(ModelServer(settings, profile, tell=lambda state: print(state, flush=True)).run())
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[Settings]:
    """Give a home of its own, with the environment and the model of the prepared one."""
    settings = Settings(home=tmp_path / "home", model_port=free_port())
    settings.home.mkdir()
    if PREPARED:
        for name in ("envs", "models"):
            (settings.home / name).symlink_to(Path(PREPARED, name))
    yield settings
    for pid in processes_of(settings):
        os.kill(pid, signal.SIGKILL)


def processes_of(settings: Settings) -> dict[int, str]:
    """Return the living processes of this home's server: our own log is their output."""
    log = (settings.log_dir / "model-server.log").resolve()
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it ended while we looked
            if (entry / "fd" / "1").resolve() == log:
                found[int(entry.name)] = (entry / "comm").read_text().strip()
    return found


async def until(what: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "waited in vain"
        await asyncio.sleep(0.1)


@asynccontextmanager
async def run(settings: Settings) -> AsyncIterator[tuple[ModelServer, list[ServerState]]]:
    states: list[ServerState] = []
    server = ModelServer(settings, PROFILE, tell=states.append)
    running = asyncio.create_task(server.run())
    try:
        yield server, states
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


@asynccontextmanager
async def owning(settings: Settings) -> AsyncIterator[asyncio.subprocess.Process]:
    """Have another process own this home's server."""
    owner = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", OWNER, str(settings.home), str(settings.model_port)),
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    try:
        await until(lambda: bool(processes_of(settings)), START_SECONDS)
        yield owner
    finally:
        with suppress(ProcessLookupError):
            owner.kill()
        await owner.wait()


async def ready(server: ModelServer) -> Served:
    await until(lambda: server.state.phase in ("ready", "failed"), START_SECONDS)
    assert server.state.served is not None, server.state.detail
    print(f"ready after {server.state.seconds:.1f} s")
    return server.state.served


async def grade_of(served: Served) -> str:
    """Have the judge's question answered: constrained output of the real server, whatever it takes."""
    claim = Claim(text="A permit lasts for 180 days.", citations=(1,))
    quote = "A building permit expires if the work has not begun within 180 days."
    async with OpenAIChat(served.url, key=served.key, model=None, seconds=60) as chat:
        return await chat.choose(judge_messages(claim, [quote]), tuple(GRADES))


async def answer_of(served: Served) -> str:
    question = ChatMessage(role="user", content="Name three colours.")
    async with OpenAIChat(served.url, key=served.key, model=None, seconds=60) as chat:
        assert await chat.model() == PROFILE.llm.served_name
        assert await chat.context() == PROFILE.llm.max_model_len
        pieces = chat.stream([question], max_tokens=200, temperature=0.0)
        return "".join([piece async for piece in pieces])


async def test_it_answers_is_shared_comes_back_and_leaves_nothing(settings: Settings) -> None:
    async with run(settings) as (server, states):
        served = await ready(server)
        assert served.url == f"http://127.0.0.1:{settings.model_port}/v1"
        assert await answer_of(served)
        assert await grade_of(served) in GRADES
        await check_a_wrong_key(served)
        check_the_note(settings, served)
        await check_sharing(settings, served)
        await check_the_routes(settings, served)
        check_only_loopback(settings)

        [engine] = [pid for pid, name in processes_of(settings).items() if "Engine" in name]
        os.kill(engine, signal.SIGKILL)
        await until(lambda: server.state.phase == "starting", 30)
        again = await ready(server)
        assert again.key == served.key
        assert await answer_of(again)
    assert not processes_of(settings)
    assert server.state.phase == "stopped"
    assert not (settings.run_dir / "model-server.json").exists()
    assert (settings.log_dir / "model-server.log.1").exists()
    assert {"installing", "converting", "starting", "ready"} <= {state.phase for state in states}


async def check_a_wrong_key(served: Served) -> None:
    async with OpenAIChat(served.url, key=Secret("x"), model=None, seconds=10) as chat:
        with pytest.raises(ChatUnavailable, match="refuses our key"):
            await chat.model()


def socket_of(settings: Settings) -> str:
    """Return the Unix socket that this home's server was told to listen on."""
    lines = [Path(f"/proc/{pid}/cmdline").read_text() for pid in processes_of(settings)]
    words = next(line.split("\0") for line in lines if "--uds" in line)
    return words[words.index("--uds") + 1]


async def check_the_routes(settings: Settings, served: Served) -> None:
    """Ask for each route that the server itself lists, with the key, through the gateway."""
    uds = socket_of(settings)
    door, key = served.url.removesuffix("/v1"), {"Authorization": f"Bearer {served.key.value}"}
    behind = httpx.AsyncHTTPTransport(uds=uds)
    async with httpx.AsyncClient(transport=behind, base_url="http://model") as client:
        assert (await client.get("/version")).status_code == 200  # without a key
        paths = (await client.get("/openapi.json")).json()["paths"]
    routes = {(method.upper(), path) for path, methods in paths.items() for method in methods}
    assert len(routes) > 15
    routes |= {("GET", "/docs"), ("GET", "/openapi.json"), ("GET", "/redoc")}
    async with httpx.AsyncClient(base_url=door, headers=key, trust_env=False) as client:
        for method, path in routes - set(ROUTES):
            assert (await client.request(method, path)).status_code in (404, 405), path
        for path in ("/health", "/v1/models", "/metrics"):
            assert (await client.get(path)).status_code == 200, path
            bare = await client.get(path, headers={"Authorization": ""})
            assert bare.status_code == 401, path


def check_the_note(settings: Settings, served: Served) -> None:
    note = settings.run_dir / "model-server.json"
    assert note.stat().st_mode & 0o777 == 0o600
    assert served.key.value in note.read_text()
    assert served.key.value not in repr(served)
    assert served.key.value not in (settings.log_dir / "model-server.log").read_text()
    for pid in processes_of(settings):
        assert served.key.value.encode() not in Path(f"/proc/{pid}/cmdline").read_bytes()


async def check_sharing(settings: Settings, served: Served) -> None:
    before = processes_of(settings)
    async with run(settings) as (second, _):
        assert await ready(second) == served
    assert processes_of(settings) == before


def check_only_loopback(settings: Settings) -> None:
    """Every listening socket of the server is bound to a loopback address."""
    sockets = {
        link.readlink().name
        for pid in processes_of(settings)
        for link in Path(f"/proc/{pid}/fd").iterdir()
        if str(link.readlink()).startswith("socket:")
    }
    listening = [
        fields[1]
        for table in ("tcp", "tcp6")
        for fields in map(str.split, Path(f"/proc/net/{table}").read_text().splitlines()[1:])
        if fields[3] == "0A" and f"socket:[{fields[9]}]" in sockets
    ]
    assert listening
    loopback = (
        "0100007F:",
        "00000000000000000000000001000000:",
        "0000000000000000FFFF00000100007F:",
    )
    assert all(address.startswith(loopback) for address in listening), listening


async def test_the_owners_sudden_death_leaves_nothing_and_a_follower_takes_over(
    settings: Settings,
) -> None:
    async with owning(settings) as owner, run(settings) as (follower, _):
        await until(lambda: "another process" in follower.state.detail, 5)
        await ready(follower)
        family = set(processes_of(settings))
        owner.kill()
        await until(lambda: not family & set(processes_of(settings)), 20)
        await until(lambda: bool(processes_of(settings)), 30)  # its own, now
        assert follower.state.served is None
    assert not processes_of(settings)


async def test_a_taken_port_is_said_and_a_free_one_used(settings: Settings) -> None:
    with socket.create_server(("127.0.0.1", settings.model_port)):
        async with run(settings) as (server, _):
            await until(lambda: "is taken by another program" in server.state.detail, START_SECONDS)
            await until(lambda: bool(processes_of(settings)), 10)
        assert not processes_of(settings)
