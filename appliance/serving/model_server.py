"""The model server of this home: brought up, kept up, and gone when we are gone.

One process of a home owns the server (a lock on a file says which one); others
use it through its state file, and take over when the owner has ended.  A server
is ready when it has really answered, not when a port is open.  Whatever goes
wrong becomes a `ServerState` with one sentence; the box goes on without a model.

How the environment is made is `environment`'s business, how a child is ended
`guard`'s; which arguments a model needs stands in the manifest.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import secrets
import shutil
import socket
import ssl
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal

import httpx

from appliance.errors import ModelError, ModelServerFailed
from appliance.serving import environment, guard
from appliance.serving.gateway import gateway
from appliance.settings import Secret, Settings
from models.manifest import Llm, Profile
from models.plan import Plan, own_load, plan
from models.shapes import GIB

Door = int | Path  # a port of the loopback address, or a Unix socket
Phase = Literal["installing", "converting", "starting", "ready", "failed", "stopped"]

HOST: Final = "127.0.0.1"
# vLLM ends its engine within a few seconds of SIGTERM, unless that hangs.
STOP_SECONDS: Final = 15.0
# On two busy cores the demo model took 76 s; a 14B model that is read from a slow disk takes minutes.
START_SECONDS: Final = 900.0
# A server that stayed up so long was healthy: what ends it later is news, not the same fault again.
STEADY_SECONDS: Final = 60.0
LONGEST_PAUSE: Final = 60.0
# A start costs a minute of all cores; after so many that led nowhere, the next one waits longer.
FRUITLESS_STARTS: Final = 5
RESTING_SECONDS: Final = 300.0
GLANCE_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """How to reach the model."""

    url: str  # ends in /v1
    key: Secret
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerState:
    """What the model server is doing, for the page and the terminal."""

    phase: Phase
    detail: str  # one sentence or phrase for a person
    served: Served | None  # only when ready
    seconds: float  # without a model so far; at ready: how long that took


Tell = Callable[[ServerState], None]


# ------------------------------------------------------------------ the server


class ModelServer:
    """The model server of one home, as one process of it sees it."""

    def __init__(self, settings: Settings, profile: Profile, *, tell: Tell) -> None:
        self._settings = settings
        self._profile = profile
        self._tell = tell
        self._since = time.monotonic()
        self.state = ServerState(phase="stopped", detail="not started", served=None, seconds=0.0)

    async def run(self) -> None:
        """Bring the server up and keep it up until cancelled; then stop it cleanly.

        Returns early, with the state `failed`, when it cannot be brought up.
        """
        self._since = time.monotonic()
        try:
            with _lock_file(self._settings) as lock:
                await self._wait_for_turn(lock)
                await self._own(lock)
        except ModelError as error:
            self._say("failed", str(error))
        except OSError as error:
            self._say("failed", f"The model server could not be started: {error}.")
        except asyncio.CancelledError:
            self._say("stopped", "the model server is stopped")
            raise

    async def _wait_for_turn(self, lock: int) -> None:
        """Use another process's server for as long as that process owns this home's."""
        while not _try_lock(lock):
            if served := await _answering(_read_note(self._settings)):
                self._say("ready", "using the model server that is already up", served)
            else:
                self._say("starting", "another process of this box is bringing the model up")
            await asyncio.sleep(GLANCE_SECONDS)

    async def _own(self, lock: int) -> None:
        llm, settings = self._profile.llm, self._settings
        planned = fitting(self._profile)  # before gigabytes are installed for what cannot run
        self._say("installing", "looking at the model server's environment")
        program = await self._provide_program(llm)
        self._say("converting", "looking at the model")
        model = await environment.provide_model(
            settings, llm, Path(program[0]), lambda words: self._say("converting", words)
        )
        key = Secret(secrets.token_urlsafe(32))
        await keep_up(lambda: self._serve_once(lock, program, planned, model, key), self._pausing)

    async def _provide_program(self, llm: Llm) -> tuple[str, ...]:
        if llm.server.engine == "llama-server":
            return (_find_program("llama-server"),)
        python = await environment.install(
            self._settings, llm.server, lambda words: self._say("installing", words)
        )
        return (str(python), "-m", "vllm.entrypoints.openai.api_server")

    def _pausing(self, fall: Fall, seconds: float) -> None:
        self._say("starting", f"{fall.why}; trying again in {seconds:.0f} s")

    async def _serve_once(
        self, lock: int, program: tuple[str, ...], planned: Plan, model: Path, key: Secret
    ) -> Fall:
        """Run the server until it ends, and say how that went."""
        listener, notice = _listener(self._settings.model_port)
        port = _port_of(listener)
        served = Served(
            url=f"http://{HOST}:{port}/v1", key=key, model=self._profile.llm.served_name
        )
        log = _fresh_log(self._settings)
        async with self._door(listener, key) as door:
            with log.open("wb") as output:
                process = await guard.spawn(
                    (*program, *arguments(self._profile, planned, model, door)),
                    env=variables(self._profile.llm, planned, key),
                    output=output,
                    grace=STOP_SECONDS,
                    keep=(lock,),  # so that a successor waits until the last of this server is gone
                )
            try:
                _write_note(self._settings, process.pid, port, served)
                return await self._watch(process, served, log, notice)
            finally:
                await guard.end(process, STOP_SECONDS)
                _note_path(self._settings).unlink(missing_ok=True)

    @asynccontextmanager
    async def _door(self, listener: socket.socket, key: Secret) -> AsyncIterator[Door]:
        """Yield where the server listens: vLLM on a socket behind the gateway, which has the port.

        llama-server has no routes that would have to be hidden, and takes the port itself.
        """
        if self._profile.llm.server.engine != "vllm":
            port = _port_of(listener)
            listener.close()
            yield port
            return
        # A folder that only we can enter; a home's own path may be longer than a socket's can be.
        with listener, tempfile.TemporaryDirectory(prefix="permitbox-") as folder:
            path = Path(folder, "model")
            async with gateway(listener, path, key):
                yield path

    async def _watch(
        self, process: asyncio.subprocess.Process, served: Served, log: Path, notice: str
    ) -> Fall:
        began = time.monotonic()
        self._say("starting", f"{notice}starting the model server")
        while not await has_answered(served):
            self._say("starting", notice + (stage_of(_tail(log)) or "starting the model server"))
            if process.returncode is not None:
                return Fall(why=_last_words(process.returncode, log), ready_seconds=None)
            if time.monotonic() - began > START_SECONDS:
                return Fall(
                    why=f"the model server did not answer within {START_SECONDS:.0f} s (see {log})",
                    ready_seconds=None,
                )
            await asyncio.sleep(GLANCE_SECONDS)
        self._say("ready", f"{notice}{served.model} answers", served)
        ready = time.monotonic()
        status = await process.wait()
        return Fall(why=_last_words(status, log), ready_seconds=time.monotonic() - ready)

    def _say(self, phase: Phase, detail: str, served: Served | None = None) -> None:
        """Keep the state, and tell it when it is another one than before."""
        if self.state.phase == "ready" and phase != "ready":
            self._since = time.monotonic()
        seconds = time.monotonic() - self._since
        state = ServerState(phase=phase, detail=detail, served=served, seconds=seconds)
        changed = replace(state, seconds=self.state.seconds) != self.state
        if changed or phase != "ready":
            self.state = state
        if changed:
            self._tell(state)


def fitting(profile: Profile) -> Plan:
    """Return the plan of a profile for its own load.  Raises ModelServerFailed if it does not fit."""
    planned = plan(profile, own_load(profile))
    if planned.refusal:
        raise ModelServerFailed(planned.refusal)
    return planned


def _find_program(name: str) -> str:
    if path := shutil.which(name):
        return path
    raise ModelServerFailed(
        f"{name} is not on the PATH: install llama.cpp (on a Mac: brew install llama.cpp)."
    )


# ------------------------------------------------------------------ keeping it up


@dataclass(frozen=True, slots=True, kw_only=True)
class Fall:
    """How one run of the server ended."""

    why: str
    ready_seconds: float | None  # None: it never answered


async def keep_up(
    serve: Callable[[], Awaitable[Fall]],
    pausing: Callable[[Fall, float], None],
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """Run `serve` again and again, with pauses of 1, 2, 4, … 60 s between falls.

    It is never given up: whoever killed it, or took its memory, may have stopped.  After several
    starts in a row that never answered the pause is RESTING_SECONDS.
    """
    pause, fruitless = 1.0, 0
    while True:
        fall = await serve()
        fruitless = fruitless + 1 if fall.ready_seconds is None else 0
        if (fall.ready_seconds or 0.0) >= STEADY_SECONDS:
            pause = 1.0
        wait = RESTING_SECONDS if fruitless >= FRUITLESS_STARTS else pause
        pausing(fall, wait)
        await sleep(wait)
        pause = min(2 * pause, LONGEST_PAUSE)


# ------------------------------------------------------------------ the command (pure)


def arguments(profile: Profile, planned: Plan, model: Path, door: Door) -> tuple[str, ...]:
    """Return the arguments that make the profile's program serve `model` at `door` as planned."""
    llm = profile.llm
    return (
        *_naming(llm, model),
        *(
            ("--uds", str(door))
            if isinstance(door, Path)
            else ("--host", HOST, "--port", str(door))
        ),
        *planned.arguments,
        *llm.server.arguments,
    )


