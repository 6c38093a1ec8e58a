"""Twins of the ports, for tests and demonstrations: they keep the contract and need no model.

They are ours to keep true: where a twin and the real part disagree, the twin is
wrong.  Real PostgreSQL and the real encoder start in a second, so they have none.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field

import anyio

from appliance.errors import ChatBroken, ChatUnavailable
from appliance.ports import ChatMessage

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
