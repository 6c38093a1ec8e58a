"""Corpus files into a real store: what is new, changed, gone, back, damaged, huge or interrupted."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from hashlib import sha256
from pathlib import Path

import numpy as np
import psycopg
import pytest
import pytest_asyncio
import zstandard

from appliance import ingest as flow
from appliance.corpus.chunks import embedding_input
from appliance.domain import LEGS, CityId, Leg, Query, Rejected
from appliance.errors import EncoderError, IngestRunning, StoreUnavailable
from appliance.ports import Coverage, Encoder, Tokenizer, Vectors
from appliance.retrieve import Recipe, retrieve
from appliance.wiring import House, open_house
from tests.integration.conftest import SAMPLES, TODAY, Database, ingested, record

ELM = CityId("elm-hollow-xx")
Write = Callable[..., Path]


@pytest_asyncio.fixture
async def house(empty: Database) -> AsyncIterator[House]:
    async with open_house(empty.settings) as house:
        yield house


async def _found(
    house: House, text: str, day: date = TODAY, legs: Sequence[Leg] = ("lexical",)
) -> list[str]:
    """Return the ids of the sections that a search in Elm Hollow finds, best first."""
    query = Query(text=text, city=ELM, as_of=day)
    found = await retrieve(house.store, house.encoder, query, 20, recipe=Recipe(legs=legs))
    return [p.section.external_id for p in found.passages]


async def _texts(house: House, text: str, day: date = TODAY) -> set[str]:
    query = Query(text=text, city=ELM, as_of=day)
    found = await retrieve(
        house.store, house.encoder, query, 20, recipe=Recipe(legs=("lexical", "dense"))
    )
    return {p.section.text for p in found.passages}


async def _elm(house: House) -> Coverage:
    return await house.store.coverage(ELM)


# ------------------------------------------------------------------ the samples


async def test_the_samples_are_stored_whole(samples: Database) -> None:
    async with open_house(samples.settings) as house:
        cities = {c.city.id: c for c in await house.store.cities()}
    assert set(cities) == {"alder-falls-xx", "brackwater-county-xx"}
    records = (SAMPLES / "brackwater-county.jsonl").read_text("utf-8").splitlines()
    assert cities[CityId("brackwater-county-xx")].sections == len(records)
    for coverage in cities.values():
        assert coverage.status == "ready"
        assert coverage.encoded == coverage.chunks > 0
        assert coverage.topics
        assert coverage.city.office
    assert samples.one("select count(*) from job where state <> 'done'") == 0


def test_every_stored_chunk_is_the_body_at_its_span(samples: Database) -> None:
    """Chunks tile their sections: ordinals from 0, no gap, no overlap, within the section's span."""
    assert samples.one("select count(*) from chunk") > 100
    assert not samples.rows(
        """
        select c.id from chunk c join section s on s.id = c.section_id
        join document d on d.id = c.document_id
        where s.document_id <> c.document_id or c.city_id <> d.city_id
           or c.span_start < s.span_start or c.span_end > s.span_end
           or c.span_end > length(d.body)
           or substr(d.body, c.span_start + 1, c.span_end - c.span_start)
              <> substr(substr(d.body, s.span_start + 1, s.span_end - s.span_start),
                        c.span_start - s.span_start + 1, c.span_end - c.span_start)
        """
    )
    assert not samples.rows(
        """
        select section_id from (
            select section_id, ordinal, span_start,
                   lag(span_end) over w as before, row_number() over w - 1 as position
            from chunk window w as (partition by section_id order by ordinal)) t
        where ordinal <> position or (before is not null and before <> span_start)
        """
    )
    assert not samples.rows(
        """
        select s.id from section s join document d on d.id = s.document_id
        left join (select section_id, min(span_start) a, max(span_end) z from chunk group by 1) c
          on c.section_id = s.id
        where substr(d.body, s.span_start + 1, s.span_end - s.span_start) ~ '[^[:space:]]'
          and (c.a, c.z) is distinct from (s.span_start, s.span_end)
        """
    ), "a section with visible text is covered from its first to its last code point"


