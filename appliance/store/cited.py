"""What a citation can be about: the bearers of its number, and whoever holds its words.

A part of the store that citations are verified with.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import cache
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg import AsyncConnection

from appliance.answers.citations import INVISIBLE
from appliance.corpus.labels import MENTIONED
from appliance.corpus.words import terms
from appliance.domain import CityId, Digest, SectionId, StoredSection
from appliance.store.database import Pool, connected
from appliance.store.postings import Ids, Posting, unpacked
from appliance.store.rows import section_of
from appliance.store.sql import statement

# More bearers of a number than these are not looked at for a quote; "1-1" stands in many codes.
_MOST_BEARERS = 200
_MOST_ELSEWHERE = 50
# So many of a quote's rarest terms nearly always leave its own chunk alone; so many sections are read.
_RAREST = 4
_MOST_CHUNKS = 100
_MOST_READ = 4
# The words at the edges of a quote may be read otherwise in their sentence ("sq. | ft.").
_EDGE = 1
_FEWEST_INNER = 4
_PLAIN_WORD = re.compile(r"[A-Za-z0-9]+\Z")
_LONGEST_FRAGMENT = 10  # words


class PostgresCited:
    """Looking up what is cited, over a pool."""

    _pool: Pool

    @asynccontextmanager
    async def looking_up(self) -> AsyncIterator[PostgresLookUp]:
        """Hand over the look-ups, on one connection for as many citations as there are."""
        async with connected(self._pool) as connection:
            yield PostgresLookUp(connection)


class PostgresLookUp:
    """Looking up what is cited, over a connection."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def cited(
        self, city: CityId, *, kind: str, number: str, whole: str, quote: str
    ) -> Sequence[StoredSection]:
        """Return the sections, current or past, that bear a number or a whole citation."""
        return await self._bearing("cited", city, kind, number, whole, quote, limit=_MOST_BEARERS)

    async def cited_elsewhere(
        self, city: CityId, *, kind: str, number: str, whole: str, quote: str
    ) -> Sequence[StoredSection]:
        """Return those of all other cities."""
        return await self._bearing(
            "cited_elsewhere", city, kind, number, whole, quote, limit=_MOST_ELSEWHERE
        )

    async def _bearing(
        self, name: str, city: CityId, kind: str, number: str, whole: str, quote: str, *, limit: int
    ) -> Sequence[StoredSection]:
        """Return the sections; the text is "" of those that cannot hold the quote.

        Where a table stands in some, those that only mention it are not meant.
        """
        rows = await self._fetched(
            name,
            city=city,
            number=number,
            kind=kind,
            whole=whole,
            word=max(filter(_PLAIN_WORD.match, _inner(quote)), key=len, default=""),
            invisible=f"[{INVISIBLE}]",
            limit=limit,
        )
        owners = [row for row in rows if row[-1] != MENTIONED]
        return [section_of(row) for row in owners or rows]

    async def holding(self, city: CityId, quote: str) -> Sequence[StoredSection]:
        """Return sections of the city that may hold the quote: its rarest words, some of them in a row."""
        words = _inner(quote)
        wanted = sorted(set(terms(" ".join(words))))
        rows = await self._fetched("rarest_postings", city=city, terms=wanted, most=_RAREST)
        if not rows or rows[0][-1] < len(wanted):
            return []  # a word of it stands nowhere in the city
        chunks = _together([unpacked(term, base, entries) for term, base, entries, _ in rows])
        if not len(chunks):
            return []
        rows = await self._fetched(
            "sections_of_chunks",
            chunks=chunks.tolist(),
            fragment=_fragment(words),
            limit=_MOST_READ,
        )
        return [section_of(row) for row in rows]

    async def held_versions(
        self, city: CityId, external_id: str, section: SectionId
    ) -> Sequence[tuple[StoredSection, Digest]]:
        """Return every version of a record with the digest of its body, and the section of the id."""
        rows = await self._fetched(
            "held_versions", city=city, external_id=external_id, section=section
        )
        return [(section_of(row), Digest(row[-1])) for row in rows]

    async def _fetched(self, name: str, **parameters: Any) -> list[tuple[Any, ...]]:
        cursor = await self._connection.execute(_composed(name), parameters)
        return await cursor.fetchall()


@cache
def _composed(name: str) -> bytes:
    """Return the text of a statement, put together once."""
    return statement(name).as_bytes()


def _inner(quote: str) -> list[str]:
    """Return the words of a quote without those at its edges, which may be cut or have other marks."""
    words = quote.split()
    return words[_EDGE:-_EDGE] if len(words) >= _FEWEST_INNER + 2 * _EDGE else words


def _fragment(words: Sequence[str]) -> str:
    """Return a pattern of some words of the quote in a row, whatever marks stand between them."""
    plain = re.findall(r"[^\W_]+", " ".join(words))
    runs = [list(run) for ascii_, run in groupby(plain, str.isascii) if ascii_]
    return r"\W+".join(max(runs, key=len, default=[])[:_LONGEST_FRAGMENT])


def _together(postings: Sequence[Posting]) -> Ids:
    """Return the chunks that hold every term, counting the next chunk's: a quote may go on there."""
    rarest, *others = (p.chunks for p in postings)
    found = np.union1d(rarest, rarest - 1)
    for chunks in others:
        found = found[_among(found, chunks) | _among(found + 1, chunks)]
    return found[:_MOST_CHUNKS]


def _among(ids: Ids, chunks: Ids) -> NDArray[np.bool_]:
    """Tell of each id whether it is among the chunks, which ascend."""
    at = np.minimum(np.searchsorted(chunks, ids), len(chunks) - 1)
    found: NDArray[np.bool_] = chunks[at] == ids
    return found
