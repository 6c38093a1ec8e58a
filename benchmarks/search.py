"""Milliseconds of a search, leg by leg, over what the current home holds."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from appliance.domain import LEGS, CityId, Leg, Query
from appliance.retrieve import Recipe, retrieve
from appliance.wiring import House


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Milliseconds of one kind of search in one city."""

    city: str
    chunks: int
    legs: tuple[Leg, ...]
    milliseconds: tuple[float, ...]

    def report(self) -> str:
        """Return one line: city, size, legs, p50, p95, n."""
        times = sorted(self.milliseconds)
        p95 = times[min(len(times) - 1, int(0.95 * len(times)))]
        return (
            f"{self.city:<26} {self.chunks:>7,} chunks  {'+'.join(self.legs):<22} "
            f"p50 {statistics.median(times):7.1f} ms  p95 {p95:7.1f} ms  n={len(times)}"
        )


async def measure(house: House, questions: Sequence[tuple[CityId, str]]) -> list[Latency]:
    """Search every question once with each leg alone and with all; after one round to warm up."""
    sizes = {c.city.id: c.chunks for c in await house.store.cities()}
    choices: list[tuple[Leg, ...]] = [*((leg,) for leg in LEGS), LEGS]
    times: dict[tuple[CityId, tuple[Leg, ...]], list[float]] = {}
    for warm in (True, False):
        for city, text in questions:
            for legs in choices:
                query = Query(text=text, city=city, as_of=date.today())
                began = time.perf_counter()
                await retrieve(house.store, house.encoder, query, 10, recipe=Recipe(legs=legs))
                if not warm:
                    took = (time.perf_counter() - began) * 1000
                    times.setdefault((city, legs), []).append(took)
    return [
        Latency(city=city, chunks=sizes[city], legs=legs, milliseconds=tuple(of))
        for (city, legs), of in sorted(times.items(), key=lambda i: (sizes[i[0][0]], i[0]))
    ]
