"""The store's half of retrieval: previews, indexes and their policy, updates, several cities."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import psycopg
import pytest
import pytest_asyncio

from appliance.commands.reindex import reindex
from appliance.domain import ChunkId, CityId, Hit, Query, SectionId
from appliance.errors import NoSuchCity
from appliance.ingest import Progress
from appliance.ports import ChunkPreview, FoundChunk, Shortfall, Vectors
from appliance.retrieve import retrieve
from appliance.several import merged, retrieve_in
from appliance.store import loading, vectors
from appliance.store.database import migrate
from appliance.store.words import weigh_stale
from appliance.wiring import House, open_house
from tests.integration.conftest import TODAY, Database, _copy_of, ingested, record

ALDER, BRACKWATER = CityId("alder-falls-xx"), CityId("brackwater-county-xx")


@pytest_asyncio.fixture(loop_scope="session", scope="session")
async def shared(cluster: object, sampled: str) -> AsyncIterator[tuple[Database, House]]:
    """Yield the samples for tests that only read."""
    database = _copy_of(cluster, sampled)  # type: ignore[arg-type]
    async with open_house(database.settings) as house:
        yield database, house


@pytest.fixture
def house(shared: tuple[Database, House]) -> House:
    return shared[1]


@pytest.fixture
def database(shared: tuple[Database, House]) -> Database:
    return shared[0]


# ------------------------------------------------------------------ previews


def _all_chunks(database: Database) -> list[ChunkId]:
    return [ChunkId(i) for (i,) in database.rows("select id from chunk order by id desc")]


def _agrees(preview: ChunkPreview, found: FoundChunk) -> bool:
    """Tell whether a preview says what the whole section says."""
    section = found.section
    leads = [lead.of(section.text) for lead in found.leads]
    over = [*preview.titles, *([preview.header] if preview.header else [])]
    return (
        preview.id == found.id
        and preview.section == section.id
        and preview.text == found.span.of(section.text)
        and preview.span == found.span
        and sorted(leads) == sorted(over)
        and preview.length == len(section.text)
        and preview.kind == found.kind
        and (preview.city, preview.external_id) == (section.city, section.external_id)
        and (preview.citation, preview.number) == (section.citation, section.number)
        and (preview.heading, preview.path) == (section.heading, section.path)
        and (preview.standing, preview.inside) == (section.standing, section.inside)
        and (preview.effective_from, preview.effective_until)
        == (section.effective_from, section.effective_until)
        and preview.doc_type == section.doc_type
    )


async def test_previews_say_what_the_whole_sections_say(house: House, database: Database) -> None:
    ids = _all_chunks(database)
    previews, found = await house.store.previews(ids), await house.store.chunks(ids)
    assert [p.id for p in previews] == ids == [f.id for f in found]
    assert any(p.titles for p in previews)
    assert all(_agrees(p, f) for p, f in zip(previews, found, strict=True))


async def test_chunks_that_are_gone_are_left_out(house: House, database: Database) -> None:
    ids = [ChunkId(10**9), *_all_chunks(database)[:2], ChunkId(10**9 + 1)]
    assert [p.id for p in await house.store.previews(ids)] == ids[1:3]
    assert [f.id for f in await house.store.chunks(ids)] == ids[1:3]
    assert list(await house.store.previews([])) == []


# ------------------------------------------------------------------ homes of an older schema


async def test_an_older_home_gets_its_words_and_answers_as_before(samples: Database) -> None:
    """What the last migrations made is taken back, as if they had never run."""
    texts = samples.rows("select * from chunk_text order by chunk_id")
    postings = samples.rows("select * from posting order by city_id, term")
    assert any(header for *_, header in texts)
    _take_back(samples)
    assert await migrate(samples.dsn) == [7, 8]
    assert samples.rows("select * from chunk_text order by chunk_id") == texts
    async with open_house(samples.settings) as house:
        assert samples.rows("select * from posting order by city_id, term") == postings
        vector = await house.encoder.encode_query("fence")
        for hits in (
            await house.store.lexical(ALDER, "fence in the front yard", 5, TODAY),
            await house.store.dense(ALDER, vector, 5, TODAY),
        ):
            assert [h.path for h in hits] == ["exact"] * 5


_TAKE_BACK = """
drop table chunk_text, posting, dense_index;
alter table city drop column words_version, drop column weighed, drop column average_length;
create table chunk_lexical (city_id int not null, chunk_id bigint not null,
    weights sparsevec(1000000000) not null) partition by list (city_id);