def _naming(llm: Llm, model: Path) -> tuple[str, ...]:
    if llm.server.engine == "llama-server":
        return ("--model", str(model), "--alias", llm.served_name)
    return (
        *("--model", str(model), "--served-model-name", llm.served_name),
        *("--dtype", llm.dtype),
        "--disable-uvicorn-access-log",  # a line per question, for nobody to read
    )


def variables(llm: Llm, planned: Plan, key: Secret) -> dict[str, str]:
    """Return the environment of the server: what keeps it quiet, local and keyed.

    The key travels here and not among the arguments, which every user of the machine can list.
    """
    return environment.clean_environ() | {
        "VLLM_API_KEY": key.value,
        "LLAMA_API_KEY": key.value,
        "VLLM_NO_USAGE_STATS": "1",
        "DO_NOT_TRACK": "1",
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "VLLM_HOST_IP": HOST,  # else it looks for the address that leads to the internet
        "GLOO_SOCKET_IFNAME": "lo" if os.uname().sysname == "Linux" else "lo0",
        "VLLM_CPU_KVCACHE_SPACE": str(-(-planned.cache_bytes // GIB)),
        **llm.server.environment,
    }


# What vLLM logs on its way up, latest first, and what that means to a person.
_STAGES: Final = (
    ("Application startup complete", "asking the model for its first word"),
    ("Starting vLLM", "opening the model server's port"),
    ("init engine", "warming the model up"),
    ("KV cache size", "reserving memory for the conversations"),
    ("Loading weights took", "reading the model: done"),
    ("Starting to load model", "reading the model"),
    ("Initializing a V1 LLM engine", "starting the engine"),
    ("non-default args", "reading the model's configuration"),
)


def stage_of(log: str) -> str | None:
    """Return how far a starting server has come, by its log; None when it says nothing known."""
    return next((words for needle, words in _STAGES if needle in log), None)


# ------------------------------------------------------------------ asking it


async def has_answered(served: Served) -> bool:
    """Tell whether the server really completes a chat: the only health that counts."""
    question = {
        "model": served.model,
        "messages": [{"role": "user", "content": "Hi"}],
        "max_tokens": 1,
    }
    reply = await _request(served, "POST", "/chat/completions", question, seconds=30.0)
    return reply is not None and reply.status_code == httpx.codes.OK


async def serving_now(settings: Settings) -> Served | None:
    """Return the model server of this home if one is up and answers, whoever owns it."""
    return await _answering(_read_note(settings))


async def _answering(served: Served | None) -> Served | None:
    """Return `served` if a server of this home answers there with its key."""
    if served is None:
        return None
    reply = await _request(served, "GET", "/models", None, seconds=5.0)
    return served if reply is not None and reply.status_code == httpx.codes.OK else None


async def _request(
    served: Served, method: str, path: str, body: object, *, seconds: float
) -> httpx.Response | None:
    # A proxy of the environment must not be asked for a loopback address; and the bare transport
    # loads no certificates, which plain http has no use for, at every glance.
    transport = httpx.AsyncHTTPTransport(verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
    async with httpx.AsyncClient(transport=transport, timeout=seconds) as client:
        try:
            return await client.request(
                method,
                served.url + path,
                json=body,
                headers={"Authorization": f"Bearer {served.key.value}"},
            )
        except httpx.TransportError:
            return None


# ------------------------------------------------------------------ lock, note, port, log


@contextlib.contextmanager
def _lock_file(settings: Settings) -> Iterator[int]:
    settings.run_dir.mkdir(parents=True, exist_ok=True)
    lock = os.open(settings.run_dir / "model-server.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        yield lock
    finally:
        os.close(lock)


def _try_lock(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _note_path(settings: Settings) -> Path:
    return settings.run_dir / "model-server.json"


def _write_note(settings: Settings, pid: int, port: int, served: Served) -> None:
    """Leave word for the other processes of this home; only the owner may read the key."""
    note = {
        "pid": pid,
        "port": port,
        "key": served.key.value,
        "model": served.model,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    path = _note_path(settings)
    draft = path.with_suffix(".part")
    draft.unlink(missing_ok=True)
    draft.touch(mode=0o600, exist_ok=False)
    draft.write_text(json.dumps(note), "utf-8")
    draft.replace(path)


def _read_note(settings: Settings) -> Served | None:
    try:
        note = json.loads(_note_path(settings).read_text("utf-8"))
        return Served(
            url=f"http://{HOST}:{int(note['port'])}/v1",
            key=Secret(str(note["key"])),
            model=str(note["model"]),
        )
    except (OSError, ValueError, KeyError, TypeError):  # none yet, or not ours: as good as none
        return None


def _listener(wanted: int) -> tuple[socket.socket, str]:
    """Return a socket at the wanted port, if possible, and what to say if it is another."""
    listener = socket.socket()
    # As a server itself does it: a connection that still winds down is no obstacle.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, wanted))
    except OSError:
        listener.bind((HOST, 0))
        port = _port_of(listener)
        return listener, f"port {wanted} is taken by another program, using {port}: "
    return listener, ""


def _port_of(listener: socket.socket) -> int:
    return int(listener.getsockname()[1])


def _fresh_log(settings: Settings) -> Path:
    """Return the path of a new log; the previous one stays beside it."""
    settings.log_dir.mkdir(parents=True, exist_ok=True)
    log = settings.log_dir / "model-server.log"
    if log.exists():
        log.replace(log.with_suffix(".log.1"))
    return log


def _tail(log: Path) -> str:
    with log.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - 65536))
        return file.read().decode("utf-8", "replace")


def _last_words(status: int, log: Path) -> str:
    if status < 0 or status > 128:  # as the guard reports a signal, or as we see the guard's own
        return f"the model server was ended by signal {abs(status) % 128} (see {log})"
    lines = [line.strip() for line in _tail(log).splitlines()]
    errors = [line for line in lines if "Error" in line and " WARNING " not in line]
    said = f": {errors[-1][:200]}" if errors else ""
    return f"the model server ended with status {status}{said} (see {log})"
