"""The events of an answer as server-sent events, for as long as somebody listens.

When the client goes away the flow is closed at once, and with it the model's
work on it.  Knows how events are written, not how they come about.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Final

import anyio
from anyio import CancelScope
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from appliance.answers.validity import warning_of
from appliance.ask import (
    CitationProven,
    Event,
    Finished,
    PassagesFound,
    SupportJudged,
    TokenWritten,
)
from appliance.errors import PermitBoxError
from appliance.forms import citation_json, hits_json, outcome_json
from appliance.web.layout import quote_blocks, titles_over
from appliance.web.problems import problem_of
from appliance.web.schemas import blocks_json, coverage_out

# Proxies and browsers give up on a silent connection after 30 to 60 seconds; a model on two cores
# is silent for longer.
HEARTBEAT_SECONDS: Final = 15.0
_HEARTBEAT = b": still at work\n\n"


def frame(name: str, data: dict[str, Any]) -> bytes:
    """Return one event.  JSON has no line ends, so one data line holds it."""
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


def frame_of(event: Event) -> bytes:
    """Return an event of the flow as it goes to the page."""
    match event:
        case PassagesFound():
            found = {"hits": hits_json(event.passages, event.as_of)}
            coverage = coverage_out(event.coverage).model_dump(mode="json")
            return frame("passages", {"coverage": coverage} | found)
        case TokenWritten():
            return frame("token", {"text": event.text, "demo": event.demo})
        case CitationProven():
            laws = event.citation.section.pending(event.as_of)
            shown = {
                "blocks": blocks_json(quote_blocks(event.citation)),
                "titles": titles_over(event.citation),
                "notices": [warning_of(law, event.as_of) for law in laws],
            }
            cited = citation_json(event.number, event.citation, event.as_of)
            return frame("citation", cited | shown)
        case Finished():
            return frame("answer", outcome_json(event))
        case SupportJudged():
            return frame("support", {"claim": event.claim, "support": event.support})


async def opened(events: AsyncGenerator[Event]) -> EventStream:
    """Return the stream of a flow that has begun.

    What the flow refuses before its first event is raised here, where it can still become a
    response with a status of its own.
    """
    return EventStream(_frames(await anext(events), events))


async def _frames(first: Event, rest: AsyncGenerator[Event]) -> AsyncGenerator[bytes]:
    async with aclosing(rest):
        try:
            yield frame_of(first)
            async for event in rest:
                yield frame_of(event)
        except PermitBoxError as error:
            yield frame("error", problem_of(error).model_dump(exclude_none=True))


class EventStream(StreamingResponse):
    """A response that beats while it has nothing to say and ends when nobody listens."""

    def __init__(self, frames: AsyncGenerator[bytes]) -> None:
        super().__init__(
            frames, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"}
        )
        self._frames = frames

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the frames until they end or the client goes."""
        del scope
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        async with aclosing(self._frames), anyio.create_task_group() as group:
            await send(start)
            group.start_soon(_until_gone, receive, group.cancel_scope)
            group.start_soon(_beat, send)
            async for body in self._frames:
                await send({"type": "http.response.body", "body": body, "more_body": True})
            group.cancel_scope.cancel()
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _until_gone(receive: Receive, scope: CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


async def _beat(send: Send) -> None:
    while True:
        await anyio.sleep(HEARTBEAT_SECONDS)
        await send({"type": "http.response.body", "body": _HEARTBEAT, "more_body": True})
