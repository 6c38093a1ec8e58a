"""Answers given again, on a real PostgreSQL: to whom, for how long, and only while they hold."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from appliance import pipeline
from appliance.answering import answered
from appliance.ask import Asked, ChatAt, CitationProven, Finished, drain
from appliance.domain import Abstention, Answer, CityId
from appliance.errors import ChatBroken, CityNotSearchable
from appliance.forms import outcome_json
from appliance.ports import ChatMessage
from appliance.store import cache as store_cache
from appliance.testing import ScriptedChat
from appliance.wiring import House, open_house
from tests.integration.conftest import Database, ingested, permitbox, record

ALDER = CityId("alder-falls-xx")
COUNTY = CityId("brackwater-county-xx")
DAY = date(2026, 7, 1)
QUESTION = "How long is my building permit good for if I never start the work?"
REPHRASED = "Hello! If I never start the work, how long is my building permit good for? Thanks!"


def asked(question: str = QUESTION, city: CityId = ALDER, as_of: date = DAY) -> Asked:
    return Asked(question=question, city=city, as_of=as_of)


@pytest.fixture
async def house(samples: Database) -> AsyncIterator[House]:
    async with open_house(samples.settings) as house:
        yield house


async def answer(
    house: House, what: Asked, *, chat: ScriptedChat | None = None, demo: bool = False
) -> Finished:
    at = None if chat is None else ChatAt(chat=chat, demo=demo)
    return await drain(answered(house.store, house.encoder, at, what, memory=house.memory))


def without_times(finished: Finished) -> dict[str, object]:
    return {**outcome_json(finished), "timings_ms": None, "cache": None, "question": None}


# ------------------------------------------------------------------ given again


async def test_the_second_answer_is_the_first_one_with_its_proofs(house: House) -> None:
    first = await answer(house, asked())
    again = await answer(house, asked())
    assert first.cache is None
    assert again.cache == "exact"
    assert isinstance(again.outcome, Answer)
    assert again.outcome == first.outcome
    assert without_times(again) == without_times(first)
    assert again.asked.question == QUESTION
    assert all(c.span.of(c.section.text) == c.quote for c in again.outcome.citations)


async def test_it_comes_as_proven_citations_and_the_outcome(house: House) -> None:
    first = await answer(house, asked())
    flow = answered(house.store, house.encoder, None, asked(), memory=house.memory)
    *citations, last = [event async for event in flow]
    assert all(isinstance(c, CitationProven) for c in citations)
    assert isinstance(last, Finished)
    assert isinstance(first.outcome, Answer)
    assert len(citations) == len(first.outcome.citations)


async def test_other_words_for_the_same_get_it_and_other_questions_do_not(house: House) -> None:
    await answer(house, asked())
    again = await answer(house, asked(REPHRASED))
    assert again.cache == "semantic"
    assert again.asked.question == REPHRASED
    other = await answer(house, asked(QUESTION.replace("never", "always")))
    assert other.cache is None


@pytest.mark.parametrize(
    "other",
    [asked(city=COUNTY), asked(as_of=date(2026, 7, 2)), asked(QUESTION.replace("never", "do not"))],
    ids=["another city", "another day", "another word"],
)
async def test_another_city_day_or_word_is_another_question(house: House, other: Asked) -> None:
    await answer(house, asked())
    assert (await answer(house, other)).cache is None


async def test_a_follow_up_is_never_answered_from_what_stands_alone(house: House) -> None:
    follow_up = asked("And what about the fee for it?")
    await answer(house, follow_up)
    within = replace(follow_up, before=(QUESTION,))
    assert (await answer(house, within)).cache is None
    assert (await answer(house, within)).cache is None


async def test_an_abstention_is_not_kept(house: House) -> None:
    for _ in range(2):
        finished = await answer(house, asked("Who won the world cup of 1998 in the final?"))
        assert isinstance(finished.outcome, Abstention)
        assert finished.cache is None


async def test_a_hit_takes_a_small_part_of_the_time_of_an_answer(house: House) -> None:
    anew = [(await answer(house, asked(f"{QUESTION} {i}"))).timings_ms["total"] for i in range(3)]
    await answer(house, asked())
    # 3 and 15 ms at most on a quiet machine (eval/ledger/018-answer-cache.md); this one may be busy.
    for question in (QUESTION, REPHRASED):
        again = [(await answer(house, asked(question))).timings_ms["total"] for _ in range(5)]
        assert min(again) < min(anew) / 3


# ------------------------------------------------------------------ not any more


def elm(write: Callable[..., Path], limit: str, **fields: object) -> Path:
    text = f"A fence in a front yard of Elm Hollow shall not exceed {limit} feet in height."
    return write([record("1", text, heading="Fences", **fields)])


FENCE = asked("How tall may a fence in a front yard be?", CityId("elm-hollow-xx"))


async def test_a_change_of_the_law_is_seen_at_once(
    empty: Database, write: Callable[..., Path]
) -> None:
    async with open_house(empty.settings) as house:
        await ingested(house, elm(write, "four"))
        await answer(house, FENCE)
        assert (await answer(house, FENCE)).cache == "exact"
        await ingested(house, elm(write, "six", effective_date="2026-01-01"))
        changed = await answer(house, FENCE)
        assert changed.cache is None
        assert isinstance(changed.outcome, Answer)
        assert "six feet" in changed.outcome.text
        assert (await answer(house, FENCE)).cache == "exact"


AMENDED = """
    insert into amendment (city_id, law_id, law, kind, number, within, code, clause_start, clause_end,
                           matter_start, matter_end, undated)
    select city_id, min(id), 'LL 1', 'amended', '1', '{}', '{}', 0, 1, 0, 1, 'x'
    from document where city_id = 1 group by city_id"""


@pytest.mark.parametrize(
    "change",
    [
        "update document set title = title || '!' where city_id = 1",
        "update section set heading = heading || '!' where id = (select min(id) from section)",
        AMENDED,
        "update city set office = 'Room 3' where id = 1",
        "update city set dense_ready = not dense_ready where id = 1",
        "insert into city (slug, name) values ('new-town-xx', 'New Town')",
    ],
)
async def test_any_change_of_the_rows_makes_another_version(house: House, change: str) -> None:
    cities = dict(await _rows(house, "select id, slug from city"))
    before = (await house.cache.look(CityId(cities[1]), b"", None, lambda _: ())).corpus
    assert before is not None
    assert before == (await house.cache.look(CityId(cities[1]), b"", None, lambda _: ())).corpus
    await _rows(house, change)
    assert before != (await house.cache.look(CityId(cities[1]), b"", None, lambda _: ())).corpus


async def _rows(house: House, query: str) -> list[tuple[object, ...]]:
    async with house.pool.connection() as connection:
        cursor = await connection.execute(query.encode())
        return await cursor.fetchall() if cursor.description else []


async def test_a_city_that_is_kept_from_being_searched_is_not_answered_for(house: House) -> None:
    await answer(house, asked())
    await _rows(house, "update city set state = 'staged'")
    with pytest.raises(CityNotSearchable):
        await answer(house, asked())


async def test_a_quote_that_does_not_stand_there_any_more_is_no_hit(
    house: House,
) -> None:
    first = await answer(house, asked())
    assert isinstance(first.outcome, Answer)
    cited = first.outcome.citations[0].section

    assert (await answer(house, asked())).cache == "exact"
    await _rows(
        house,
        "set session_replication_role = replica;"  # no trigger tells of the change
        " update document set body = translate(body, 'aeiou', 'uoiea') where id ="
        f" (select document_id from section where id = {int(cited.id)});"
        " set session_replication_role = origin",
    )
    again = await answer(house, asked())
    assert again.cache is None
    assert isinstance(again.outcome, Answer)
    assert all(c.span.of(c.section.text) == c.quote for c in again.outcome.citations)


async def test_another_version_of_the_box_does_not_find_it(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    await answer(house, asked())
    monkeypatch.setattr(pipeline, "_code", lambda: "changed")
    assert (await answer(house, asked())).cache is None


def test_every_file_of_the_product_is_part_of_the_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.py", "b.sql", "c.json", "d.toml", "deep/e.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("1")
    monkeypatch.setattr(pipeline, "_PACKAGES", ("one",))
    monkeypatch.setattr(pipeline, "files", lambda _: tmp_path)
    seen = {pipeline._code.__wrapped__()}
    for name in ("a.py", "b.sql", "c.json", "d.toml", "deep/e.py"):
        (tmp_path / name).write_text("2")
        seen.add(pipeline._code.__wrapped__())
    assert len(seen) == 6


# ------------------------------------------------------------------ models


def quoting(messages: Sequence[ChatMessage]) -> str:
    words = "expires if the work it authorizes has not begun within 180 days"
    number = messages[-1].content.split(words)[0].rsplit("\n[", 1)[1].split("]")[0]
    return f'It lapses after 180 days without a start [{number}: "{words}"].'


async def test_each_model_has_its_own_answers(house: House) -> None:
    await answer(house, asked())
    chat = ScriptedChat(reply=quoting, name="one")
    written = await answer(house, asked(), chat=chat)
    assert written.cache is None
    again = await answer(house, asked(), chat=ScriptedChat(reply=quoting, name="one"))
    assert again.cache == "exact"
    assert again.outcome == written.outcome
    other = await answer(house, asked(), chat=ScriptedChat(reply=quoting, name="two"))
    assert other.cache is None


async def test_what_a_failing_server_left_is_not_kept(house: House) -> None:
    broken = ScriptedChat(reply="It is", fails=ChatBroken("The reply broke off."))
    for demo in (False, True):
        await answer(house, asked(), chat=broken, demo=demo)
        again = await answer(house, asked(), chat=ScriptedChat(reply=quoting), demo=demo)
        assert again.cache is None


# ------------------------------------------------------------------ what is stored


async def test_the_store_holds_no_word_of_a_question_or_answer(house: House) -> None:
    question = "How long is my zanzibar building permit good for if I never start?"
    finished = await answer(house, asked(question))
    assert isinstance(finished.outcome, Answer)
    rows = await _rows(house, "select t::text, encode(sealed, 'escape') from cached_answer t")
    assert len(rows) == 1
    for words in ("zanzibar", "permit", finished.outcome.citations[0].quote[:20]):
        assert not any(words in str(column) for row in rows for column in row)


async def test_a_city_keeps_so_many_and_none_for_ever(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_cache, "MOST", 3)
    for i in range(6):
        await house.cache.keep(ALDER, "", bytes([i]), None, b"x")
        await house.cache.keep(COUNTY, "", bytes([i, i]), None, b"x")
    assert [(c.city, c.answers) for c in await house.cache.counts()] == [(ALDER, 3), (COUNTY, 3)]
    left = await _rows(house, "select exact from cached_answer where length(exact) = 1 order by 1")
    assert [row[0] for row in left] == [bytes([i]) for i in (3, 4, 5)]
    await _rows(house, "update cached_answer set kept_at = kept_at - interval '40 days'")
    await house.cache.keep(ALDER, "", b"new", None, b"x")
    assert {c.city: c.answers for c in await house.cache.counts()} == {ALDER: 1, COUNTY: 3}


def test_the_commands_count_and_forget_and_pass_by(samples: Database) -> None:
    ask_it = ("ask", "--city", ALDER, "--as-of", "2026-07-01", "--json", QUESTION)
    assert permitbox(*ask_it, database=samples).json["cache"] is None
    assert permitbox(*ask_it, database=samples).json["cache"] == "exact"
    assert permitbox(*ask_it, "--no-cache", database=samples).json["cache"] is None
    off = permitbox(*ask_it, database=samples, PERMITBOX_ANSWER_CACHE="off")
    assert off.json["cache"] is None
    (counted,) = permitbox("cache", "stats", "--json", database=samples).json
    assert (counted["city"], counted["answers"]) == (ALDER, 1)
    assert permitbox("cache", "clear", ALDER, database=samples).out == "1 answers forgotten.\n"
    assert permitbox("cache", "stats", "--json", database=samples).json == []
