"""What a request finds at hand: the open house, the observer, and the way to keep the books.

The one place where routes meet a flow; knows nothing of HTTP but where the desk lies.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from appliance.answering import answered
from appliance.answers.ownership import Owner
from appliance.ask import Asked, Event, Finished
from appliance.corpus.entities import parse_having
from appliance.domain import CityId, Having, parse_city_id
from appliance.errors import BadRequest
from appliance.forms import record_of
from appliance.metrics import Metrics
from appliance.serving.model_server import ServerState
from appliance.wiring import House


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """The parts that every route works with."""

    house: House
    metrics: Metrics
    model_state: Callable[[], ServerState | None]  # None: this process runs no model server

    async def answer(self, asked: Asked, owner: Owner | None = None) -> AsyncGenerator[Event]:
        """Yield the events of one question; its answer is on the books before it is shown.

        There it belongs to `owner`, or to nobody who could read it.
        """
        house = self.house
        chat, memory = await house.chat(), house.memory
        flow = answered(house.store, house.encoder, chat, asked, memory=memory)
        async with aclosing(flow) as events:
            async for event in events:
                if isinstance(event, Finished):
                    await house.trail.keep(record_of(event, owner or Owner.new()))
                    self.metrics.answered(event.outcome, event.timings_ms, event.cache)
                yield event

    async def model_answers(self) -> bool:
        """Tell whether a model server can be asked now."""
        return await self.house.chat() is not None


def desk_of(request: Request) -> Desk:
    """Return the desk of the app that got the request."""
    desk: Desk = request.app.state.desk
    return desk


AtDesk = Annotated[Desk, Depends(desk_of)]


def city_named(text: str) -> CityId:
    """Return the id of a city that a request names.  Raises BadRequest with what an id looks like."""
    try:
        return parse_city_id(text)
    except ValueError as error:
        raise BadRequest(f"{error}.") from error


def having_named(texts: Sequence[str]) -> tuple[Having, ...]:
    """Return the filters that a request names.  Raises BadRequest with what a filter looks like."""
    try:
        return tuple(map(parse_having, texts))
    except ValueError as error:
        raise BadRequest(f"{error}.") from error
