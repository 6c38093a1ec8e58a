"""`permitbox reindex`: build the indexes of cities anew, words and vectors, beside those in use.

A city answers from its old indexes until the new ones take their place, in one
transaction each; stopped anywhere, what is done stays and the rest is as it was.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated

import typer

from appliance.commands.options import Json, city_of, err, out, print_json, run_in_house
from appliance.errors import EmptyIndex
from appliance.ingest import Progress
from appliance.ports import IndexedCity, Indexer
from appliance.terminal import Ticker
from appliance.wiring import House

_PAUSE = 0.5  # seconds between two looks at how far a build is


def reindex_command(
    city: Annotated[str | None, typer.Argument(help="City id; all without one.")] = None,
    as_json: Json = False,
) -> None:
    """Build the indexes of a city, or of all, anew; the box goes on answering meanwhile."""
    wanted = None if city is None else city_of(city)
    tell = Ticker(err)

    async def work(house: House) -> Sequence[IndexedCity]:
        if wanted is not None:
            await house.store.coverage(wanted)  # says which cities there are
        cities = [c for c in await house.loader.indexed_cities() if wanted in (None, c.slug)]
        if not cities:
            raise EmptyIndex("Nothing has been ingested yet; `permitbox ingest PATH` loads a code.")
        await reindex(house.loader, cities, tell)
        return [c for c in await house.loader.indexed_cities() if wanted in (None, c.slug)]

    done: Sequence[IndexedCity] = run_in_house(work)
    tell.end()
    if as_json:
        print_json({"cities": [_facts(c) for c in done]})
        return
    for each in done:
        out.print(f"{each.slug:<26} {each.vectors:>9,} vectors  {_path(each)}", markup=False)


async def reindex(
    loader: Indexer, cities: Sequence[IndexedCity], tell: Callable[[Progress], None]
) -> None:
    """Build the indexes of the cities anew, the smallest first.

    Raises IngestRunning if an ingest or another rebuild works on the same store.
    """
    clock = _Clock(sum(c.vectors for c in cities), tell)
    async with loader.exclusive():
        for city in sorted(cities, key=lambda c: c.vectors):
            clock.at(city.slug, 0)
            await loader.build_words(city.id)
            await _watched(loader.build_dense(city.id), loader, city, clock)
            clock.finish(city)


async def _watched(
    build: Awaitable[None], loader: Indexer, city: IndexedCity, clock: _Clock
) -> None:
    """Await a build and show meanwhile how far it is."""
    task = asyncio.ensure_future(build)
    try:
        while not (await asyncio.wait([task], timeout=_PAUSE))[0]:
            clock.at(city.slug, min(city.vectors, await loader.build_progress()))
        await task
    finally:
        task.cancel()
        await asyncio.wait([task])


class _Clock:
    """Counts vectors over all cities and tells the rate and the time that is left."""

    def __init__(self, total: int, tell: Callable[[Progress], None]) -> None:
        self._total, self._tell = total, tell
        self._done = 0
        self._began = time.monotonic()

    def at(self, slug: str, of_city: int) -> None:
        """Show that so many vectors of the city are in."""
        done = self._done + of_city
        rate = done / max(time.monotonic() - self._began, 1e-6)
        self._tell(
            Progress(
                stage="indexing",
                what=slug,
                done=done,
                total=self._total,
                unit="vectors",
                rate=rate,
                eta=(self._total - done) / rate if done else None,
            )
        )

    def finish(self, city: IndexedCity) -> None:
        """Count a city that is done."""
        self._done += city.vectors
        self.at(city.slug, 0)


def _path(city: IndexedCity) -> str:
    return "HNSW" if city.graph else "scanned exactly"


def _facts(city: IndexedCity) -> dict[str, object]:
    return {
        "city": city.slug,
        "vectors": city.vectors,
        "index": "hnsw" if city.graph else "exact",
    }
