"""What was asked belongs to who asked: others, operators and dumps know no word of it."""

from __future__ import annotations

import logging
import re
import stat
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime
from pathlib import Path

import httpx
import psycopg
import pytest

from appliance.answers.ownership import Owner
from appliance.owner_file import owner_of_home
from appliance.settings import Settings
from appliance.web.app import create_app
from appliance.web.asker import COOKIE
from appliance.wiring import House, open_house
from tests.integration.conftest import Database, permitbox

CITY = "alder-falls-xx"
CANARY = "zanzibarquux"
QUESTION = f"How tall may a {CANARY} fence be along my front yard?"


@pytest.fixture
async def house(samples: Database) -> AsyncIterator[House]:
    async with open_house(samples.settings) as house:
        yield house


def browser(house: House, *, token: str | None = None) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app=create_app(house))
    cookies = {} if token is None else {COOKIE: token}
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8080", cookies=cookies)


async def asks(client: httpx.AsyncClient, question: str = QUESTION) -> dict:
    response = await client.post("/api/ask", json={"city": CITY, "question": question})
    assert response.status_code == 200, response.text
    return response.json()


# ------------------------------------------------------------------ one's own


async def test_a_browser_gets_back_what_it_asked_and_another_gets_nothing(house: House) -> None:
    async with browser(house) as mine, browser(house) as other:
        first, second = await asks(mine), await asks(mine, "May I keep hens, and how many?")
        await asks(other, "Do I need a permit for a shed?")
        own = (await mine.get("/api/answers")).json()["answers"]
        assert [a["question"] for a in own] == [second["question"], QUESTION]
        assert {k: own[1][k] for k in first} == first
        (others,) = (await other.get("/api/answers")).json()["answers"]
        assert others["question"] == "Do I need a permit for a shed?"
        stolen = await other.get(f"/api/answers/{own[0]['id']}")
        assert stolen.status_code == 404
        assert CANARY not in stolen.text
        assert (await other.delete(f"/api/answers/{own[0]['id']}")).status_code == 404
        assert (await mine.get(f"/api/answers/{own[0]['id']}")).json() == own[0]


async def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(house: House) -> None:
    async with browser(house) as client:
        for response in (
            await client.post("/api/ask", json={"city": CITY, "question": QUESTION}),
            await client.post("/api/chat", json={"city": CITY, "question": QUESTION}),
            await client.get("/", params={"city": CITY, "q": QUESTION}),
        ):
            cookie = response.headers["set-cookie"]
            assert re.fullmatch(
                rf"{COOKIE}=[\w-]{{43}}; HttpOnly; Max-Age=\d+; Path=/; SameSite=strict", cookie
            )
        assert "set-cookie" not in (await client.get("/")).headers


@pytest.mark.parametrize(
    "token", ["", "x", "a" * 42, "a" * 44, "é" * 43, "'; drop table answer; --"]
)
def test_a_token_that_is_none_of_ours_is_nobody(token: str) -> None:
    assert Owner.of(token) is None


async def test_a_made_up_cookie_is_replaced(house: House) -> None:
    async with browser(house, token="guess") as client:
        response = await client.post("/api/ask", json={"city": CITY, "question": QUESTION})
        assert "=guess" not in response.headers["set-cookie"]


async def test_one_answer_or_all_are_forgotten_for_good(house: House) -> None:
    async with browser(house) as mine, browser(house) as other:
        await asks(mine)
        await asks(mine, "May I keep hens, and how many?")
        await asks(other)
        newest, oldest = (await mine.get("/api/answers")).json()["answers"]
        assert (await mine.delete(f"/api/answers/{oldest['id']}")).json() == {"forgotten": 1}
        assert (await mine.get("/api/answers")).json()["answers"] == [newest]
        assert (await mine.delete("/api/answers")).json() == {"forgotten": 1}
        assert (await mine.get("/api/answers")).json() == {"answers": []}
        assert len((await other.get("/api/answers")).json()["answers"]) == 1


async def test_the_page_shows_ones_own_and_its_buttons_work_without_scripts(house: House) -> None:
    hostile = f"May a <script>alert(1)</script> {CANARY} fence be tall?"
    async with browser(house) as mine, browser(house) as other:
        assert "Nothing was asked" in (await mine.get("/history")).text
        await asks(mine, hostile)
        await asks(mine)
        page = (await mine.get("/history")).text
        assert "<script" not in page
        assert page.count("<li>") == 2
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
        assert CANARY not in (await other.get("/history")).text
        ids = re.findall(r'name="id" value="([\w-]+)"', page)
        done = await mine.post("/history/forget", data={"id": ids[0]})
        assert (done.status_code, done.headers["location"]) == (303, "/history")
        assert (await mine.get("/history")).text.count("<li>") == 1
        await mine.post("/history/forget", data={"id": "no id"})
        assert (await mine.get("/history")).text.count("<li>") == 1
        await mine.post("/history/forget")
        assert "Nothing was asked" in (await mine.get("/history")).text


async def test_another_site_cannot_make_a_browser_forget(house: House) -> None:
    async with browser(house) as mine:
        await asks(mine)
        cross = {"sec-fetch-site": "cross-site"}
        assert (await mine.post("/history/forget", headers=cross)).status_code == 403
        assert (await mine.delete("/api/answers", headers=cross)).status_code == 403
        assert len((await mine.get("/api/answers")).json()["answers"]) == 1


# ------------------------------------------------------------------ the dump test