async def test_the_embedding_input_is_named_by_its_digest(samples: Database) -> None:
    rows = samples.rows(
        """
        select c.input, s.crumb, c.titles, c.span_start, c.span_end, d.body
        from chunk c join section s on s.id = c.section_id
        join document d on d.id = c.document_id
        """
    )
    assert rows
    for digest, crumb, edges, start, end, body in rows:
        titles = [body[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True)]
        seen = embedding_input(crumb, titles, body[start:end])
        assert sha256(seen.encode()).digest() == bytes(digest)


# ------------------------------------------------------------------ again


async def test_a_second_run_does_nothing(house: House, empty: Database, tmp_path: Path) -> None:
    shutil.copytree(SAMPLES, tmp_path / "codes")
    first = await ingested(house, tmp_path / "codes")
    assert first.documents == 63
    before = _everything(empty)
    second = await ingested(house, tmp_path / "codes")
    assert (second.documents, second.sections, second.chunks, second.encoded) == (0, 0, 0, 0)
    assert second.unchanged == 7
    assert _everything(empty) == before


async def test_the_same_content_under_another_path_adds_no_documents(
    house: House, empty: Database, tmp_path: Path
) -> None:
    for name in ("here", "there"):
        shutil.copytree(SAMPLES, tmp_path / name)
    await ingested(house, tmp_path / "here")
    before = _everything(empty)
    moved = await ingested(house, tmp_path / "there")
    assert (moved.documents, moved.chunks, moved.encoded, moved.unchanged) == (0, 0, 0, 0)
    assert _everything(empty) == before


def _everything(database: Database) -> list[tuple[object, ...]]:
    return [
        *database.rows("select id, external_id, version, current from document order by id"),
        *database.rows("select id, section_id, span_start, input from chunk order by id"),
        *database.rows("select relname from pg_class where relkind = 'r' order by 1"),
        *database.rows("select slug, chunks, encoded, dense_ready from city order by 1"),
    ]


async def test_only_what_changed_is_encoded_again(
    house: House, empty: Database, write: Write
) -> None:
    records = [record(f"1.{i}", f"Rule {i}: no fence above {i} feet.") for i in range(1, 21)]
    await ingested(house, write(records))
    records[4]["text"] = "Rule 5: fences of five feet need a permit."
    run = await ingested(house, write(records))
    assert (run.documents, run.sections, run.chunks, run.encoded) == (1, 1, 1, 1)


# ------------------------------------------------------------------ changes of the law


async def test_a_changed_record_is_a_new_version_and_the_old_one_ends(
    house: House, empty: Database, write: Write
) -> None:
    await ingested(house, write([record("1.1", "A fence may be four feet high.")]))
    changed = record("1.1", "A fence may be six feet high.", effective_date="2026-03-01")
    await ingested(house, write([changed]))
    assert empty.rows(
        "select body, current, effective_from, effective_until from document order by id"
    ) == [
        ("A fence may be four feet high.", False, date(2024, 1, 1), date(2026, 3, 1)),
        ("A fence may be six feet high.", True, date(2026, 3, 1), None),
    ]
    old, new = {"A fence may be four feet high."}, {"A fence may be six feet high."}
    assert await _texts(house, "fence high", date(2025, 6, 1)) == old
    assert await _texts(house, "fence high", date(2026, 2, 28)) == old
    assert await _texts(house, "fence high", date(2026, 3, 1)) == new
    assert await _texts(house, "fence high", TODAY) == new
    assert await _texts(house, "fence high", date(2023, 12, 31)) == set()
    coverage = await _elm(house)
    assert (coverage.sections, coverage.chunks, coverage.encoded) == (1, 1, 1)
    assert coverage.newest == date(2026, 3, 1)


