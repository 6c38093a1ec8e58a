"""A question to its answer, made before or made now: the one way by which every face asks.

An answer that is kept for others is given again only if nothing that it depends on has changed and
each of its quotes is proven anew against the stored text.  Abstentions are never kept, nor is what a
failing model server left behind.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Collection, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from appliance.answers.cache import CacheKey, Kept, Versions, kept_form
from appliance.answers.routing import checked_question, routed
from appliance.ask import (
    Asked,
    ChatAt,
    CitationProven,
    Event,
    Finished,
    SupportJudged,
    ask,
    with_support,
)
from appliance.domain import Answer, Route, SectionId
from appliance.errors import ChatUnavailable
from appliance.ports import AnswerCache, CachedAnswer, Chat, ChatMessage, Encoder, Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Where answers are kept, and the version of whatever makes them."""

    cache: AnswerCache
    pipeline: str


async def answered(
    store: Store, encoder: Encoder, chat: ChatAt | None, asked: Asked, *, memory: Memory | None
) -> AsyncGenerator[Event]:
    """Yield the events of one question, as `ask` does; without a memory always made anew.

    A kept answer comes as its citations and `Finished` with `cache` set.  Raises as `ask` does.
    """
    began = time.perf_counter()
    key = None if memory is None else await _key(memory, chat, asked)
    if memory is None or key is None:
        flow = ask(store, encoder, chat, asked)
    else:
        opening = _Opening(key)
        looked = await memory.cache.look(asked.city, key.exact, key.semantic, opening.cited)
        if looked.found and (hit := await _hit(memory.cache, looked.found, opening.kept, asked)):
            took = round((time.perf_counter() - began) * 1000, 2)
            for event in _events(replace(hit, timings_ms={"cache": took, "total": took})):
                yield event
            return
        place = _Place(cache=memory.cache, key=key, corpus=looked.corpus)
        flow = _remembered(store, encoder, chat, asked, place)
    async with aclosing(flow) as events:
        async for later in events:
            yield later


async def _key(memory: Memory, chat: ChatAt | None, asked: Asked) -> CacheKey | None:
    """Return where the answer is kept; None for one that hangs on a conversation."""
    question = checked_question(asked.question)
    kind = routed(question, selected=asked.city, cities=(), before=asked.before)
    if kind.route is Route.FOLLOW_UP:
        return None
    try:
        model = "" if chat is None else f"{await chat.chat.model()}|{chat.demo}"
    except ChatUnavailable:
        return None
    versions = Versions(pipeline=memory.pipeline, model=model)
    return CacheKey.of(question, asked.city, asked.as_of, versions)


# ------------------------------------------------------------------ made before


class _Opening:
    """Opens what the store finds, once."""

    def __init__(self, key: CacheKey) -> None:
        self._key = key
        self.kept: Kept | None = None

    def cited(self, sealed: bytes) -> Collection[SectionId]:
        """Return the sections that a sealed answer cites; none if the key does not open it."""
        self.kept = Kept.of(self._key, sealed)
        return self.kept.cited() if self.kept else ()


async def _hit(
    cache: AnswerCache, found: CachedAnswer, kept: Kept | None, asked: Asked
) -> Finished | None:
    """Return the kept outcome with its proofs made anew; one that fails is forgotten."""
    finished = None if kept is None else kept.proven(Finished, found.sections, asked.city)
    if kept is None or finished is None:
        await cache.drop(found.exact)
        return None
    question = checked_question(asked.question)
    whole = replace(asked, question=question, as_of=kept.day)
    return replace(finished, asked=whole, cache=found.how)


def _events(finished: Finished) -> Iterator[Event]:
    assert isinstance(finished.outcome, Answer)  # nothing else is kept
    for number, citation in enumerate(finished.outcome.citations, start=1):
        yield CitationProven(number=number, citation=citation, as_of=finished.asked.as_of)
    yield finished


# ------------------------------------------------------------------ made now


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where an answer that is being made will be kept."""

    cache: AnswerCache
    key: CacheKey
    corpus: str | None  # of the law before anything was read of it

    async def keep(self, finished: Finished) -> None:
        if self.corpus is not None and isinstance(finished.outcome, Answer):
            asked = finished.asked
            nobody = replace(asked, question="", before=())
            kept = replace(finished, asked=nobody, read_as=None, timings_ms={})
            sealed = kept_form(self.key, kept, asked.as_of)
            key = self.key
            await self.cache.keep(asked.city, self.corpus, key.exact, key.semantic, sealed)


async def _remembered(
    store: Store, encoder: Encoder, chat: ChatAt | None, asked: Asked, place: _Place
) -> AsyncGenerator[Event]:
    """Yield the events of a question that is answered now, and keep its answer when all is said."""
    watched = None if chat is None else _Watched(chat.chat)
    at = None if chat is None or watched is None else replace(chat, chat=watched)
    finished: Finished | None = None
    support: dict[int, float] = {}
    async with aclosing(ask(store, encoder, at, asked)) as events:
        async for event in events:
            if isinstance(event, Finished):
                finished = event
            elif isinstance(event, SupportJudged):
                support[event.claim] = event.support
            yield event
    if finished is not None and not (watched and watched.failed):
        await place.keep(with_support(finished, support))


class _Watched:
    """A chat that remembers whether everything that was asked of it came to its end."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._begun = self._ended = 0

    @property
    def failed(self) -> bool:
        """Tell whether a call failed, or was given up."""
        return self._begun != self._ended

    async def model(self) -> str:
        self._begun += 1
        name = await self._chat.model()
        self._ended += 1
        return name

    async def context(self) -> int:
        self._begun += 1
        tokens = await self._chat.context()
        self._ended += 1
        return tokens

    async def stream(
        self, messages: Sequence[ChatMessage], *, max_tokens: int, temperature: float
    ) -> AsyncGenerator[str]:
        self._begun += 1
        stream = self._chat.stream(messages, max_tokens=max_tokens, temperature=temperature)
        async with aclosing(stream) as pieces:
            async for piece in pieces:
                yield piece
        self._ended += 1

    async def choose(self, messages: Sequence[ChatMessage], choices: Sequence[str]) -> str:
        self._begun += 1
        choice = await self._chat.choose(messages, choices)
        self._ended += 1
        return choice
