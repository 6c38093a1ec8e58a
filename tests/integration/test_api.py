"""The API over a real store: what it gives, in what order, and how it refuses."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import httpx
import psycopg
import pytest
from fastapi import FastAPI
from psycopg.conninfo import make_conninfo

from appliance.serving.model_server import Served, ServerState
from appliance.settings import Secret
from appliance.store import embedded
from appliance.store.database import open_pool
from appliance.store.loading import prepare_model
from appliance.store.search import PostgresStore
from appliance.store.trail import PostgresTrail
from appliance.web import stream
from appliance.web.app import create_app
from appliance.web.schemas import AnswerOut, HitsOut
from appliance.wiring import House

CITY = "alder-falls-xx"
FENCE = "How tall can the fence along my front yard be?"
ASK = {"city": CITY, "question": FENCE}
NONSENSE = "Who won the world cup in 1998?"


def client_of(app: FastAPI) -> httpx.AsyncClient:
    # An app that raises must still have answered with a problem: that is what is looked at.
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8080")


@pytest.fixture(scope="module")
async def client(sample_house: House) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(create_app(sample_house)) as client:
        yield client


def events_of(text: str) -> list[tuple[str, dict[str, Any]]]:
    found = []
    for frame in text.split("\n\n"):
        if frame.startswith("event: "):
            name, data = frame.split("\n")
            found.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


def assert_problem(response: httpx.Response, status: int) -> dict[str, Any]:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = response.json()
    assert {"type", "title", "status", "detail"} <= set(problem)
    assert problem["status"] == status
    assert "Traceback" not in response.text
    assert "/appliance/" not in response.text
    return problem


# ------------------------------------------------------------------ asking


async def test_a_stream_is_passages_then_proven_citations_then_the_answer(client):
    response = await client.post("/api/chat", json=ASK)
    assert response.headers["content-type"].startswith("text/event-stream")
    events = events_of(response.text)
    names = [name for name, _ in events]
    assert names[0] == "passages"
    assert names[-1] == "answer"
    assert set(names[1:-1]) == {"citation"}
    answer = events[-1][1]
    shown = [
        {k: v for k, v in data.items() if k not in ("blocks", "titles", "notices")}
        for n, data in events
        if n == "citation"
    ]
    assert shown == answer["citations"]


async def test_every_citation_is_the_text_of_its_section_at_its_code_points(client):
    answer = (await client.post("/api/ask", json=ASK)).json()
    assert answer["outcome"] == "quotes"
    for citation in answer["citations"]:
        section = (await client.get(f"/api/sections/{citation['section_id']}")).json()
        assert section["text"][citation["start"] : citation["end"]] == citation["quote"]


async def test_the_answer_of_a_stream_is_the_whole_answer(client):
    whole = (await client.post("/api/ask", json=ASK)).json()
    streamed = events_of((await client.post("/api/chat", json=ASK)).text)[-1][1]
    assert {**streamed, "timings_ms": None} == {**whole, "timings_ms": None}


@pytest.mark.parametrize("question", [FENCE, NONSENSE], ids=["answer", "abstention"])
async def test_the_described_form_of_an_answer_is_the_one_that_is_sent(client, question):
    response = await client.post("/api/ask", json={"city": CITY, "question": question})
    assert AnswerOut.model_validate_json(response.text)


async def test_nonsense_is_an_abstention_with_what_was_searched_and_whom_to_ask(client):
    answer = (await client.post("/api/ask", json={"city": CITY, "question": NONSENSE})).json()
    assert answer["outcome"] == "abstention"
    assert answer["searched"]["chunks"] > 50
    assert answer["searched"]["nearest"]
    assert "Building Office" in answer["office"]


async def test_every_answer_is_kept_for_who_asked(client):
    question = "May I keep hens, says the auditor?"
    answer = (await client.post("/api/ask", json={"city": CITY, "question": question})).json()
    newest = (await client.get("/api/answers", params={"limit": 1})).json()["answers"][0]
    assert {k: newest[k] for k in answer} == answer


async def test_a_models_words_stream_and_end_as_verified_text(with_model):
    house, chat = with_model(
        "A front fence may be ",
        'tall [1: "No fence, wall or hedge shall be higher than the limit"].',
    )
    async with client_of(create_app(house)) as client:
        events = events_of((await client.post("/api/chat", json=ASK)).text)
    names = [name for name, _ in events]
    assert names == ["passages", "token", "token", "citation", "answer", "support"]
    assert events[-2][1]["outcome"] == "answer"
    assert events[-2][1]["text"] == "A front fence may be tall [1]."
    assert chat.closed.is_set()


async def test_a_demo_models_words_come_after_the_quotes_and_are_marked(with_model):
    house, _ = with_model("Fences are fun.", demo=True)
    async with client_of(create_app(house)) as client:
        events = events_of((await client.post("/api/chat", json=ASK)).text)
    names = [name for name, _ in events]
    assert names.index("token") > names.index("citation")
    assert next(data for name, data in events if name == "token")["demo"] is True
    assert events[-1][1]["draft"]["text"] == "Fences are fun."


async def test_a_client_that_goes_away_frees_the_model(with_model, serve):
    house, chat = with_model("Once upon ", "a time", hangs=True)
    async with serve(create_app(house)) as address, httpx.AsyncClient() as client:
        async with client.stream("POST", f"{address}/api/chat", json=ASK) as response:
            async for line in response.aiter_lines():
                if line == "event: token":
                    break
        await asyncio.wait_for(chat.closed.wait(), 5)
        assert chat.closed.is_set()


async def test_a_silent_stream_beats(with_model, serve, monkeypatch):
    monkeypatch.setattr(stream, "HEARTBEAT_SECONDS", 0.05)
    house, _ = with_model("Once", hangs=True)
    async with (
        asyncio.timeout(10),
        serve(create_app(house)) as address,
        httpx.AsyncClient() as client,
        client.stream("POST", f"{address}/api/chat", json=ASK) as response,
    ):
        beats = [line async for line in first(response.aiter_lines(), 2, ":")]
    assert beats == [": still at work"] * 2


async def first(lines: AsyncIterator[str], count: int, prefix: str) -> AsyncIterator[str]:
    async for line in lines:
        if line.startswith(prefix):
            yield line
            count -= 1
            if not count:
                return


async def test_a_failure_after_the_stream_began_is_an_event(with_model, monkeypatch):
    house, _ = with_model("Words.", demo=True)
    async with broken_store(house) as broken:
        # The reads go well and the books cannot be kept: nothing may be shown that is not on them.
        mended = replace(house, trail=broken.trail)
        async with client_of(create_app(mended)) as client:
            events = events_of((await client.post("/api/chat", json=ASK)).text)
    assert events[-1][0] == "error"
    assert events[-1][1]["status"] == 503
    assert "answer" not in [name for name, _ in events]


# ------------------------------------------------------------------ search and what is held


async def test_a_search_gives_hits_in_order_with_their_place_in_the_section(client):
    response = await client.get("/api/search", params={"city": CITY, "q": "fence height", "k": 3})
    hits = HitsOut.model_validate_json(response.text).hits
    assert [h.rank for h in hits] == [1, 2, 3]
    section = (await client.get(f"/api/sections/{hits[0].section_id}")).json()
    assert section["text"][hits[0].start : hits[0].end] == hits[0].text


async def test_a_search_in_several_cities_says_of_each_passage_whose_it_is(client):
    both = f"{CITY},brackwater-county-xx"
    for cities in (both, "all"):
        params = {"city": cities, "q": "fence height", "k": 10}
        hits = (await client.get("/api/search", params=params)).json()["hits"]
        assert {CITY, "brackwater-county-xx"} <= {hit["city"] for hit in hits}
        assert [hit["rank"] for hit in hits] == list(range(1, len(hits) + 1))
    params = {"city": f"{CITY},nowhere-xx", "q": "fence"}
    assert_problem(await client.get("/api/search", params=params), 404)


async def test_only_the_chosen_legs_search(client):
    params = {"city": CITY, "q": "fence", "legs": "lexical"}
    hits = (await client.get("/api/search", params=params)).json()["hits"]
    assert {leg for hit in hits for leg in hit["legs"]} == {"lexical"}


async def test_a_day_before_the_code_finds_nothing(client):
    params = {"city": CITY, "q": "fence", "as_of": "1999-01-01"}
    assert (await client.get("/api/search", params=params)).json() == {
        "hits": [],
        "did_you_mean": [],
        "read_as": {},
    }


async def test_cities_and_coverage_say_what_is_held(client):
    cities = (await client.get("/api/cities")).json()["cities"]
    assert [c["city"] for c in cities] == [CITY, "brackwater-county-xx", "troll-bridge-xx"]
    coverage = (await client.get(f"/api/coverage/{CITY}")).json()
    assert coverage == cities[0]
    assert coverage["status"] == "ready"
    assert coverage["newest"] == "2025-01-01"
    assert coverage["subjects"]


async def test_the_marked_runs_of_a_section_are_the_quote_also_after_astral_characters(client):
    params = {"city": "troll-bridge-xx", "q": "toll of goats under a bridge", "k": 1}
    hit = (await client.get("/api/search", params=params)).json()["hits"][0]
    whole = (await client.get(f"/api/sections/{hit['section_id']}")).json()
    start = whole["text"].index("(a)")
    end = whole["text"].index("1 goat |")
    place = f"/api/sections/{hit['section_id']}?start={start}&end={end}"
    blocks = (await client.get(place)).json()["blocks"]
    runs = list(runs_of(blocks))
    assert "".join(r["text"] for r in runs) == whole["text"]
    assert "".join(r["text"] for r in runs if r["marked"]) == whole["text"][start:end]
    assert "table" in {block["kind"] for block in blocks}


def runs_of(blocks):
    for block in blocks:
        cells = block.get("runs") and [block["runs"]]
        cells = cells or [cell for row in block["rows"] for cell in row["cells"]]
        for cell in cells:
            yield from cell


# ------------------------------------------------------------------ refusals

BAD_BODIES = {
    "100,000 characters": json.dumps({"city": CITY, "question": "x" * 100_000}).encode(),
    "empty question": b'{"city": "alder-falls-xx", "question": " "}',
    "NUL in the question": b'{"city": "alder-falls-xx", "question": "a\\u0000b"}',
    "half a surrogate": b'{"city": "alder-falls-xx\\ud800", "question": "fence"}',
    "NUL bytes": b"\0" * 64,
    "no UTF-8": b'{"city": "\xff\xfe", "question": "fence"}',
    "no JSON": b"fence?",
    "cut JSON": b'{"city": "alder-falls-xx", ',
    "deep JSON": b"[" * 50_000,
    "huge number": b'{"city": ' + b"9" * 10_000 + b"}",
    "an array": b"[]",
    "nothing": b"",
    "wrong types": b'{"city": 5, "question": ["fence"]}',
    "unknown field": b'{"city": "alder-falls-xx", "question": "fence?", "temperature": 2}',
    "city with NUL": b'{"city": "alder\\u0000", "question": "fence"}',
    "city that is none": b'{"city": "../../etc/passwd", "question": "fence"}',
}


@pytest.mark.parametrize("path", ["/api/chat", "/api/ask"])
@pytest.mark.parametrize("body", BAD_BODIES.values(), ids=BAD_BODIES.keys())
async def test_a_bad_body_is_refused_in_one_sentence(client, path, body):
    response = await client.post(path, content=body, headers={"content-type": "application/json"})
    assert response.status_code in (400, 422)
    assert_problem(response, response.status_code)


async def test_a_body_over_256_kib_is_refused_however_it_is_sent(client):
    headers = {"content-type": "application/json"}
    body = b'{"city": "' + b"x" * 300_000 + b'"}'
    assert_problem(await client.post("/api/ask", content=body, headers=headers), 413)

    async def unannounced() -> AsyncIterator[bytes]:
        for _ in range(30):
            yield b"x" * 10_000

    assert_problem(await client.post("/api/ask", content=unannounced(), headers=headers), 413)


async def test_a_form_is_not_taken_for_json(client):
    response = await client.post(
        "/api/ask", content=json.dumps(ASK), headers={"content-type": "text/plain"}
    )
    assert_problem(response, 422)


async def test_an_unknown_city_is_404_with_the_nearest_names(client):
    body = {"city": "alder-fall-xx", "question": FENCE}
    for response in (
        await client.post("/api/chat", json=body),
        await client.post("/api/ask", json=body),
        await client.get("/api/coverage/alder-fall-xx"),
        await client.get("/api/search", params={"city": "alder-fall-xx", "q": "fence"}),
    ):
        problem = assert_problem(response, 404)
        assert problem["nearest"] == [CITY]
        assert problem["type"] == "urn:permitbox:problem:no-such-city"


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("as_of=yesterday", "2026-07-01"),
        ("as_of=2026-02-30", "2026-07-01"),
        ("as_of=20260701", "2026-07-01"),
        ("k=0", "k"),
        ("k=101", "k"),
        ("k=many", "k"),
        ("legs=smell", "dense"),
        ("legs=", "dense"),
    ],
)
async def test_a_bad_parameter_is_named_with_its_right_form(client, query, says):
    problem = assert_problem(await client.get(f"/api/search?city={CITY}&q=fence&{query}"), 422)
    assert says in problem["detail"]
    assert problem["errors"][0]["field"] == query.split("=")[0]


async def test_a_bad_day_in_a_body_names_the_right_form(client):
    problem = assert_problem(await client.post("/api/ask", json={**ASK, "as_of": "1/2/2026"}), 422)
    assert "2026-07-01" in problem["detail"]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/sections/999999999", 404),
        ("/api/sections/0", 422),
        ("/api/sections/99999999999999999999", 422),
        ("/api/sections/one", 422),
        ("/api/sections/1?start=5", 422),
        ("/api/sections/1?start=5&end=5", 422),
        ("/api/sections/1?start=0&end=99999999", 422),
        ("/api/nothing", 404),
        ("/static/../app.py", 404),
        ("/static/%2e%2e/app.py", 404),
        ("/docs", 404),
        ("/api/ask", 405),
    ],
)
async def test_what_is_not_there_is_a_problem(client, path, status):
    assert_problem(await client.get(path), status)


async def test_an_empty_box_says_that_nothing_was_ingested(empty_house):
    async with client_of(create_app(empty_house)) as client:
        for response in (
            await client.post("/api/chat", json=ASK),
            await client.post("/api/ask", json=ASK),
            await client.get("/api/search", params={"city": CITY, "q": "fence"}),
        ):
            assert "ingest" in assert_problem(response, 409)["detail"]
        assert (await client.get("/api/cities")).json() == {"cities": []}
        assert "This box is empty" in (await client.get("/")).text


@pytest.fixture(scope="module")
async def empty_house(sample_house: House) -> AsyncIterator[House]:
    """Yield the house over a database of its own in the same cluster."""
    with embedded.running(sample_house.settings) as cluster:
        async with await psycopg.AsyncConnection.connect(
            cluster.dsn, autocommit=True
        ) as connection:
            await connection.execute("drop database if exists nothing")
            await connection.execute("create database nothing")
        async with open_pool(make_conninfo(cluster.dsn, dbname="nothing"), size=2) as pool:
            encoder = sample_house.encoder
            tables = await prepare_model(pool, name=encoder.model, dimension=encoder.dimension)
            store = PostgresStore(pool, vectors=tables.vectors)
            yield replace(sample_house, store=store, pool=pool)


@asynccontextmanager
async def broken_store(house: House) -> AsyncIterator[House]:
    """Yield the house after its database has gone."""
    with embedded.running(house.settings) as cluster:
        async with open_pool(cluster.dsn, size=1) as pool:
            pass
    yield replace(
        house,
        store=PostgresStore(pool, vectors="gone"),
        trail=PostgresTrail(pool, days=1),
        pool=pool,
    )


async def test_a_database_that_is_gone_is_503_and_shows_in_the_probes(sample_house):
    async with broken_store(sample_house) as house, client_of(create_app(house)) as client:
        assert_problem(await client.post("/api/chat", json=ASK), 503)
        assert_problem(await client.get("/api/cities"), 503)
        health = await client.get("/healthz")
        assert (health.status_code, health.json()["database"]) == (503, False)
        metrics = await client.get("/metrics")
        assert "permitbox_store_up 0.0" in metrics.text


async def test_an_unexpected_failure_is_500_without_our_inside(sample_house):
    def fails() -> ServerState | None:
        raise RuntimeError("secret inside")

    async with client_of(create_app(sample_house, model_state=fails)) as client:
        response = await client.get("/api/model")
    assert_problem(response, 500)
    assert "secret" not in response.text
    assert response.headers["content-security-policy"]


# ------------------------------------------------------------------ the perimeter


async def test_every_response_carries_the_headers(client):
    for path in ("/", "/api/cities", "/static/page.js", "/nothing", "/sections/1", "/metrics"):
        headers = (await client.get(path)).headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer"
        assert "camera=()" in headers["permissions-policy"]
        wanted = "no-cache" if path.startswith("/static/") else "no-store"
        assert headers["cache-control"] == wanted


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:8080", 200),
        ("127.0.0.1", 200),
        ("[::1]:8080", 200),
        ("192.168.1.20:8080", 200),
        ("permitbox.local", 200),
        ("box.lan:80", 200),
        ("evil.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("local", 421),
        ("evil.example/.local", 421),
        ("", 421),
    ],
)
async def test_only_own_names_are_answered_to(client, host, status):
    response = await client.get("/api/model", headers={"host": host})
    assert response.status_code == status
    if status != 200:
        assert_problem(response, status)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"sec-fetch-site": "same-origin"}, 200),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"origin": "http://127.0.0.1:8080"}, 200),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
    ],
)
async def test_pages_of_other_sites_may_not_ask(client, headers, status):
    response = await client.post("/api/ask", json=ASK, headers=headers)
    assert response.status_code == status


# ------------------------------------------------------------------ pages without JavaScript


async def test_the_page_answers_a_question_in_its_address_without_javascript(client):
    page = (await client.get("/", params={"city": CITY, "q": FENCE})).text
    assert "42 inches" in page
    assert re.search(r'href="/sections/\d+\?start=\d+&amp;end=\d+&amp;as_of=[\d-]+#quote"', page)


async def test_the_page_shows_what_is_wrong_in_place_of_an_answer(client):
    response = await client.get("/", params={"city": "alder-fall-xx", "q": FENCE})
    assert response.status_code == 404
    assert "Did you mean alder-falls-xx?" in response.text


async def test_a_sections_page_marks_the_quote_and_can_be_linked_to(client):
    section = (await client.get("/api/sections/1")).json()
    response = await client.get("/sections/1?start=2&end=40")
    assert response.status_code == 200
    marks = re.findall(r"<mark[^>]*>(.*?)</mark>", response.text, re.DOTALL)
    assert "".join(marks) == section["text"][2:40]
    assert response.text.count('id="quote"') == 1


async def test_a_missing_page_is_a_page_for_a_browser(client):
    response = await client.get("/sections/999999", headers={"accept": "text/html"})
    assert response.status_code == 404
    assert response.headers["content-type"].startswith("text/html")
    assert "search for it again" in response.text


async def test_law_text_never_becomes_markup(client):
    params = {"city": "troll-bridge-xx", "q": "toll of goats"}
    page = (await client.get("/", params=params)).text
    assert "&lt;script&gt;" in page
    assert "<script>window" not in page
    assert "<img src=x" not in page
    (section_id, *_) = re.findall(r"/sections/(\d+)\?", page)
    own = (await client.get(f"/sections/{section_id}")).text
    assert "javascript:" not in own
    assert "the source does not say since when this applies" in own


# ------------------------------------------------------------------ model, probes, description


async def test_the_models_state_is_told_without_its_key(sample_house):
    served = Served(url="http://127.0.0.1:9/v1", key=Secret("hush"), model="qwen")
    states = {
        "ready": ServerState(phase="ready", detail="qwen answers", served=served, seconds=61.0),
        "installing": ServerState(phase="installing", detail="43 %", served=None, seconds=2.0),
    }
    for phase, state in states.items():
        async with client_of(create_app(sample_house, model_state=lambda s=state: s)) as client:
            response = await client.get("/api/model")
        assert response.json()["phase"] == phase
        assert "hush" not in response.text


async def test_without_a_model_server_the_box_is_in_quotes_mode(client):
    assert (await client.get("/api/model")).json()["phase"] == "quotes"


async def test_health_is_a_query_that_was_answered(client):
    response = await client.get("/healthz")
    assert response.json() == {"status": "ok", "database": True, "cities": 3}


async def test_metrics_count_outcomes_routes_and_rows(sample_house):
    async with client_of(create_app(sample_house)) as client:
        await client.post("/api/ask", json=ASK)
        await client.post("/api/ask", json={"city": CITY, "question": NONSENSE})
        await client.get("/api/search", params={"city": CITY, "q": "fence"})
        await client.get("/api/sections/1")
        await client.get("/no/such/path")
        text = (await client.get("/metrics")).text
        held = (await client.get(f"/api/coverage/{CITY}")).json()["chunks"]
    assert held > 60
    for line in (
        'permitbox_answers_total{outcome="quotes"} 1.0',
        'permitbox_answers_total{outcome="abstention"} 1.0',
        'permitbox_abstentions_total{reason="not_found"} 1.0',
        'permitbox_answer_step_seconds_count{step="retrieve"} 2.0',
        "permitbox_search_rows_count 1.0",
        'permitbox_http_requests_total{route="/api/ask",status="200"} 2.0',
        'permitbox_http_requests_total{route="/api/sections/{number}",status="200"} 1.0',
        'permitbox_http_requests_total{route="other",status="404"} 1.0',
        f'permitbox_chunks{{city="{CITY}"}} {held}.0',
        "permitbox_model_ready 0.0",
    ):
        assert line in text


async def test_the_description_has_every_route_and_its_problems(client):
    paths = (await client.get("/openapi.json")).json()["paths"]
    assert set(paths) == {
        "/api/chat", "/api/ask", "/api/search", "/api/cities", "/api/coverage/{city}",
        "/api/sections/{number}", "/api/model", "/healthz", "/metrics", "/api/answers",
        "/api/answers/{id_}", "/api/calculate", "/api/calculators", "/api/compare",
    }  # fmt: skip
    answers = paths["/api/ask"]["post"]["responses"]
    assert answers["200"]["content"]["application/json"]["schema"]["$ref"].endswith("AnswerOut")
    for status in ("404", "409", "413", "422", "503"):
        assert set(answers[status]["content"]) == {"application/problem+json"}