async def test_an_undated_change_applies_from_the_day_it_was_read(
    house: House, empty: Database, write: Write
) -> None:
    undated = {"effective_date": None}
    await ingested(house, write([record("1.1", "A fence may be four feet high.", **undated)]))
    await ingested(house, write([record("1.1", "A fence may be six feet high.", **undated)]))
    assert empty.rows("select effective_from, effective_until from document order by id") == [
        (None, TODAY),
        (TODAY, None),
    ]
    assert await _texts(house, "fence high", date(2020, 1, 1)) == {"A fence may be four feet high."}
    assert await _texts(house, "fence high", TODAY) == {"A fence may be six feet high."}


async def test_a_change_that_comes_into_force_later_leaves_the_old_text_until_then(
    house: House, write: Write
) -> None:
    later = TODAY + timedelta(days=30)
    await ingested(house, write([record("1.1", "Four feet of fence.")]))
    await ingested(
        house, write([record("1.1", "Six feet of fence.", effective_date=later.isoformat())])
    )
    assert await _texts(house, "feet of fence") == {"Four feet of fence."}
    assert await _texts(house, "feet of fence", later) == {"Six feet of fence."}


async def test_a_replaced_version_ends_even_if_a_later_end_was_known(
    house: House, empty: Database, write: Write
) -> None:
    trial = record("1.1", "Four feet of fence.", effective_until="2030-01-01")
    await ingested(house, write([trial]))
    await ingested(house, write([record("1.1", "Six feet.", effective_date="2026-03-01")]))
    assert empty.one("select effective_until from document where not current") == date(2026, 3, 1)


async def test_an_end_that_was_known_and_came_first_stays(
    house: House, empty: Database, write: Write
) -> None:
    trial = record("1.1", "Four feet of fence.", effective_until="2025-01-01")
    await ingested(house, write([trial]))
    await ingested(house, write([record("1.1", "Six feet.", effective_date="2026-03-01")]))
    assert empty.one("select effective_until from document where not current") == date(2025, 1, 1)


async def test_a_corrected_text_of_the_same_day_replaces_the_old_one_everywhere(
    house: House, write: Write
) -> None:
    await ingested(house, write([record("1.1", "Fuor feet of fence.")]))
    await ingested(house, write([record("1.1", "Four feet of fence.")]))
    assert await _texts(house, "feet of fence", date(2025, 1, 1)) == {"Four feet of fence."}
    assert await _texts(house, "feet of fence") == {"Four feet of fence."}


async def test_a_record_that_is_taken_out_ends(house: House, empty: Database, write: Write) -> None:
    both = [record("1.1", "Fences of wood."), record("1.2", "Fences of wire.")]
    await ingested(house, write(both))
    await ingested(house, write(both[:1]))
    assert await _found(house, "fences wire wood") == ["elm-1.1"]
    yesterday = TODAY - timedelta(days=1)
    assert set(await _found(house, "fences wire wood", yesterday)) == {"elm-1.1", "elm-1.2"}
    assert (await _elm(house)).chunks == 1
    assert (await _elm(house)).status == "ready"


async def test_a_text_that_comes_back_is_in_force_again(
    house: House, empty: Database, write: Write
) -> None:
    both = [record("1.1", "Fences of wood."), record("1.2", "Fences of wire.")]
    for records in (both, both[:1], both):
        await ingested(house, write(records))
    assert set(await _found(house, "fences")) == {"elm-1.1", "elm-1.2"}
    assert empty.one("select count(*) from document where current") == 2
    assert empty.one("select count(*) from document where not current") == 1, "nothing is lost"


async def test_a_text_that_is_changed_back_is_in_force_again(
    house: House, empty: Database, write: Write
) -> None:
    for text in ("Four feet.", "Six feet.", "Four feet."):
        await ingested(house, write([record("1.1", text)]))
    assert await _texts(house, "feet") == {"Four feet."}
    assert empty.rows("select body from document where current") == [("Four feet.",)]


async def test_what_a_renamed_file_drops_later_ends(house: House, write: Write) -> None:
    both = [record("1.1", "Fences of wood."), record("1.2", "Fences of wire.")]
    old = write(both, "old.jsonl")
    await ingested(house, old)
    old.unlink()
    await ingested(house, write(both, "new.jsonl"))
    await ingested(house, write(both[:1], "new.jsonl"))
    assert await _found(house, "fences") == ["elm-1.1"]


