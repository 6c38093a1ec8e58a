"""The retrieval benchmark over a real PostgreSQL, in small."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pytest

from appliance.clients.encode import MiniLmEncoder
from appliance.corpus.words import terms
from appliance.errors import BadRequest
from appliance.store.database import open_pool
from appliance.store.embedded import Cluster
from appliance.store.loading import PostgresLoader, prepare_model
from appliance.store.search import PostgresStore
from benchmarks.retrieval import box as boxes
from benchmarks.retrieval.box import DAY, Box
from benchmarks.retrieval.clients import measure_clients
from benchmarks.retrieval.dense import OURS, race
from benchmarks.retrieval.lexical import Formula, agreement
from benchmarks.retrieval.progress import Clock, Memory
from benchmarks.retrieval.scale import Source, load_cities
from benchmarks.retrieval.texts import Piece, made_city, real_pieces
from benchmarks.retrieval.texts import samples as sample_files
from benchmarks.retrieval.updates import MadeUpEncoder, measure_updates
from benchmarks.retrieval.vectors import pool_of
from tests.integration.conftest import PERMITBOX, Database, environment

QUESTIONS = ("How tall may a fence be?", "permit for a shed", "fees of a plan check", "xyzzy")


@pytest.fixture(scope="module")
def encoder() -> MiniLmEncoder:
    encoder = MiniLmEncoder(threads=1)
    encoder.close()  # only its tokenizer is used
    return encoder


@pytest.fixture(scope="module")
def pieces(encoder: MiniLmEncoder) -> list[Piece]:
    return list(real_pieces([sample_files()], encoder.tokenizer, 120))


@asynccontextmanager
async def opened(database: Database) -> AsyncIterator[Box]:
    async with open_pool(database.dsn) as pool:
        tables = await prepare_model(pool, name=MiniLmEncoder.model, dimension=384)
        yield Box(
            folder=Path(),
            dsn=database.dsn,
            pool=pool,
            vectors=tables.vectors,
            loader=PostgresLoader(pool, tables),
            store=PostgresStore(pool, vectors=tables.vectors),
            memory=Memory(0),
        )


def source(pieces: list[Piece]) -> Source:
    vectors = np.random.default_rng(1).standard_normal((300, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    digests = [d for p in pieces for d in p.digests]
    known = list(dict.fromkeys(digests))[:100] + [bytes([i]) for i in range(200)]
    return Source(pieces=pieces, pool=pool_of(known, vectors), questions=vectors[:20])


async def test_one_global_index_loses_rows_and_the_product_does_not(
    empty: Database, pieces: list[Piece]
) -> None:
    async with opened(empty) as box:
        clock = Clock(seconds=60)
        loaded = await load_cities(box, source(pieces), 600, 4, clock, cities=6)
        assert (loaded.loading.cities, loaded.loading.chunks) == (6, 600)
        assert loaded.loading.bytes_a_row > 768
        found = await race(box, box.vectors, loaded.questions, 384, clock)
        whole = {f.contestant: f for f in found.figures if f.over == "all"}
        assert whole["global HNSW"].rows_min < 12
        assert whole["iterative strict"].rows_min == 12
        assert (whole[OURS].rows_min, whole[OURS].empty) == (12, 0.0)
        # Of 48 right rows of a city one may be lost to the rounding to 16 bits.
        assert whole[OURS].recall_worst >= 0.97
        assert {f.n for f in whole.values()} == {24}


async def test_the_store_gives_what_the_formula_gives(empty: Database, pieces: list[Piece]) -> None:
    made = made_city("words", pieces, 120)
    async with opened(empty) as box:
        ids = await box.load(made)
        formula = Formula([terms(piece.words(chunk)) for piece, chunk in made.pieces])
        for question in QUESTIONS:
            hits = await box.store.lexical(made.city.id, question, 10, DAY)
            found = [ids.index(int(hit.chunk)) for hit in hits]
            assert agreement(found, formula.scores(question), 10) == 1.0, question


async def test_a_changed_section_is_found_and_indexes_do_not_swell(
    empty: Database, pieces: list[Piece], encoder: MiniLmEncoder
) -> None:
    async with opened(empty) as box:
        found = await measure_updates(
            box, [sample_files()], pieces, 40, encoder.tokenizer, Clock(seconds=60)
        )
    assert found.n == 5
    assert 0 < found.found_by_words <= found.found_worst
    assert len(found.edition_bytes) == 4
    assert abs(found.growth) <= 0.05


async def test_made_up_vectors_are_of_their_texts(encoder: MiniLmEncoder) -> None:
    one, other, again = await MadeUpEncoder(encoder.tokenizer).encode_documents(["a", "b", "a"])
    assert (one == again).all()
    assert not (one == other).all()


async def test_whole_searches_are_timed_apart_and_in_crowds(
    samples: Database, encoder: MiniLmEncoder
) -> None:
    async with opened(samples) as box:
        cities = {c.city.id: c.chunks for c in await box.store.cities()}
        found = await measure_clients(
            box, encoder, cities, QUESTIONS, Clock(seconds=60), seconds=0.2, single=3
        )
    parts = {t.what: t for t in found.parts}
    assert {"encode", "dense", "lexical", "whole", "whole, without the encoder"} <= parts.keys()
    assert all(t.n == 3 and 0 < t.p50 <= t.p95 for t in parts.values())
    assert found.many_cities.what == "2 cities, both legs"
    assert [t.what for t in found.crowds[::2]] == [
        f"{n} clients, without the encoder" for n in (1, 8, 20, 32)
    ]
    assert all(t.a_second for t in found.crowds)


def test_a_home_without_vectors_is_refused(cluster: Cluster, reachable: Path) -> None:
    with pytest.raises(BadRequest, match="holds no vectors"):
        boxes.vectors_of(reachable / "home", MiniLmEncoder.model, 10)


def test_a_disk_that_is_too_small_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="set TMPDIR"), boxes._folder(10**12):
        pass


def test_ended_in_the_middle_it_leaves_nothing(reachable: Path) -> None:
    folder = reachable / "ended"
    folder.mkdir(mode=0o755)
    few = str(sample_files() / "alder-falls" / "02-fees.md")  # whose chunks are encoded in a moment
    with subprocess.Popen(
        [*PERMITBOX, "bench", "retrieval", "--part", "dense", "--corpus", few],
        stderr=subprocess.PIPE,
        text=True,
        env=environment(TMPDIR=str(folder)),
    ) as process:
        assert process.stderr is not None
        lines = iter(process.stderr.readline, "")
        seen = [line for line in lines if _ended_at(line, process, folder)]
        assert process.wait(60) == 130
    assert seen
    assert not list(folder.glob("permitbox-bench-*"))


def _ended_at(line: str, process: subprocess.Popen[str], folder: Path) -> bool:
    """End the process at its first line about loading, when its folder is there."""
    if "loading" not in line or not list(folder.glob("permitbox-bench-*")):
        return False
    process.send_signal(signal.SIGTERM)
    return True
