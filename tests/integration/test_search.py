"""The three legs against references computed in the test, on the sample cities."""

from __future__ import annotations

import asyncio
import math
import random
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from datetime import date
from itertools import combinations

import numpy as np
import pytest
import pytest_asyncio

from appliance.corpus.words import K1, B, terms
from appliance.domain import LEGS, CityId, Leg, Query
from appliance.errors import NoSuchCity
from appliance.retrieve import Recipe, Retrieved, retrieve
from appliance.wiring import House, open_house
from tests.integration.conftest import TODAY, Database, ingested, record

ALDER, BRACKWATER = CityId("alder-falls-xx"), CityId("brackwater-county-xx")
DAYS = [TODAY, date(2025, 1, 1), date(2024, 6, 1), date(2020, 1, 1)]
QUESTIONS = [
    "How high may a fence be in the front yard?",
    "What is the building permit fee for a valuation of 20,000 dollars?",
    "parking spaces for a restaurant",
    "Do I need a permit for a swimming pool barrier, and who inspects it?",
    "setback accessory building rear lot line",
    "§ 15.12.020",
    "appeal appeal appeal decision",
]


@pytest_asyncio.fixture(loop_scope="session", scope="session")
async def shared(cluster: object, sampled: str) -> AsyncIterator[tuple[Database, House]]:
    """Yield the samples for tests that only read."""
    from tests.integration.conftest import _copy_of

    database = _copy_of(cluster, sampled)  # type: ignore[arg-type]
    async with open_house(database.settings) as house:
        yield database, house


@pytest.fixture
def house(shared: tuple[Database, House]) -> House:
    return shared[1]


@pytest.fixture
def database(shared: tuple[Database, House]) -> Database:
    return shared[0]


async def _retrieved(
    house: House,
    text: str,
    city: CityId = ALDER,
    *,
    k: int = 10,
    day: date = TODAY,
    legs: tuple[Leg, ...] = LEGS,
) -> Retrieved:
    query = Query(text=text, city=city, as_of=day)
    return await retrieve(house.store, house.encoder, query, k, recipe=Recipe(legs=legs))


def _in_force(database: Database, city: CityId, day: date) -> set[int]:
    """Return the chunks that a search of that day may find."""
    rows = database.rows(
        """
        select c.id from chunk c join document d on d.id = c.document_id
        join city ci on ci.id = c.city_id
        where ci.slug = %s and c.searchable
          and (d.effective_from is null or d.effective_from <= %s)
          and (d.effective_until is null or d.effective_until > %s)
        """,
        city,
        day,
        day,
    )
    return {row[0] for row in rows}


# ------------------------------------------------------------------ dense


@pytest.mark.parametrize("city", [ALDER, BRACKWATER])
@pytest.mark.parametrize("day", DAYS)
@pytest.mark.parametrize("k", [1, 5, 50, 500])
async def test_dense_returns_k_rows_or_all_that_are_in_force(
    house: House, database: Database, city: CityId, day: date, k: int
) -> None:
    eligible = _in_force(database, city, day)
    vector = await house.encoder.encode_query("How high may a fence be?")
    hits = await house.store.dense(city, vector, k, day)
    assert len(hits) == min(k, len(eligible))
    assert {h.chunk for h in hits} <= eligible
    assert [h.rank for h in hits] == list(range(1, len(hits) + 1))


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("day", DAYS[:2])
async def test_dense_gives_the_order_of_brute_force(
    house: House, database: Database, question: str, day: date
) -> None:
    vector = await house.encoder.encode_query(question)
    rows = database.rows(
        "select v.chunk_id, v.vector::text from chunk_embedding_m1 v join city c"
        " on c.id = v.city_id where c.slug = %s",
        ALDER,
    )
    rows = [r for r in rows if r[0] in _in_force(database, ALDER, day)]
    stored = np.array([[float(x) for x in text[1:-1].split(",")] for _, text in rows])
    half = vector.astype(np.float16).astype(np.float64)  # what the database is asked with
    scores = stored @ half / np.linalg.norm(stored, axis=1) / np.linalg.norm(half)
    truth = {chunk: score for (chunk, _), score in zip(rows, scores, strict=True)}
    hits = await house.store.dense(ALDER, vector, 50, day)
    best = sorted(truth.values(), reverse=True)[: len(hits)]
    assert [h.score for h in hits] == pytest.approx(best, abs=1e-5)
    assert [h.score for h in hits] == pytest.approx([truth[h.chunk] for h in hits], abs=1e-5)


# ------------------------------------------------------------------ lexical