async def test_two_files_make_one_city(house: House, empty: Database, write: Write) -> None:
    one = write([record("1.1", "Fences of wood.")], "one.jsonl")
    two = write([record("2.1", "Fences of wire.")], "two.jsonl")
    run = await ingested(house, one, two)
    assert run.documents == 2
    assert set(await _found(house, "fences", legs=LEGS)) == {"elm-1.1", "elm-2.1"}
    write([], "two.jsonl")
    two.write_text(json.dumps(record("2.2", "Fences of stone.")))
    await ingested(house, one, two)
    assert set(await _found(house, "fences")) == {"elm-1.1", "elm-2.2"}
    assert len(empty.rows("select from city")) == 1


async def test_a_city_given_by_hand_overrides_the_records(house: House, write: Write) -> None:
    run = await ingested(house, write([record("1.1", "Fences.")]), city="oak-hill-xx")
    assert run.documents == 1
    assert [c.city.id for c in await house.store.cities()] == ["oak-hill-xx"]


async def test_words_are_weighed_rightly_beside_many_past_versions(
    house: House, write: Write
) -> None:
    """The term of nearly all chunks keeps an idf above zero, though most of them are past."""
    for year in range(2010, 2018):
        records = [
            record(f"1.{i}", f"Fence rule {i} of {year}.", effective_date=f"{year}-01-01")
            for i in range(1, 4)
        ]
        await ingested(house, write(records))
    assert set(await _found(house, "fence")) == {"elm-1.1", "elm-1.2", "elm-1.3"}
    assert set(await _found(house, "fence", date(2012, 5, 1))) == {"elm-1.1", "elm-1.2", "elm-1.3"}


# ------------------------------------------------------------------ files that cannot be used


_GOOD = json.dumps(record("1.1", "Fences of wood.")).encode()
_PACKED = zstandard.ZstdCompressor().compress(_GOOD * 1 + b"\n")


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.jsonl", b"\xff\xfe\x00", "is not UTF-8 text (byte 0)"),
        ("a.jsonl", _GOOD + b"\n\xc3", "is not UTF-8 text"),
        ("a.jsonl", b"", "holds no record"),
        ("a.jsonl", b"\n \n", "holds no record"),
        ("a.jsonl.zst", b"", "its end is missing"),
        ("a.jsonl.zst", b"this is not packed", "is not a whole zstandard file"),
        ("a.jsonl.zst", _PACKED[:-1], "its end is missing"),
        ("a.jsonl.zst", _PACKED[: len(_PACKED) // 2], "its end is missing"),
        ("a.jsonl.zst", _PACKED + b"junk", "is not a whole zstandard file"),
        ("a.jsonl.zst", _PACKED + _PACKED[:20], "its end is missing"),
    ],
)
async def test_an_unreadable_file_is_named_and_the_others_go_on(
    house: House, write: Write, tmp_path: Path, name: str, content: bytes, why: str
) -> None:
    (tmp_path / name).write_bytes(content)
    write([record("2.1", "Fences of wire.")], "b.jsonl")
    run = await ingested(house, tmp_path)
    (error,) = run.unreadable
    assert error.path.endswith(name)
    assert why in str(error)
    assert run.documents == 1
    assert await _found(house, "fences") == ["elm-2.1"]


@pytest.mark.parametrize("name", ["missing.jsonl", "x" * 5000, "missing/inside.md"])
async def test_a_missing_path_is_named_and_the_others_go_on(
    house: House, write: Write, tmp_path: Path, name: str
) -> None:
    run = await ingested(house, tmp_path / name, write([record("1.1", "Fences.")]))
    assert [e.path for e in run.unreadable] == [str(tmp_path / name)]
    assert run.documents == 1