async def test_nothing_that_an_operator_can_reach_holds_a_word_of_a_question(
    house: House, samples: Database, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        async with browser(house) as client:
            answer = await asks(client)
            await asks(client)  # from the cache
            await client.post("/api/chat", json={"city": CITY, "question": QUESTION})
            await client.get("/", params={"city": CITY, "q": QUESTION})
            for wrong in ({"city": "no-such-xx"}, {"as_of": "1999-01-01"}, {"as_of": "x"}):
                body = {"city": CITY, "question": QUESTION} | wrong
                await client.post("/api/ask", json=body)
            reached = [(await client.get(p)).text for p in ("/metrics", "/healthz", "/api/cities")]
    statistics = await house.trail.statistics(1)
    assert sum(s.answers for s in statistics) == 5
    # What the client of this test logs is the asker's own.
    reached += [
        r.getMessage() for r in caplog.records if not r.name.startswith(("httpx", "httpcore"))
    ]
    reached += [repr(statistics), _dumped(samples)]
    quote = answer["citations"][0]["quote"]
    for words in (CANARY, QUESTION, "along my front yard"):
        found = [text for text in reached if words in text]
        assert not [text[:300] for text in found], words
    assert answer["outcome"] == "quotes"
    assert quote[4:30] in _dumped(samples, "document"), "the dump shows what is stored in clear"


def _dumped(database: Database, *only: str) -> str:
    """Return every row of every table as text, sealed bytes as their characters."""
    with psycopg.connect(database.dsn) as connection:
        tables = [
            name
            for (name,) in connection.execute(
                "select tablename from pg_tables where schemaname = 'public'"
            )
        ]
        rows: list[str] = []
        for table in only or tables:
            query = psycopg.sql.SQL("select t from {} t").format(psycopg.sql.Identifier(table))
            rows += [str(row) for row in connection.execute(query)]
        for table in () if only else ("answer", "cached_answer"):
            query = psycopg.sql.SQL("select encode(sealed, 'escape') from {}")
            rows += [
                str(row) for row in connection.execute(query.format(psycopg.sql.Identifier(table)))
            ]
    return "\n".join(rows)


async def test_operators_count_by_city_day_and_outcome(house: House) -> None:
    async with browser(house) as client:
        await asks(client)
        await asks(client)
        await asks(client, "Who won the world cup of 1998 in the final?")
    counted = {(s.outcome, s.reason): s for s in await house.trail.statistics(1)}
    assert set(counted) == {("quotes", None), ("abstention", "not_found")}
    assert counted["quotes", None].answers == 2
    assert counted["quotes", None].from_cache == 1
    assert counted["quotes", None].city == CITY
    assert (counted["quotes", None].p95_ms or 0) > 0


# ------------------------------------------------------------------ time, and older boxes


async def test_answers_end_after_their_days(samples: Database) -> None:
    settings = Settings(home=Path("/nonexistent/x"), dsn=samples.settings.dsn, answer_days=10)
    async with open_house(settings) as house, browser(house) as client:
        await asks(client)
        samples.run("update answer set asked_at = asked_at - interval '11 days'")
        await asks(client, "May I keep hens, and how many?")
        (left,) = (await client.get("/api/answers")).json()["answers"]
        assert left["question"].startswith("May I keep hens")


async def test_what_an_older_box_kept_in_clear_is_sealed_for_the_homes_user(
    samples: Database, tmp_path: Path
) -> None:
    samples.run(
        "insert into answer (city_id, question, as_of, asked_at, outcome, payload)"
        " select id, %s, %s, %s, 'quotes', jsonb_build_object('question', %s::text, 'text', 'x')"
        " from city limit 1",
        QUESTION,
        date(2026, 1, 1),
        datetime.now(UTC),
        QUESTION,
    )
    assert CANARY in _dumped(samples)
    async with open_house(Settings(home=tmp_path, dsn=samples.settings.dsn)) as house:
        assert CANARY not in _dumped(samples)
        owner = owner_of_home(tmp_path)
        (kept,) = await house.trail.of_owner(owner.name)
        assert QUESTION in (owner.open(kept.sealed) or "")
        assert Owner.new().open(kept.sealed) is None


# ------------------------------------------------------------------ the command


def test_the_homes_secret_is_made_once_and_only_its_user_reads_it(tmp_path: Path) -> None:
    first = owner_of_home(tmp_path / "home")
    assert owner_of_home(tmp_path / "home") == first
    assert [p.name for p in (tmp_path / "home").iterdir()] == ["owner"]
    assert stat.S_IMODE((tmp_path / "home" / "owner").stat().st_mode) == 0o600
    assert first.token not in repr(first)
    assert owner_of_home(Path("/nonexistent/home")) != owner_of_home(Path("/nonexistent/home"))


def test_the_command_shows_and_forgets_its_users_own(samples: Database, tmp_path: Path) -> None:
    home = {"PERMITBOX_HOME": str(tmp_path)}
    asked = permitbox("ask", "--city", CITY, "--json", QUESTION, database=samples, **home)
    assert asked.code == 0
    (listed,) = permitbox("answers", "list", "--json", database=samples, **home).json
    assert listed["question"] == QUESTION
    stranger = {"PERMITBOX_HOME": str(tmp_path / "other")}
    assert permitbox("answers", "list", "--json", database=samples, **stranger).json == []
    stats = permitbox("answers", "stats", database=samples, **stranger)
    assert CITY in stats.out
    assert CANARY not in stats.out + stats.err
    gone = permitbox("answers", "forget", "--all", database=samples, **home)
    assert gone.out == "1 answers forgotten.\n"
