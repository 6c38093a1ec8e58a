"""Twins of the ports, for tests and demonstrations: they keep the contract and need no model.

They are ours to keep true: where a twin and the real part disagree, the twin is
wrong.  Real PostgreSQL and the real encoder start in a second, so they have none, but for the
registry: thousands of questions are asked of it in a test.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from dataclasses import dataclass, field

import anyio

from appliance.corpus.labels import labels_of
from appliance.corpus.references import number_key
from appliance.domain import Accepted, CityId, SectionId
from appliance.errors import ChatBroken, ChatUnavailable
from appliance.ports import MOST_BEARERS, Bearer, ChatMessage

Reply = str | Callable[[Sequence[ChatMessage]], str]


@dataclass(slots=True, kw_only=True)
class ScriptedChat:
    """A chat server that says what it was told to, in pieces of a few characters.

    `reply` may look at the messages (a quote copied from a passage, say).  `fails` makes it fail
    after the pieces, or at once if there are none; `pause` is the time before each piece.
    """

    reply: Reply = ""
    name: str = "scripted"
    window: int = 8192
    fails: ChatBroken | ChatUnavailable | None = None
    pause: float = 0.0
    choice: Reply | None = None  # what it takes where it has to choose; None: the first
    seen: list[Sequence[ChatMessage]] = field(default_factory=list)
    closed: int = 0  # how many streams were given up before their end

    async def model(self) -> str:
        """Return the name."""
        return self.name

    async def context(self) -> int:
        """Return the window."""
        return self.window

    async def stream(
        self, messages: Sequence[ChatMessage], *, max_tokens: int, temperature: float
    ) -> AsyncGenerator[str]:
        """Yield the reply in pieces; an over-long one is cut, which is an error as in life."""
        del temperature
        self.seen.append(tuple(messages))
        text = self.reply if isinstance(self.reply, str) else self.reply(messages)
        finished = False
        try:
            for i in range(0, min(len(text), max_tokens * 4), 7):
                await anyio.sleep(self.pause)
                yield text[i : i + 7]
            finished = True
        finally:
            self.closed += not finished
        if self.fails is not None:
            raise self.fails
        if not text or len(text) > max_tokens * 4:
            raise ChatBroken("The model's reply was empty or cut.")

    async def choose(self, messages: Sequence[ChatMessage], choices: Sequence[str]) -> str:
        """Return what it was told to take."""
        self.seen.append(tuple(messages))
        if self.choice is None:
            return choices[0]
        taken = self.choice if isinstance(self.choice, str) else self.choice(messages)
        if taken not in choices:
            raise ChatBroken(f"The model chose {taken!r}, which was not asked.")
        return taken


class ListedRegister:
    """The registry of one city in memory, made of accepted documents as the loader makes it of them."""

    def __init__(self, documents: Iterable[Accepted]) -> None:
        self.bearers: list[Bearer] = []
        self._by_key: dict[str, list[Bearer]] = defaultdict(list)
        self._labels: dict[SectionId, set[tuple[str, str]]] = defaultdict(set)
        self._sections = 0
        for accepted in documents:
            self._add(accepted)

    def _add(self, accepted: Accepted) -> None:
        document, first = accepted.document, self._sections + 1
        self._sections += len(accepted.sections)
        for label in labels_of(document.body, accepted.sections):
            section = accepted.sections[label.section]
            bearer = Bearer(
                section=SectionId(first + label.section),
                external_id=section.external_id,
                citation=section.citation,
                heading=section.heading,
                path=section.path,
                kind=label.kind,
                number=label.number,
                weight=label.weight,
                standing=section.standing,
                effective_from=document.effective_from,
                effective_until=document.effective_until,
                doc_type=document.kind,
            )
            self.bearers.append(bearer)
            self._by_key[number_key(label.number)].append(bearer)
            self._labels[bearer.section].add((label.kind, number_key(label.number)))

    async def bearing(
        self,
        city: CityId,
        keys: Sequence[str],
        kinds: Sequence[str],
        within: Sequence[tuple[Sequence[str], Sequence[str]]] = (),
    ) -> Sequence[Bearer]:
        """Return sections that bear a number with one of the keys, within all of the containers."""
        del city
        found = [
            b
            for key in dict.fromkeys(keys)
            for b in self._by_key.get(key, ())
            if b.kind in kinds and self._within(b.section, within)
        ]
        return sorted(found, key=lambda b: (b.weight, b.section))[:MOST_BEARERS]

    def _within(
        self, section: SectionId, within: Sequence[tuple[Sequence[str], Sequence[str]]]
    ) -> bool:
        labels = self._labels[section]
        return all(any((u, k) in labels for u in units for k in keys) for units, keys in within)

    async def beneath(self, city: CityId, key: str) -> Sequence[Bearer]:
        """Return the sections whose own number goes on from the key."""
        del city
        found = [
            b
            for b in self.bearers
            if b.weight == 0 and b.kind != "whole" and number_key(b.number).startswith(f"{key}.")
        ]
        return found[:MOST_BEARERS]
