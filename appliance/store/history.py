"""Versions in time: where a new one begins and an old one ends, and which laws change a section.

No version is ever lost: one that is replaced or taken out gets an end.  The statements of an
ingest take the connection of its transaction; `PostgresHistory` reads what the box held before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any

from psycopg import AsyncConnection

from appliance.corpus.amendments import concerns, incorporated
from appliance.corpus.versions import Entry
from appliance.domain import Amendment, Change, CityId, Span
from appliance.ports import LoadDocument
from appliance.store.database import Pool, connected
from appliance.store.sql import statement

# ------------------------------------------------------------------ versions of a document


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """One stored version of a document."""

    id: int
    version: str
    digest: str  # of the body
    pipeline: str  # by which it was cut
    current: bool
    since: date | None
    until: date | None
    dated_by_box: bool
    stored_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A document that is to be stored, with its place among the versions that are there."""

    loaded: LoadDocument
    begins: date | None
    dated_by_box: bool  # its source does not say since when: it begins on the day we read it
    recut: Held | None  # the same version, cut anew: this one takes its place
    ends: tuple[int, ...]  # versions that reach beyond its beginning


def place(loaded: LoadDocument, held: Sequence[Held], today: date, pipeline: str) -> Placed:
    """Return where a document stands among the stored versions of it.

    A version that follows another and does not say since when applies from today: else both would be
    in force on earlier days.  One that does say takes over from that day, whatever was read before.
    The same text that is only cut in another way is the same law.
    """
    current = next((h for h in held if h.current), None)
    stated = loaded.document.effective_from
    if current is not None and _same_law(current, loaded, pipeline):
        return Placed(
            loaded=loaded,
            begins=current.since if current.version == loaded.version else stated or current.since,
            dated_by_box=current.dated_by_box,
            recut=current,
            ends=(),
        )
    begins = stated or (today if held else None)
    return Placed(
        loaded=loaded,
        begins=begins,
        dated_by_box=stated is None and begins is not None,
        recut=None,
        ends=tuple(h.id for h in held if h.current or _reaches(h, begins)),
    )


def _same_law(held: Held, loaded: LoadDocument, pipeline: str) -> bool:
    """Tell whether a stored version says the same: a newer pipeline may see more in the same text."""
    if held.version == loaded.version:
        return True
    return held.pipeline != pipeline and held.digest == loaded.document.digest


def _reaches(held: Held, day: date | None) -> bool:
    """Tell whether a version was still in force on the day (None: before all days)."""
    return held.until is None or day is None or held.until > day


async def held_versions(
    connection: AsyncConnection, city: int, external_ids: Sequence[str]
) -> dict[str, list[Held]]:
    """Return the stored versions of the documents, the current one of each first."""
    cursor = await connection.execute(
        statement("versions_of"), {"city": city, "ids": list(external_ids)}
    )
    held: dict[str, list[Held]] = {}
    for external_id, *facts in await cursor.fetchall():
        held.setdefault(external_id, []).append(_held(facts))
    return held


def _held(facts: Sequence[Any]) -> Held:
    id_, version, digest, pipeline, current, since, until, box, stored_at = facts
    return Held(
        id=id_,
        version=version,
        digest=digest,
        pipeline=pipeline,
        current=current,
        since=since,
        until=until,
        dated_by_box=box,
        stored_at=stored_at,
    )


async def drop_recut(connection: AsyncConnection, placed: Iterable[Placed]) -> None:
    """Drop the rows of versions that are only cut anew; the new rows say the same law."""
    ids = [p.recut.id for p in placed if p.recut]
    await connection.execute(statement("drop_versions"), {"ids": ids})


async def end_versions(connection: AsyncConnection, placed: Iterable[Placed]) -> None:
    """End each version that a new one follows, on the day on which that one begins."""
    ends = [(id_, p.begins) for p in placed for id_ in p.ends]
    await connection.execute(
        statement("end_versions"), {"ids": [i for i, _ in ends], "untils": [d for _, d in ends]}
    )


async def keep_first_reading(
    connection: AsyncConnection, city: int, placed: Iterable[Placed]
) -> None:
    """Let a version that was cut anew keep the moment at which it was first read."""
    recut = [(p.loaded.document.external_id, p.recut.stored_at) for p in placed if p.recut]
    await connection.execute(
        statement("keep_stored_at"),
        {"city": city, "ids": [i for i, _ in recut], "times": [t for _, t in recut]},
    )


# ------------------------------------------------------------------ laws that change sections


async def write_amendments(
    connection: AsyncConnection, city: int, documents: Iterable[LoadDocument]
) -> None:
    """Write what the laws among the documents do; they are stored already."""
    laws = {d.document.external_id: d for d in documents if d.amendments}
    if not laws:
        return
    cursor = await connection.execute(statement("amending_laws"), {"city": city, "ids": list(laws)})
    rows = [
        _amendment_row(city, law_id, laws[external_id].law, amendment)
        for external_id, law_id in await cursor.fetchall()
        for amendment in laws[external_id].amendments
    ]
    columns = (
        "amendment (city_id, law_id, law, kind, number, within, code, clause_start, clause_end,"
        " matter_start, matter_end, enacted, effective, effective_start, effective_end, undated)"
    )
    async with connection.cursor() as writer, writer.copy(f"copy {columns} from stdin") as copy:
        for row in rows:
            await copy.write_row(row)