async def test_a_folder_without_corpus_files_is_named(house: House, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing")
    (tmp_path / "README.md").write_text("# About")
    run = await ingested(house, tmp_path)
    assert "holds no corpus file" in str(run.unreadable[0])


async def test_a_name_that_is_no_text_is_refused(house: House, write: Write) -> None:
    path = write([record("1.1", "Fences.")], "\udcff.jsonl")
    run = await ingested(house, path)
    assert "its name is not UTF-8" in str(run.unreadable[0])


async def test_a_file_that_unpacks_beyond_the_limit_is_refused(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flow, "_LARGEST", 10_000)
    bomb = tmp_path / "bomb.jsonl.zst"
    bomb.write_bytes(zstandard.ZstdCompressor().compress(b" " * 50_000_000))
    big = tmp_path / "big.jsonl"
    big.write_bytes(b" " * 10_001)
    run = await ingested(house, bomb, big)
    assert "unpacks to more than" in str(run.unreadable[0])
    assert "is larger than" in str(run.unreadable[1])


async def test_packed_frames_one_after_another_are_one_text(house: House, tmp_path: Path) -> None:
    lines = [json.dumps(record(f"1.{i}", f"Fence {i}.")).encode() + b"\n" for i in range(3)]
    packed = b"".join(zstandard.ZstdCompressor().compress(line) for line in lines)
    (tmp_path / "a.jsonl.zst").write_bytes(packed)
    assert (await ingested(house, tmp_path)).documents == 3


def _line(**changes: object) -> str:
    return json.dumps(record("9.9", "Text.") | changes)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("not json", "not valid JSON"),
        ("[1, 2]", "not a JSON object"),
        ("[" * 100_000, "not a JSON record"),
        ('{"id": ' + "1" * 5000 + "}", "not a JSON record"),
        (_line(text="a\0b"), "NUL characters"),
        (_line(text="a\ud800b"), "halves of characters"),
        (_line(heading="a\0b"), "field 'heading' holds NUL"),
        (_line(citation="§ \ud800"), "field 'citation' holds NUL characters or halves"),
        (_line(path=["Title", "a\0b"]), "field 'path' holds NUL"),
        (_line(url="http://x/\0"), "field 'url' holds NUL"),
        (_line(id="a\0"), "field 'id' holds NUL"),
        (_line(jurisdiction_name="\udfff"), "field 'jurisdiction_name' holds NUL"),
        (_line(jurisdiction="No Such Place!"), "is not a city id"),
        (_line(text=None), "field 'text' is missing"),
        (_line(text=17), "field 'text' is missing or not text"),
        (_line(id=""), "field 'id' is missing"),
        (_line(effective_date="yesterday"), "field 'effective_date' is not a date"),
        (_line(effective_date=20240101), "field 'effective_date' is not a date"),
        (_line(retrieved_at="9999-12-31T23:00:00-05:00"), "'retrieved_at' is not a time"),
        (_line(doc_type="poem"), "field 'doc_type' must be one of"),
        (_line(text="<!DOCTYPE html><html>"), "web page or script"),
    ],
)
async def test_a_record_that_cannot_be_used_is_named_and_the_others_go_on(
    house: House, tmp_path: Path, line: str, why: str
) -> None:
    path = tmp_path / "elm.jsonl"
    path.write_text(f"{line}\n{_GOOD.decode()}\n", "utf-8", errors="surrogatepass")
    run = await ingested(house, path)
    (rejected,) = run.rejected
    assert rejected.where.startswith("elm.jsonl:1")
    assert why in rejected.reasons[0]
    assert run.documents == 1
    assert not run.unreadable


async def test_an_id_that_occurs_twice_counts_once_and_is_named(house: House, write: Write) -> None:
    run = await ingested(house, write([record("1.1", "Fences."), record("1.1", "Walls.")]))
    assert run.documents == 1
    (rejected,) = run.rejected
    assert rejected == Rejected(where="elm.jsonl (elm-1.1)", reasons=(flow._TWICE,))
    assert await _texts(house, "fences") == {"Fences."}


async def test_a_mark_of_the_byte_order_does_no_harm(house: House, tmp_path: Path) -> None:
    (tmp_path / "elm.jsonl").write_bytes(b"\xef\xbb\xbf" + _GOOD)
    run = await ingested(house, tmp_path)
    assert (run.documents, run.rejected) == (1, [])