def _bm25(database: Database, city: CityId, question: str) -> dict[int, float]:
    """Return the BM25 score of every chunk: plain, by the textbook, over words and not places."""
    rows = database.rows(
        """
        select c.id, s.path, s.heading, c.titles, c.span_start, c.span_end, d.body
        from chunk c join section s on s.id = c.section_id join document d on d.id = c.document_id
        join city ci on ci.id = c.city_id where ci.slug = %s and c.searchable
        """,
        city,
    )
    counts = {
        chunk: Counter(terms("\n".join([*path, heading, *_parts(body, titles), body[start:end]])))
        for chunk, path, heading, titles, start, end, body in rows
    }
    average = sum(sum(c.values()) for c in counts.values()) / len(counts)
    scores: Counter[int] = Counter()
    for term in set(terms(question)):
        holders = [c for c in counts.values() if c[term]]
        idf = math.log(1 + (len(counts) - len(holders) + 0.5) / (len(holders) + 0.5))
        for chunk, c in counts.items():
            norm = K1 * (1 - B + B * sum(c.values()) / average)
            scores[chunk] += idf * c[term] * (K1 + 1) / (c[term] + norm)
    return {chunk: score for chunk, score in scores.items() if score > 0}


def _parts(body: str, edges: Sequence[int]) -> list[str]:
    return [body[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _same_as_reference(hits: list[tuple[int, float]], truth: dict[int, float]) -> None:
    """Compare the best ten; chunks whose scores are equal may come in any order."""
    best = sorted(truth.values(), reverse=True)[:10]
    assert [score for _, score in hits] == pytest.approx(best, rel=1e-5)
    assert [score for _, score in hits] == pytest.approx([truth[c] for c, _ in hits], rel=1e-5)
    clear = {c for c, score in truth.items() if score > best[-1] * (1 + 1e-5)}
    assert clear <= {c for c, _ in hits}


@pytest.mark.parametrize("city", [ALDER, BRACKWATER])
@pytest.mark.parametrize("question", QUESTIONS)
async def test_lexical_is_bm25(
    house: House, database: Database, city: CityId, question: str
) -> None:
    truth = _bm25(database, city, question)
    hits = await house.store.lexical(city, question, 10, TODAY)
    _same_as_reference([(h.chunk, h.score) for h in hits], truth)


async def test_lexical_is_bm25_after_most_of_the_code_was_replaced(
    samples: Database, write: object
) -> None:
    """Past versions count as chunks where they count as holders of a term."""
    async with open_house(samples.settings) as house:
        for year in range(2010, 2020):
            numbers = range(1, 9)
            records = [
                record(f"1.{i}", f"Fence rule {i}: {year} feet. Gate {i % 3}. " * i)
                | {"effective_date": f"{year}-01-01"}
                for i in numbers
            ]
            await ingested(house, write(records))  # type: ignore[operator]
        city = CityId("elm-hollow-xx")
        current = _in_force(samples, city, TODAY)
        truth = {c: s for c, s in _bm25(samples, city, "fence gate 2 rule").items() if c in current}
        hits = await house.store.lexical(city, "fence gate 2 rule", 10, TODAY)
    assert len(hits) == 8
    _same_as_reference([(h.chunk, h.score) for h in hits], truth)


@pytest.mark.parametrize("text", ["what is the of and", "zzzzqqq xyzzy", "", "🏠🚧❓", "?!"])
@pytest.mark.parametrize("legs", [("lexical",), ("named",), ("dense",), LEGS])
async def test_a_question_without_a_word_of_the_code_is_no_error(
    house: House, text: str, legs: tuple[Leg, ...]
) -> None:
    found = await _retrieved(house, text, legs=legs)
    if "dense" not in legs:
        assert found.passages == ()


# ------------------------------------------------------------------ named


@pytest.mark.parametrize(
    "spelling",
    [
        "§ 15.12.020",
        "§15.12.020",
        "Sec. 15.12.020",
        "sec 15.12.020",
        "Section 15.12.020",
        "section 15.12.020?",
        "What does 15.12.020 say?",
        "Alder Falls Code § 15.12.020(b)",
        "SECTION 15.12.020",
    ],
)
async def test_a_named_section_comes_first_however_it_is_spelled(
    house: House, spelling: str
) -> None:
    found = await _retrieved(house, spelling)
    assert found.passages[0].section.external_id == "alder-falls-xx/15.12.020"
    assert "named" in found.passages[0].legs


@pytest.mark.parametrize("spelling", ["Table 15.12-1", "table 15.12-1", "TABLE 15.12–1"])
async def test_a_named_table_comes_first(house: House, spelling: str) -> None:
    found = await _retrieved(house, f"the fees of {spelling}")
    assert found.passages[0].section.external_id == "alder-falls-xx/15.12.020"


@pytest.mark.parametrize(
    "spelling", ["Sec. 1-2", "§ 1-2", "Section 1–2", "Brackwater Code Sec. 1-2"]
)
async def test_a_section_with_a_hyphen_is_found(house: House, spelling: str) -> None:
    found = await _retrieved(house, spelling, BRACKWATER)
    assert found.passages[0].section.external_id == "brackwater-1-2"


async def test_a_section_that_the_city_does_not_have_is_not_named(house: House) -> None:
    found = await _retrieved(house, "Section 99.99.999", legs=("named",))
    assert found.passages == ()


# ------------------------------------------------------------------ cities, days, legs


@pytest.mark.parametrize("city", [ALDER, BRACKWATER])
@pytest.mark.parametrize("question", [*QUESTIONS, "Sec. 1-2", "Alder Falls", "Brackwater County"])
async def test_hits_are_never_from_another_city(
    house: House, database: Database, city: CityId, question: str
) -> None:
    found = await _retrieved(house, question, city, k=100)
    assert {h.chunk for h in found.hits} <= _in_force(database, city, TODAY)
    assert {p.section.city for p in found.passages} == {city}


@pytest.mark.parametrize("day", DAYS)
async def test_what_is_found_was_in_force_on_the_day(
    house: House, database: Database, day: date
) -> None:
    found = await _retrieved(house, "permit fee for a fence, Section 15.12.020", k=100, day=day)
    assert {h.chunk for h in found.hits} <= _in_force(database, ALDER, day)
    assert all(p.section.in_force(day) for p in found.passages)


@pytest.mark.parametrize("legs", [legs for n in (1, 2, 3) for legs in combinations(LEGS, n)])
async def test_only_the_legs_that_are_asked_for_search(house: House, legs: tuple[Leg, ...]) -> None:
    found = await _retrieved(house, "fence height of § 15.12.020", legs=legs)
    assert {h.leg for h in found.hits} == set(legs)
    assert found.passages


@pytest.mark.parametrize("k", [1, 3, 10, 100])
async def test_passages_are_distinct_texts_at_their_spans(house: House, k: int) -> None:
    found = await _retrieved(house, "fence permit fee", k=k)
    assert len(found.passages) <= k
    assert len({p.section.id for p in found.passages}) == len(found.passages)
    for passage in found.passages:
        section = await house.store.section(passage.section.id)
        assert passage.span.of(section.text) == passage.text != ""
    scores = [p.score for p in found.passages]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    ("mistyped", "meant"),
    [
        ("alder-fals-xx", "alder-falls-xx"),
        ("alder-falls", "alder-falls-xx"),
        ("brackwater-xx", "brackwater-county-xx"),
        ("brakwater-county-xx", "brackwater-county-xx"),
    ],
)
async def test_an_unknown_city_is_refused_with_the_nearest_names(
    house: House, mistyped: str, meant: str
) -> None:
    with pytest.raises(NoSuchCity) as caught:
        await _retrieved(house, "fence", CityId(mistyped))
    assert caught.value.nearest[0] == meant
    assert f"Did you mean {meant}" in str(caught.value)
    with pytest.raises(NoSuchCity):
        await house.store.coverage(CityId(mistyped))


async def test_a_city_like_no_other_is_refused_without_a_guess(house: House) -> None:
    with pytest.raises(NoSuchCity, match="`permitbox cities` lists"):
        await _retrieved(house, "fence", CityId("q"))


# ------------------------------------------------------------------ at once


async def test_fifty_searches_at_once_are_as_good_as_one(house: House) -> None:
    rng = random.Random(7)
    asked = [(rng.choice(QUESTIONS), rng.choice([ALDER, BRACKWATER])) for _ in range(50)]
    alone = {pair: await _retrieved(house, *pair) for pair in set(asked)}
    together = await asyncio.gather(*(_retrieved(house, *pair) for pair in asked))
    assert together == [alone[pair] for pair in asked]


async def test_searches_that_are_given_up_leave_the_pool_whole(house: House) -> None:
    tasks = [asyncio.create_task(_retrieved(house, QUESTIONS[i % 7])) for i in range(40)]
    await asyncio.sleep(0.05)
    for task in tasks[::2]:
        task.cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(r, Retrieved | asyncio.CancelledError) for r in results)
    after = await asyncio.gather(*(_retrieved(house, q) for q in QUESTIONS * 3))
    assert all(r.passages for r in after)
