"""The one composition root: settings in, a house of concrete parts out.

Nothing else knows which classes stand behind the ports, and nothing is opened
outside `open_house`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import anyio.to_thread

from appliance.answering import Memory
from appliance.ask import ChatAt
from appliance.clients.chat import OpenAIChat
from appliance.clients.encode import MiniLmEncoder
from appliance.clients.rerank import LateReranker
from appliance.errors import ChatUnavailable, SettingsError, StoreError
from appliance.owner_file import owner_of_home
from appliance.pipeline import pipeline_version
from appliance.serving.model_server import Served, serving_now
from appliance.settings import Secret, Settings
from appliance.store import embedded
from appliance.store.cache import PostgresAnswerCache
from appliance.store.database import Pool, open_pool, pgvector_warning, until_lost
from appliance.store.history import PostgresHistory
from appliance.store.loading import PostgresLoader, prepare_model
from appliance.store.search import PostgresStore
from appliance.store.trail import PostgresTrail
from appliance.store.words import weigh_stale
from models.manifest import Manifest, UnknownProfile, read_manifest

_log = logging.getLogger(__name__)

KEEPER_PAUSE = 5.0  # seconds between two tries to start a database that does not start


@dataclass(slots=True, kw_only=True)
class House:
    """Everything that a command or a request needs, opened and connected."""

    settings: Settings
    manifest: Manifest
    store: PostgresStore
    loader: PostgresLoader
    history: PostgresHistory
    encoder: MiniLmEncoder
    pool: Pool
    cache: PostgresAnswerCache
    trail: PostgresTrail
    _stack: AsyncExitStack
    _chats: dict[str, ChatAt] = field(default_factory=dict)

    @property
    def memory(self) -> Memory | None:
        """Return where answers are kept for those who ask the same; None where that is off."""
        if not self.settings.answer_cache:
            return None
        return Memory(cache=self.cache, pipeline=pipeline_version(self.encoder.model))

    async def chat(self) -> ChatAt | None:
        """Return the chat server that answers now: the given one, else this home's own; or None."""
        if self.settings.chat_url is not None:
            return await self._client(
                self.settings.chat_url, self.settings.chat_key, self.settings.chat_model
            )
        served = await serving_now(self.settings)
        return None if served is None else await self.chat_at(served)

    async def chat_at(self, served: Served) -> ChatAt | None:
        """Return a client of one of our own servers."""
        return await self._client(served.url, served.key, served.model)

    async def _client(self, url: str, key: Secret | None, model: str | None) -> ChatAt | None:
        """Return the client of a server, made once; None while it does not say what it serves."""
        name = f"{url} {key.value if key else ''} {model or ''}"
        if name not in self._chats:
            chat = OpenAIChat(url, key=key, model=model, seconds=self.settings.chat_seconds)
            try:
                demo = self.manifest.is_demo(await chat.model())
            except ChatUnavailable:
                await chat.aclose()
                return None
            self._stack.push_async_callback(chat.aclose)
            self._chats[name] = ChatAt(chat=chat, demo=demo)
        return self._chats[name]


@asynccontextmanager
async def open_house(settings: Settings) -> AsyncIterator[House]:
    """Open everything for the settings and close it again, in the opposite order.

    Starts the embedded PostgreSQL unless a DSN is set.  Raises StoreError, WeightsRefused or
    SettingsError, each with one sentence.
    """
    manifest = read_manifest()
    try:
        manifest.profile(settings.profile)
    except UnknownProfile as error:
        raise SettingsError(str(error)) from error
    async with AsyncExitStack() as stack:
        dsn = await _dsn(settings, stack)
        pool = await stack.enter_async_context(open_pool(dsn))
        if warning := await pgvector_warning(pool):
            _log.warning("%s", warning)
        encoder = await anyio.to_thread.run_sync(_encoder, settings)
        stack.callback(encoder.close)
        tables = await prepare_model(pool, name=encoder.model, dimension=encoder.dimension)
        await weigh_stale(pool)
        trail = PostgresTrail(pool, days=settings.answer_days)
        await _seal_older(trail, settings)
        yield House(
            settings=settings,
            manifest=manifest,
            store=PostgresStore(pool, vectors=tables.vectors),
            loader=PostgresLoader(pool, tables),
            history=PostgresHistory(pool),
            encoder=encoder,
            pool=pool,
            cache=PostgresAnswerCache(pool, vectors=tables.vectors),
            trail=trail,
            _stack=stack,
        )


async def _seal_older(trail: PostgresTrail, settings: Settings) -> None:
    """Give what an older box kept in clear to the home's own user, sealed."""
    owner = owner_of_home(settings.home)
    await trail.seal_older(owner.name, owner.seal)


def _encoder(settings: Settings) -> MiniLmEncoder:
    encoder = MiniLmEncoder(threads=settings.encoder_threads)
    encoder.reranker = LateReranker(encoder)
    return encoder


async def _dsn(settings: Settings, stack: AsyncExitStack) -> str:
    """Return the connection string: the given one, or that of the embedded server, started here."""
    if settings.dsn is not None:
        return settings.dsn.value
    cluster = await stack.enter_async_context(_embedded(settings))
    await stack.enter_async_context(_kept_up(settings, cluster.dsn))
    return cluster.dsn


@asynccontextmanager
async def _embedded(settings: Settings) -> AsyncIterator[embedded.Cluster]:
    """Have the embedded server running; threads do the waiting.

    Cancelled in the middle of a start (by Ctrl-C), it waits for that start, so as to end it in order.
    """
    running = embedded.running(settings)
    entering = asyncio.create_task(anyio.to_thread.run_sync(running.__enter__))
    try:
        yield await asyncio.shield(entering)
    finally:
        await asyncio.wait([entering])
        if entering.exception() is None:
            await anyio.to_thread.run_sync(running.__exit__, None, None, None)


@asynccontextmanager
async def _kept_up(settings: Settings, dsn: str) -> AsyncIterator[None]:
    """Start the embedded server again whenever it dies, for as long as the block runs."""
    keeper = asyncio.create_task(_keep_up(settings, dsn), name="database keeper")
    try:
        yield
    finally:
        keeper.cancel()
        await asyncio.wait([keeper])


async def _keep_up(settings: Settings, dsn: str) -> None:
    while True:
        await until_lost(dsn)
        _log.warning("PostgreSQL has ended; it is started again.")
        try:
            # One more user of the cluster starts it; as we are one too, leaving does not stop it.
            async with _embedded(settings):
                pass
        except StoreError as error:
            _log.error("%s", error)
            await asyncio.sleep(KEEPER_PAUSE)