@pytest.mark.parametrize(
    ("front", "why"),
    [
        ("city: elm-hollow-xx", "field 'title'"),
        ("title: Fences", "field 'city'"),
        ("city: [unclosed", "not valid YAML"),
        ("- just\n- a list", "not a list of"),
        ("city: elm-hollow-xx\ntitle: F\neffective_from: 2025-02-30", "not valid YAML"),
        ("city: elm-hollow-xx\ntitle: F\neffective_from: soon", "is not a date"),
        ("city: elm-hollow-xx\ntitle: F\ncontent_sha256: abc", "content_sha256 is not"),
        ("x: " + "[" * 5000, "not valid YAML"),
    ],
)
async def test_malformed_front_matter_is_named(
    house: House, tmp_path: Path, front: str, why: str
) -> None:
    (tmp_path / "bad.md").write_text(f"---\n{front}\n---\n# Fences\n\nFour feet.\n")
    (tmp_path / "none.md").write_text("# Fences\n\nFour feet.\n")
    run = await ingested(house, tmp_path)
    assert why in run.rejected[0].reasons[0]
    assert "no front matter" in run.rejected[1].reasons[0]
    assert run.documents == 0


async def test_a_damaged_file_repeals_no_law(house: House, write: Write) -> None:
    """A download that failed, a page instead of a file, a broken line: what was there stays."""
    both = [record("1.1", "Fences of wood."), record("1.2", "Fences of wire.")]
    path = write(both)
    await ingested(house, path)
    for content in ("", "<html>Are you a robot?</html>", f"{_GOOD.decode()}\n{{broken"):
        path.write_text(content)
        await ingested(house, path)
        assert set(await _found(house, "fences")) == {"elm-1.1", "elm-1.2"}
    write(both[:1])
    await ingested(house, path)
    assert await _found(house, "fences") == ["elm-1.1"]


async def test_a_section_of_200_000_characters_is_stored_and_found_whole(
    house: House, empty: Database, write: Write
) -> None:
    sentences = [f"Rule {i}: a fence of kind {i * 7919 % 1000} is allowed. " for i in range(5000)]
    text = "".join(sentences)[:200_000]
    stop = _StopsAfter(house.encoder, 2)
    with pytest.raises(_Stopped):
        await flow.ingest(
            house.loader,
            stop,
            [write([record("1.1", text)])],
            city=None,
            today=TODAY,
            tell=lambda _: None,
        )
    assert empty.one("select sum(span_end - span_start) from chunk") == 200_000
    assert empty.one("select max(tokens) from chunk") <= house.encoder.tokenizer.limit
    assert await _found(house, "rule 3999") == ["elm-1.1"] * 3  # as many as a giant may have


# ------------------------------------------------------------------ in phases


class _Stopped(EncoderError):
    """What the twin raises when it has done its part."""


@dataclass(slots=True)
class _StopsAfter:
    """The real encoder, which gives up after some texts."""

    real: Encoder
    left: int

    @property
    def model(self) -> str:
        return self.real.model

    @property
    def dimension(self) -> int:
        return self.real.dimension

    @property
    def tokenizer(self) -> Tokenizer:
        return self.real.tokenizer

    async def encode_documents(self, texts: Sequence[str]) -> Vectors:
        if self.left < len(texts):
            raise _Stopped("enough")
        self.left -= len(texts)
        return await self.real.encode_documents(texts)

    async def encode_query(self, text: str) -> Vectors:
        return await self.real.encode_query(text)