def _amendment_row(city: int, law_id: int, law: str, a: Amendment) -> tuple[Any, ...]:
    when: tuple[Any, ...] = (a.enacted, a.effective, *_ends(a.effective_clause), a.undated)
    what = (city, law_id, law, a.kind, a.number, list(a.within), list(a.code))
    return (*what, *_ends(a.clause), *_ends(a.matter), *when)


def _ends(span: Span | None) -> tuple[int | None, int | None]:
    return (None, None) if span is None else (span.start, span.end)


# Of the new matter that is compared with a section; New York's longest section has 210,000 characters.
_LONGEST_MATTER = 500_000


async def link_amendments(connection: AsyncConnection, city: int) -> None:
    """Point the amendments of a city at the sections that they change, anew.

    A section that holds the new matter already is not pointed at, nor is a law's own text.
    """
    cursor = await connection.execute(statement("has_amendments"), {"city": city})
    if not (await cursor.fetchone() or (False,))[0]:
        return
    await connection.execute(statement("unlink_amendments"), {"city": city})
    laws = await _laws(connection, city)
    words = await _place_words(connection, city)
    cursor = await connection.execute(statement("amended_candidates"), {"city": city})
    links = []
    for amendment_id, section_id, citation, path in await cursor.fetchall():
        law = laws[amendment_id]
        if law.means(citation, path, words) and not await _holds(connection, section_id, law):
            links.append((amendment_id, section_id))
    await connection.execute(
        statement("link_amendments"),
        {"amendments": [a for a, _ in links], "sections": [s for _, s in links]},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Law:
    """What is needed of an amendment to tell which sections it changes."""

    number: str | None
    within: tuple[str, ...]
    code: tuple[str, ...]
    kind: Change
    matter: str

    def means(self, citation: str, path: Sequence[str], place_words: Sequence[str]) -> bool:
        return concerns(self.code, self.within, citation=citation, path=path, place=place_words)


async def _laws(connection: AsyncConnection, city: int) -> Mapping[int, _Law]:
    cursor = await connection.execute(
        statement("amendments_held"), {"city": city, "longest": _LONGEST_MATTER}
    )
    return {
        id_: _Law(
            number=number,
            within=tuple(within),
            code=tuple(code),
            kind=kind,
            matter=matter,
        )
        for id_, number, within, code, kind, matter in await cursor.fetchall()
    }


async def _place_words(connection: AsyncConnection, city: int) -> list[str]:
    cursor = await connection.execute(statement("city_slug"), {"city": city})
    (slug,) = await cursor.fetchone() or ("",)
    return str(slug).split("-")


async def _holds(connection: AsyncConnection, section: int, law: _Law) -> bool:
    """Tell whether a section says already what the law wants it to say.

    Where a number is given to an old section and nothing is written, a section that bears it has it
    from there.
    """
    if law.kind == "repealed":
        return False
    if law.kind == "added" and not law.matter.strip():
        return True
    cursor = await connection.execute(statement("section_text"), {"section": section})
    (text,) = await cursor.fetchone() or ("",)
    return incorporated(law.matter, law.number, str(text))


# ------------------------------------------------------------------ what the box held before


class PostgresHistory:
    """Earlier states of a city, read from the versions that are kept."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def before_last_run(self, city: CityId) -> datetime | None:
        """Return the moment before the last ingest that changed the city; None before the first."""
        ((moment,),) = await self._rows("last_run", city=city)
        return moment if moment and await self._held_before(city, moment) else None

    async def held(self, city: CityId, day: date) -> datetime | None:
        """Return the beginning of the day if the box held something of the city before it."""
        moment = datetime.combine(day, time.min).astimezone()
        return moment if await self._held_before(city, moment) else None

    async def since(
        self, city: CityId, moment: datetime | None
    ) -> tuple[Sequence[Entry], Sequence[Entry]]:
        """Return what the box held of the changed documents at the moment, and what it holds now."""
        start = moment or datetime.min.replace(tzinfo=UTC)
        changed = [i for (i,) in await self._rows("changed_since", city=city, moment=start)]
        before = await self._rows("sections_held", city=city, documents=changed, moment=start)
        after = await self._rows("sections_held", city=city, documents=changed, moment=None)
        return [_entry(r) for r in before], [_entry(r) for r in after]

    async def in_force(self, city: CityId, day: date) -> Sequence[Entry]:
        """Return what of the city was law on the day."""
        return [_entry(r) for r in await self._rows("sections_in_force", city=city, day=day)]

    async def _held_before(self, city: CityId, moment: datetime) -> bool:
        ((held,),) = await self._rows("held_before", city=city, moment=moment)
        return bool(held)

    async def _rows(self, name: str, **parameters: object) -> list[tuple[Any, ...]]:
        async with connected(self._pool) as connection:
            cursor = await connection.execute(statement(name), parameters)
            return await cursor.fetchall()


def _entry(row: Sequence[Any]) -> Entry:
    external_id, citation, number, heading, standing, text = row
    return Entry(
        external_id=external_id,
        citation=citation,
        number=number,
        heading=heading,
        standing=standing,
        text=text,
    )
