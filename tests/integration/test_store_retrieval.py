"""The store's half of retrieval: previews, and homes of an older schema."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from appliance.domain import ChunkId, CityId
from appliance.ports import ChunkPreview, FoundChunk
from appliance.store.database import migrate
from appliance.wiring import House, open_house
from tests.integration.conftest import TODAY, Database, _copy_of

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