async def test_a_city_is_searched_by_words_until_its_meaning_is_encoded(
    house: House, empty: Database, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flow, "BATCH", 4)
    path = write([record(f"1.{i}", f"Rule {i} on fences.") for i in range(1, 21)])

    async def run(texts: int) -> None:
        encoder = _StopsAfter(house.encoder, texts)
        with pytest.raises(_Stopped):
            await flow.ingest(
                house.loader, encoder, [path], city=None, today=TODAY, tell=lambda _: None
            )

    await run(0)
    coverage = await _elm(house)
    assert (coverage.sections, coverage.chunks, coverage.encoded) == (20, 20, 0)
    assert coverage.status == "words only; meaning 0 % encoded"
    assert len(await _found(house, "fences")) == 20
    assert await _found(house, "fences", legs=("dense",)) == []
    assert empty.rows("select state, done, total from job") == [("stopped", 0, 20)]

    await run(8)
    assert empty.one("select count(*) from embedding_m1") == 8
    assert (await _elm(house)).status == "words only; meaning 40 % encoded"

    tells: list[flow.Progress] = []
    summary = await flow.ingest(
        house.loader, house.encoder, [path], city=None, today=TODAY, tell=tells.append
    )
    assert (summary.unchanged, summary.encoded) == (1, 12), "what was done was not done again"
    assert (await _elm(house)).status == "ready"
    assert (await _elm(house)).encoded == 20
    assert len(await _found(house, "fences", legs=("dense",))) == 20
    encoding = [t for t in tells if t.stage == "encoding"]
    assert [t.done for t in encoding] == [4, 8, 12]
    assert {t.total for t in encoding} == {12}
    assert encoding[-1].eta == 0
    assert empty.one("select count(*) from job where state = 'running'") == 0


async def test_a_vector_without_direction_is_never_stored(house: House, empty: Database) -> None:
    task = flow_task(b"x" * 32)
    with pytest.raises(psycopg.errors.CheckViolation):
        await house.loader.keep_vectors([task], np.zeros((1, 384), np.float32))
    assert empty.one("select count(*) from embedding_m1") == 0


def flow_task(digest: bytes) -> object:
    from appliance.ports import EncodeTask

    return EncodeTask(input=digest, crumb="", titles=(), text="")


# ------------------------------------------------------------------ at once


async def test_a_second_ingest_at_once_is_refused_in_one_sentence(
    house: House, empty: Database, write: Write
) -> None:
    path = write([record("1.1", "Fences.")])
    async with open_house(empty.settings) as other:
        async with other.loader.exclusive():
            with pytest.raises(IngestRunning, match=r"^Another ingest is running .*\.$"):
                await ingested(house, path)
        assert (await ingested(house, path)).documents == 1


async def test_an_ingest_that_lost_its_right_stops_before_it_writes(
    house: House, empty: Database, write: Write
) -> None:
    """The server was restarted, say: the lock went with its connection, and another may hold it."""
    with pytest.raises(StoreUnavailable):
        async with house.loader.exclusive():
            await _lose_it(house, empty)


async def _lose_it(house: House, empty: Database) -> None:
    assert empty.one(
        "select count(pg_terminate_backend(pid)) from pg_locks"
        " where locktype = 'advisory' and pid <> pg_backend_pid()"
    )
    with pytest.raises(StoreUnavailable):
        await house.loader.keep_vectors([flow_task(b"x" * 32)], np.ones((1, 384), np.float32))
    assert empty.one("select count(*) from embedding_m1") == 0


async def test_the_right_to_ingest_ends_with_a_failure(house: House, write: Write) -> None:
    with pytest.raises(ZeroDivisionError):
        async with house.loader.exclusive():
            _ = 1 / 0
    assert (await ingested(house, write([record("1.1", "Fences.")]))).documents == 1


async def test_searches_go_on_while_a_city_is_read_anew(house: House, write: Write) -> None:
    """No search fails, and none sees less than a whole city, while partitions are swapped."""
    records = [record(f"1.{i}", f"Rule {i} on fences.") for i in range(1, 31)]
    await ingested(house, write(records))
    done = asyncio.Event()
    seen: list[int] = []

    async def search() -> None:
        while not done.is_set():
            seen.append(len(await _found(house, "fences", legs=("lexical", "dense"))))

    async def change() -> None:
        for round_ in range(4):
            records[0]["text"] = f"Rule 1 on fences, edition {round_}."
            await ingested(house, write(records))
        done.set()

    await asyncio.gather(search(), search(), search(), change())
    assert len(seen) > 10
    assert set(seen) == {20}  # all that was asked for