create table term_stat (city_id int not null, term int not null, documents int not null,
    primary key (city_id, term));
delete from migration where number in (7, 8);
"""


def _take_back(database: Database) -> None:
    for command in _TAKE_BACK.split(";\n"):
        database.run(command)  # type: ignore[arg-type]


# ------------------------------------------------------------------ the index policy

TOWN = CityId("graph-town-xx")
BOUND = 400  # instead of 5,000, so that a graph is built in a second
ROWS = 1_200
THEN = date(2020, 1, 1)  # a quarter of the town's sections was in force


@pytest.fixture(scope="module")
def bound() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vectors, "EXACT_UP_TO", BOUND)
        patch.setattr(loading, "EXACT_UP_TO", BOUND)
        yield


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def town(
    cluster: object, migrated: str, bound: None
) -> AsyncIterator[tuple[Database, House]]:
    """Yield a town of many small sections with a graph; tests leave it as it is."""
    database = _copy_of(cluster, migrated)  # type: ignore[arg-type]
    async with open_house(database.settings) as house:
        _settle(database)
        assert await weigh_stale(house.pool) == 1
        (stale,) = await house.loader.stale_cities()
        await house.loader.build_dense(stale.id)
        yield database, house


def _settle(database: Database) -> None:
    """Write the rows of the town: 300 sections with four chunks and vectors around 40 topics."""
    chance = np.random.default_rng(7)
    topics = chance.standard_normal((40, 384))
    rows = topics[chance.integers(0, 40, ROWS)] + 0.7 * chance.standard_normal((ROWS, 384))
    with psycopg.connect(database.dsn) as connection:
        connection.execute(
            "insert into city (slug, name, sections, chunks, lexical_ready, settled_from)"
            " values (%s, %s, 300, %s, true, '2024-01-01')",
            (TOWN, TOWN, ROWS),
        )
        connection.execute(
            "insert into document (city_id, external_id, version, digest, kind, title, body,"
            " effective_from, file, pipeline) select 1, 's' || i, 'v', 'd', 'code', 't',"
            " repeat('fence rule number ' || i || ' ', 4),"
            " case when mod(i, 4) = 0 then date '2019-01-01' else date '2024-01-01' end, 'f', '2'"
            " from generate_series(1, 300) i"
        )
        connection.execute(
            "insert into section (city_id, document_id, position, external_id, citation, heading,"
            " path, span_start, span_end, standing, crumb) select 1, id, 0, external_id, external_id,"
            " 'Fences', '{}', 0, length(body), 'in_force', '' from document"
        )
        connection.execute(
            "insert into chunk (city_id, document_id, section_id, ordinal, span_start, span_end,"
            " kind, tokens, input, searchable) select 1, document_id, id, i, i, i + 5, 'prose', 5,"
            " sha256((id || '.' || i)::bytea), true from section, generate_series(0, 3) i"
        )
        connection.execute(
            "insert into chunk_text select c.id, substr(d.body, c.span_start + 1, 5), '{}', null"
            " from chunk c join document d on d.id = c.document_id"
        )
        inputs = connection.execute("select input from chunk order by id").fetchall()
        with connection.cursor() as cursor:
            cursor.executemany(
                "insert into embedding_m1 values (%s, %s::text::halfvec)",
                [(i, str(r.round(4).tolist())) for (i,), r in zip(inputs, rows, strict=True)],
            )


def _questions(database: Database, count: int) -> list[Vectors]:
    rows = database.rows(
        "select vector::text from embedding_m1 order by md5(input) limit %s", count
    )
    chance = np.random.default_rng(11)
    near = [np.array([float(x) for x in text[1:-1].split(",")]) for (text,) in rows]
    return [(v + 0.5 * chance.standard_normal(384)).astype(np.float32) for v in near]


def _nearest(database: Database, vector: Vectors, k: int) -> list[int]:
    text = str(vector.astype(float).tolist())
    rows = database.rows(
        "select chunk_id from chunk_embedding_m1 order by (vector <=> %s::text::halfvec) + 0"
        " limit %s",
        text,
        k,
    )
    return [chunk for (chunk,) in rows]


def test_a_big_city_has_an_index_named_by_its_generation(town: tuple[Database, House]) -> None:
    ((rows, hnsw),) = town[0].rows("select rows, hnsw from dense_index")
    ((partition, definition),) = town[0].rows(
        "select tablename, indexdef from pg_indexes where indexname = %s", hnsw
    )
    assert (rows, hnsw) == (ROWS, f"{partition}_hnsw")
    assert "hnsw (vector halfvec_cosine_ops) WITH (m='16', ef_construction='64')" in definition


async def test_a_walk_through_the_graph_finds_what_a_scan_finds(
    town: tuple[Database, House],
) -> None:
    database, house = town
    found = 0
    for vector in _questions(database, 20):
        hits = await house.store.dense(TOWN, vector, 12, TODAY)
        assert [h.path for h in hits] == ["hnsw"] * 12
        assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)
        found += len({h.chunk for h in hits} & set(_nearest(database, vector, 12)))
    assert found >= 0.98 * 20 * 12


@pytest.mark.parametrize("day", [TODAY, THEN])
@pytest.mark.parametrize("among", [None, 1, 40])
@pytest.mark.parametrize("k", [1, 12, 200, 500, 5_000])
async def test_a_search_gives_k_rows_or_all_that_may_be_found(
    town: tuple[Database, House], k: int, among: int | None, day: date
) -> None:
    database, house = town
    only = None
    if among is not None:
        rows = database.rows("select id from section order by md5(external_id) limit %s", among)
        only = [SectionId(id_) for (id_,) in rows]
    eligible = database.one(
        "select count(*) from chunk c join document d on d.id = c.document_id"
        " where d.effective_from <= %s and (%s::bigint[] is null or section_id = any(%s))",
        day,
        only,
        only,
    )
    for vector in _questions(database, 3):
        dense = await house.store.dense(TOWN, vector, k, day, only)
        assert len({h.chunk for h in dense}) == len(dense) == min(k, eligible)
    lexical = await house.store.lexical(TOWN, "a fence rule", k, day, only)
    assert len({h.chunk for h in lexical}) == len(lexical) == min(k, eligible)


async def test_the_settings_of_a_walk_hold_on_every_connection_and_end_with_it(
    town: tuple[Database, House],
) -> None:
    """With pgvector's own, 40 candidates and no second look, 300 rows could not come."""
    database, house = town
    wanted = [*_questions(database, 24)]
    found = await asyncio.gather(*(house.store.dense(TOWN, v, 300, TODAY) for v in wanted))
    assert {(len(hits), hits[0].path) for hits in found} == {(300, "hnsw")}
    settings = [await _settings(house) for _ in range(12)]
    assert set(settings) == {("40", "off", "20000", "on")}


