"""What the retrieval benchmark is made of: sizes, copies of vectors, exact answers, the formula."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from appliance.clients.encode import MiniLmEncoder
from appliance.corpus.words import terms
from appliance.domain import CityId
from appliance.errors import BadRequest
from benchmarks.retrieval.baselines import baseline
from benchmarks.retrieval.dense import OURS, Race, Reply, figures, table
from benchmarks.retrieval.lexical import Formula, agreement
from benchmarks.retrieval.progress import Clock
from benchmarks.retrieval.report import Report
from benchmarks.retrieval.run import Wanted, measure
from benchmarks.retrieval.scale import Loading, Rate, wide_cities
from benchmarks.retrieval.texts import Piece, made_city, real_pieces, samples
from benchmarks.retrieval.vectors import (
    asked,
    bases,
    city_sizes,
    exact,
    multiplied,
    pool_of,
    turned,
)


@pytest.fixture(scope="module")
def pieces() -> list[Piece]:
    encoder = MiniLmEncoder(threads=1)
    encoder.close()
    return list(real_pieces([samples()], encoder.tokenizer, 60))


def _unit(count: int, dimension: int = 32, seed: int = 0) -> np.ndarray:
    vectors = np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


# ------------------------------------------------------------------ sizes


@pytest.mark.parametrize(
    ("total", "smallest", "largest"),
    [(600_000, 400, 180_000), (60_000, 400, 18_000), (6_000, 40, 1_800)],
)
def test_cities_are_as_many_and_as_uneven_as_asked(total: int, smallest: int, largest: int) -> None:
    sizes = city_sizes(total)
    assert len(sizes) == 60
    assert sum(sizes) == total
    assert sizes[-1] == smallest
    assert sizes[0] == pytest.approx(largest, abs=60)


@given(st.integers(2_000, 700_000))
@settings(max_examples=30, deadline=None)
def test_sizes_descend_and_make_up_the_total(total: int) -> None:
    sizes = city_sizes(total)
    assert sizes == sorted(sizes, reverse=True)
    assert sum(sizes) == total
    assert sizes[-1] > 0


def test_the_part_of_long_vectors_holds_large_and_small_cities() -> None:
    sizes = city_sizes(600_000)
    chosen = [sizes[i] for i in wide_cities(sizes)]
    assert sum(chosen) <= 600_000 / 8
    assert max(chosen) > 20_000
    assert min(chosen) < 1_000
    assert len(chosen) > 4


# ------------------------------------------------------------------ vectors


def test_a_copy_stays_nearest_to_its_original_and_is_not_equal_to_it() -> None:
    real = _unit(300)
    pool = pool_of([bytes([i % 256, i // 256]) for i in range(300)], real)
    originals = np.arange(300)
    copies = multiplied(pool, originals, np.random.default_rng(1))
    assert np.allclose(np.linalg.norm(copies, axis=1), 1, atol=1e-5)
    nearest = (copies @ real.T).argmax(axis=1)
    assert (nearest == originals).mean() > 0.95
    cosines = (copies * real).sum(axis=1)
    assert cosines.max() < 0.999
    assert cosines.min() > 0.5


def test_a_chunk_takes_its_own_vector_where_the_pool_has_it() -> None:
    pool = pool_of([b"a", b"b", b"c"], _unit(3))
    chosen = bases([b"c", b"unknown", b"a"], pool, np.random.default_rng(1))
    assert (chosen[0], chosen[2]) == (2, 0)
    assert 0 <= chosen[1] < 3


def test_every_question_is_asked_before_one_comes_again() -> None:
    questions = _unit(8)
    moved = asked(questions, pool_of([bytes([i]) for i in range(40)], _unit(40)), 8, _rng())
    assert sorted((moved @ questions.T).argmax(axis=1)) == list(range(8))
    assert len(asked(questions, pool_of([b"a", b"b"], _unit(2)), 20, _rng())) == 20


def _rng() -> np.random.Generator:
    return np.random.default_rng(3)


def test_longer_vectors_have_the_same_cosines() -> None:
    vectors = _unit(20)
    long = turned(vectors, 100)
    assert long.shape == (20, 100)
    assert np.allclose(long @ long.T, vectors @ vectors.T, atol=1e-5)


def test_the_exact_answer_is_sorted_and_complete() -> None:
    vectors, queries = _unit(50), _unit(4, seed=9)
    for query, answer in zip(queries, exact(vectors, queries, 12), strict=True):
        assert list(answer) == list(np.argsort(-(vectors @ query), kind="stable")[:12])
    assert len(exact(vectors[:5], queries, 12)[0]) == 5


# ------------------------------------------------------------------ cities of real text


def test_a_made_city_has_exactly_the_chunks_asked_for(pieces: list[Piece]) -> None:
    made = made_city("somewhere", pieces * 3, 100)
    assert made.chunks == len(set(made.inputs)) == sum(len(d.chunks) for d in made.documents) == 100
    for document in made.documents:
        (section,) = document.sections
        assert section.span.of(document.document.body) == document.document.body
        for chunk, _ in document.chunks:
            assert chunk.span.of(document.document.body) == chunk.text


def test_another_edition_is_the_same_law_with_other_inputs(pieces: list[Piece]) -> None:
    one, two = (made_city("somewhere", pieces, 30, edition=e) for e in "12")
    assert [d.version for d in one.documents] == [d.version for d in two.documents]
    assert not set(one.inputs) & set(two.inputs)
    assert one.originals == two.originals


# ------------------------------------------------------------------ the formula


def test_the_formula_by_hand() -> None:
    scores = Formula([terms("fence fence permit"), terms("permit"), terms("shed")]).scores("fence")
    # idf = ln(1 + 2.5/1.5); tf = 2, len = 3, average = 5/3
    expected = np.log(1 + 2.5 / 1.5) * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 3 / (5 / 3)))
    assert scores == pytest.approx([expected, 0, 0])


@pytest.mark.parametrize(
    ("found", "share"),
    [([0, 1], 1.0), ([1, 0], 1.0), ([0, 2], 1.0), ([0, 3], 0.5), ([0], 0.5), ([3, 4], 0.0)],
)
def test_agreement_counts_ties_with_the_last_place(found: list[int], share: float) -> None:
    assert agreement(found, np.array([3.0, 2.0, 2.0, 1.0, 0.0]), 2) == share


def test_agreement_with_nothing_is_finding_nothing() -> None:
    assert agreement([], np.zeros(3), 2) == 1.0
    assert agreement([1], np.zeros(3), 2) == 0.0
    assert agreement([1], np.array([0.0, 1.0, 0.0]), 2) == 1.0


# ------------------------------------------------------------------ figures


def _reply(city: str, chunks: int, rows: int, recall: float, milliseconds: float) -> Reply:
    return Reply(
        city=CityId(city), chunks=chunks, rows=rows, recall=recall, milliseconds=milliseconds
    )


def test_recall_is_of_cities_and_times_are_of_questions() -> None:
    replies = [
        _reply("large", 900, 12, 1.0, 1),
        _reply("large", 900, 12, 0.8, 2),
        _reply("large", 900, 12, 0.9, 3),
        _reply("small", 10, 0, 0.0, 100),
    ]
    found = figures("one", "all", replies)
    assert (found.recall, found.recall_worst, found.worst) == (0.45, 0.0, "small")
    assert (found.rows_mean, found.rows_min, found.empty) == (9.0, 0, 0.25)
    assert (found.least, found.p50, found.n, found.cities) == (1, 2.5, 4, 2)


def test_small_cities_are_those_under_two_per_cent() -> None:
    replies = {
        "one": [_reply("a", 980, 12, 1, 1), _reply("b", 19, 12, 1, 1), _reply("c", 20, 12, 1, 1)]
    }
    by_group = {f.over: f.cities for f in table(replies, 1_000)}
    assert by_group == {"all": 3, "under 2% of the rows": 1, "1 to 1,000": 3}


def test_a_clock_notes_what_was_cut_short_once() -> None:
    clock = Clock(seconds=0)
    assert clock.over("dense")
    assert clock.over("dense")
    assert clock.cut == ["dense"]
    assert not Clock(seconds=60).over("dense")


def test_a_report_leaves_out_what_was_not_measured() -> None:
    race = Race(
        dimension=384,
        chunks=1_000,
        global_seconds=1,
        global_bytes=10,
        figures=[figures(OURS, "all", [_reply("a", 10, 12, 1, 1)])],
        relaxed_over_ours_p95=None,
    )
    report = Report(
        command="permitbox bench retrieval",
        scale=1_000,
        real_chunks=1,
        real_vectors=1,
        questions=1,
        cores=2,
        dense=race,
    )
    json.dumps(report.json())
    lines = "\n".join(report.lines())
    assert (
        "| all (1) | **ours** | 1 | 12.0 (12) | 0.0% | 100% | 1.000 | 1.000 | 1.0 | 1.0 | 1.0 |"
        in lines
    )
    assert "By words" not in lines
    assert report.json()["dense"]["figures"][0]["recall"] == 1.0


def test_rates_of_loading_are_told_in_rows_a_second() -> None:
    loading = Loading(chunks=100, rows=Rate(rows=100, seconds=4.0))
    report = Report(
        command="permitbox bench retrieval",
        scale=100,
        real_chunks=1,
        real_vectors=1,
        questions=1,
        cores=2,
        loading=loading,
    )
    told = json.loads(json.dumps(report.json()))["loading"]
    assert told["rows"] == {"rows": 100, "seconds": 4.0, "rows_a_second": 25.0}
    assert told["built_large"]["rows_a_second"] == 0.0
    assert "| sections, chunks, words | 100 | 4.0 | 25 |" in list(report.lines())


def test_a_part_that_there_is_not_is_refused_at_once() -> None:
    with pytest.raises(BadRequest, match="--part sparse is none of dense, wide"):
        measure(Wanted(command="", parts=["dense", "sparse"]))


def test_statements_are_put_together_with_quoted_names() -> None:
    text = baseline("global_index", table='a"b', index="i").as_string(None)
    assert 'create index "i" on "a""b" using hnsw' in text
