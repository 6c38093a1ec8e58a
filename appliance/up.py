"""Running the box: the page (`serve`), the model server (`serve llm`), or both with samples (`up`).

Everything runs in one task group; Ctrl-C or a signal ends it in order: page, model
server, database.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import date
from importlib.resources import as_file, files
from pathlib import Path

import uvicorn
from rich.console import Console

from appliance.ask import Asked, ask, drain
from appliance.domain import CityId
from appliance.errors import ModelServerFailed, PermitBoxError, SettingsError
from appliance.ingest import Progress, ingest
from appliance.serving.model_server import ModelServer, ServerState
from appliance.settings import Settings
from appliance.terminal import print_answer
from appliance.web.app import create_app
from appliance.wiring import House, open_house
from models.manifest import Profile

SAMPLE_CITY = CityId("alder-falls-xx")
SAMPLE_QUESTION = "How long is my building permit good for if I never start the work?"


async def serve(settings: Settings, *, port: int, out: Console) -> None:
    """Serve the page over the current home until stopped; a model that is up already is used."""
    async with _stopping() as stopped, open_house(settings) as house:
        async with _page(house, port, out, lambda: None):
            await stopped.wait()
        out.print("Stopped.")


async def serve_llm(settings: Settings, profile: Profile, *, out: Console) -> None:
    """Keep the profile's model server up, with the planned arguments, until stopped.

    Raises ModelServerFailed when it cannot be brought up; first of all when its sum does not fit.
    """
    model = ModelServer(settings, profile, tell=lambda state: _say_state(state, out))
    async with _stopping() as stopped:
        serving = asyncio.create_task(model.run())
        waiting = asyncio.create_task(stopped.wait())
        await asyncio.wait((serving, waiting), return_when=asyncio.FIRST_COMPLETED)
        failed = serving.done()
        for task in (serving, waiting):
            task.cancel()
        await asyncio.wait((serving, waiting))
    if failed:
        raise ModelServerFailed(model.state.detail)
    out.print("Stopped.")


async def up(settings: Settings, *, out: Console) -> None:
    """Bring everything up, say what happens, and keep it up until stopped."""
    began = time.monotonic()
    async with _stopping() as stopped, open_house(settings) as house:
        model = _model_server(settings, house, out)
        state = (lambda: model.state) if model else (lambda: None)
        async with _page(house, settings.port, out, state), asyncio.TaskGroup() as group:
            tasks = [group.create_task(model.run())] if model else []
            tasks.append(group.create_task(_introduce(house, model, out, began)))
            await stopped.wait()
            out.print("\nStopping …")
            for task in tasks:
                task.cancel()
        out.print("Stopped; everything is kept for the next run.")


# ------------------------------------------------------------------ the page


@asynccontextmanager
async def _page(
    house: House, port: int, out: Console, state: Callable[[], ServerState | None]
) -> AsyncIterator[None]:
    """Serve the page on a socket that is bound before anything is said about it."""
    listener = _bind(house.settings.host, port)
    app = create_app(house, model_state=state)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        lifespan="off",
        ws="none",
        server_header=False,
        proxy_headers=False,  # there is no proxy that we would believe
        timeout_graceful_shutdown=5,
    )
    server = uvicorn.Server(config)
    # Signals are ours: uvicorn's own handlers would end the page before the rest is told.
    server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign,assignment]
    task = asyncio.create_task(server.serve(sockets=[listener]))
    host, bound = listener.getsockname()[:2]
    while not server.started and not task.done():
        await asyncio.sleep(0.02)
    out.print(f"The page is at [bold]http://{_shown(host)}:{bound}[/bold]")
    try:
        yield
    finally:
        server.should_exit = True
        await task
        listener.close()


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise SettingsError(
            f"Port {port} on {host} cannot be used ({error.strerror}); "
            "set PERMITBOX_PORT (or --port) to a free one."
        ) from error
    return listener


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host


@asynccontextmanager
async def _stopping() -> AsyncIterator[asyncio.Event]:
    """Yield an event that is set by Ctrl-C, SIGTERM or a closed terminal."""
    event = asyncio.Event()
    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    for number in signals:
        loop.add_signal_handler(number, event.set)
    try:
        yield event
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


# ------------------------------------------------------------------ the model server


def _model_server(settings: Settings, house: House, out: Console) -> ModelServer | None:
    if settings.chat_url is not None:
        out.print(f"Using the model server at {settings.chat_url}")
        return None
    profile = house.manifest.profile(settings.profile)
    return ModelServer(settings, profile, tell=lambda state: _say_state(state, out))


def _say_state(state: ServerState, out: Console) -> None:
    out.print(
        f"  model server: {state.phase}: {state.detail} ({state.seconds:.0f} s)",
        style="dim",
        markup=False,
    )


# ------------------------------------------------------------------ the first minutes


async def _introduce(house: House, model: ModelServer | None, out: Console, began: float) -> None:
    """Load the samples into an empty box and show one question, with and without the model."""
    try:
        await load_samples(house, out)
        out.print(f"Ready to answer in quotes after {time.monotonic() - began:.1f} s.")
        await _show_question(house, out)
        if model is not None and await _model_joined(model):
            out.print(f"The model server joined after {time.monotonic() - began:.0f} s.")
            await _show_question(house, out)
        elif model is not None:
            out.print("No model server: the box goes on in quotes mode.")
        out.print("Ctrl-C stops everything.")
    except PermitBoxError as error:
        out.print(f"permitbox: {error}", style="bold red", markup=False)


async def load_samples(house: House, out: Console) -> None:
    """Ingest the sample cities if the box is empty."""
    if any(c.dense_ready for c in await house.store.cities()):
        return
    out.print("Loading the two sample cities (fictional) …")

    def tell(p: Progress) -> None:
        if p.done == p.total:
            out.print(f"  {p.stage}: {p.done:,} {p.unit} ({p.rate:,.0f}/s)", style="dim")

    with as_file(files("appliance").joinpath("samples")) as folder:
        await ingest(
            house.loader,
            house.encoder,
            [Path(folder)],
            city=None,
            today=date.today(),
            tell=tell,
        )


async def _model_joined(model: ModelServer) -> bool:
    while model.state.phase not in ("ready", "failed"):
        await asyncio.sleep(0.5)
    return model.state.phase == "ready"


async def _show_question(house: House, out: Console) -> None:
    cities = [c.city.id for c in await house.store.cities()]
    if SAMPLE_CITY not in cities:
        return
    out.print(f"\n[bold]{SAMPLE_QUESTION}[/bold] (Alder Falls)")
    asked = Asked(question=SAMPLE_QUESTION, city=SAMPLE_CITY, as_of=date.today())
    print_answer(await drain(ask(house.store, house.encoder, await house.chat(), asked)), out)