async def _settings(house: House) -> tuple[str, ...]:
    async with house.pool.connection() as connection:
        cursor = await connection.execute(
            "select '[1]'::vector, current_setting('hnsw.ef_search'),"
            " current_setting('hnsw.iterative_scan'), current_setting('hnsw.max_scan_tuples'),"
            " current_setting('enable_seqscan')"
        )
        row = await cursor.fetchone()
    assert row is not None
    return tuple(row[1:])


async def test_a_city_of_an_older_box_is_scanned_until_it_is_built_anew(
    town: tuple[Database, House],
) -> None:
    database, house = town
    database.run("update city set dense_ready = true")
    assert await house.loader.stale_cities() == []
    kept = database.rows("select vectors, city_id, rows, hnsw from dense_index")
    database.run("delete from dense_index")
    try:
        (vector,) = _questions(database, 1)
        hits = await house.store.dense(TOWN, vector, 12, TODAY)
        assert [h.path for h in hits] == ["exact"] * 12
        assert [c.slug for c in await house.loader.stale_cities()] == [TOWN]
    finally:
        database.run("insert into dense_index values (%s, %s, %s, %s)", *kept[0])


async def test_vectors_that_are_missing_are_told_of(town: tuple[Database, House]) -> None:
    database, house = town
    told: list[Shortfall] = []
    (vector,) = _questions(database, 1)
    before, house.store.on_short = house.store.on_short, told.append
    database.run("create table kept as select * from chunk_embedding_m1 where mod(chunk_id, 2) = 0")
    database.run("delete from chunk_embedding_m1 where mod(chunk_id, 2) = 0")
    try:
        await house.store.dense(TOWN, vector, 500, TODAY)
        assert told == []
        await house.store.dense(TOWN, vector, 700, TODAY)
        assert told == [Shortfall(city=TOWN, leg="dense", rows=ROWS // 2, promised=700)]
    finally:
        house.store.on_short = before
        database.run("insert into chunk_embedding_m1 select * from kept")


# ------------------------------------------------------------------ building anew


async def test_a_rebuild_takes_the_place_of_the_old_indexes_in_one_step(
    town: tuple[Database, House],
) -> None:
    database, house = town
    (vector,) = _questions(database, 1)
    before = database.rows("select term, documents, entries from posting order by term")
    (old,) = database.rows("select hnsw from dense_index")
    seen: list[Progress] = []
    build = asyncio.create_task(
        reindex(house.loader, await house.loader.indexed_cities(), seen.append)
    )
    while not build.done():
        assert len(await house.store.dense(TOWN, vector, 300, TODAY)) == 300
        assert len(await house.store.lexical(TOWN, "fence", 300, TODAY)) == 300
    await build
    assert seen[-1].done == seen[-1].total == ROWS
    assert database.rows("select term, documents, entries from posting order by term") == before
    assert database.rows("select hnsw from dense_index") != [old]
    assert _left_over(database) == []


async def test_a_rebuild_that_is_cancelled_leaves_the_old_indexes(
    town: tuple[Database, House],
) -> None:
    database, house = town
    ((city, _),) = database.rows("select id, slug from city")
    began = time.monotonic()
    await house.loader.build_dense(city)
    whole = time.monotonic() - began
    kept = database.rows("select * from dense_index")
    for share in (0.0, 0.1, 0.3, 0.5):
        build = asyncio.create_task(house.loader.build_dense(city))
        await asyncio.sleep(share * whole)
        build.cancel()
        with pytest.raises(asyncio.CancelledError):
            await build
        assert database.rows("select * from dense_index") == kept
        assert _left_over(database) == []
    (vector,) = _questions(database, 1)
    assert len(await house.store.dense(TOWN, vector, 300, TODAY)) == 300


def _left_over(database: Database) -> list[tuple[str]]:
    return database.rows(
        "select relname from pg_class c where relkind = 'r' and relname ~ '_c[0-9]+_g[0-9]+$'"
        " and not exists (select from pg_inherits i where i.inhrelid = c.oid)"
    )


# ------------------------------------------------------------------ updates


async def test_a_changed_section_is_found_by_its_new_words_within_a_second(
    town: tuple[Database, House], write: Callable[..., Path]
) -> None:
    """In a town of 1,200 chunks, of which only the changed ones are read again.  Its last test."""
    database, house = town
    times = []
    for edition in range(4):
        text = f"Beehives of edition {'abcd'[edition] * 6} stand behind the house. " * 3
        law = write([record("9.1", text) | {"jurisdiction": TOWN}], f"{edition}.jsonl")
        began = time.monotonic()
        run = asyncio.create_task(ingested(house, law))
        while not await house.store.lexical(TOWN, "abcd"[edition] * 6, 5, TODAY):
            await asyncio.sleep(0.01)
        times.append(time.monotonic() - began)
        await run
    assert min(times) < 1.0, times
    held = database.rows("select term, documents, entries from posting order by term")
    ((city, _),) = database.rows("select id, slug from city")
    await house.loader.build_words(city)
    assert database.rows("select term, documents, entries from posting order by term") == held


# ------------------------------------------------------------------ several cities


async def test_all_cities_at_once_give_what_each_gives(house: House) -> None:
    """36 searches of two legs at the same time, over a pool of eight."""
    vector = await house.encoder.encode_query("fence")
    cities = [ALDER, BRACKWATER] * 18

    async def one(city: CityId) -> tuple[list[Hit], list[Hit]]:
        dense = await house.store.dense(city, vector, 10, TODAY)
        return list(dense), list(await house.store.lexical(city, "fence", 10, TODAY))

    alone = {city: await one(city) for city in (ALDER, BRACKWATER)}
    assert await asyncio.gather(*(one(c) for c in cities)) == [alone[c] for c in cities]


async def test_one_question_to_several_cities_gives_each_its_own_and_all_in_one_order(
    house: House,
) -> None:
    query = Query(text="How high may a fence be?", city=ALDER, as_of=TODAY)
    cities = [BRACKWATER, ALDER, BRACKWATER]
    found = await retrieve_in(house.store, house.encoder, query, cities, 12)
    assert list(found) == [BRACKWATER, ALDER]
    for city, of_city in found.items():
        alone = await retrieve(house.store, house.encoder, replace(query, city=city), 12)
        assert of_city.passages == alone.passages
        assert {p.section.city for p in of_city.passages} == {city}
    best = [passage for passage, _ in merged(found, 12)]
    every = [p.similarity for f in found.values() for p in f.passages]
    assert [p.similarity for p in best] == sorted(every, reverse=True)[:12]
    assert {p.section.city for p in best} == {ALDER, BRACKWATER}
    with pytest.raises(NoSuchCity):
        await retrieve_in(house.store, house.encoder, query, [ALDER, CityId("atlantis-xx")], 12)
