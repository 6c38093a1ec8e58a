"""The audit over a real store: which cities are searched, which are refused, and who said otherwise."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import date
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from appliance.ask import searchable
from appliance.audit import audit, audit_due, clear, override
from appliance.domain import CityId, State
from appliance.errors import BadRequest, CityNotSearchable, NoSuchCity
from appliance.web.app import create_app
from appliance.wiring import House, open_house
from tests.integration.conftest import SAMPLES, TODAY, Database, ingested, permitbox, record

ELM = CityId("elm-hollow-xx")
Write = Callable[..., Path]


@pytest_asyncio.fixture
async def house(empty: Database) -> AsyncIterator[House]:
    async with open_house(empty.settings) as house:
        yield house


def good(count: int = 12) -> list[dict[str, object]]:
    return [
        record(f"1-{n}", f"A fence of Elm Hollow has a height of at most {n} feet.")
        for n in range(count)
    ]


def torn(count: int) -> list[dict[str, object]]:
    """Return records whose text is lost."""
    return [record(f"2-{n}", "") | {"text": None} for n in range(count)]


def bad() -> list[dict[str, object]]:
    return [*good(), *torn(9)]


async def _state(house: House, city: CityId = ELM) -> State:
    return (await house.store.coverage(city)).state


# ------------------------------------------------------------------ from ingest to state


async def test_the_samples_are_searchable_and_answer_the_probes_that_they_hold(
    samples: Database,
) -> None:
    async with open_house(samples.settings) as house:
        cities = [c.city.id for c in await house.store.cities()]
        audited = await audit(house.loader.audits, cities, TODAY)
    assert all(a.state.searchable for a in audited)
    hits = {p.probe: p for p in audited[0].facts.probed}
    assert hits["fence"].hits > 0
    assert hits["fence"].example
    assert not hits["kitchen remodel"].hits or hits["kitchen remodel"].example_id


async def test_an_ingest_audits_what_it_has_changed_and_nothing_else(
    house: House, write: Write
) -> None:
    path = write(good())
    assert [a.coverage.city.id for a in (await ingested(house, path)).audited] == [ELM]
    assert (await ingested(house, path)).audited == []
    assert [a.state for a in (await ingested(house, write(good(13)))).audited] == [State.LIMITED]


async def test_a_city_is_staged_and_refused_until_it_was_audited(
    house: House, empty: Database, write: Write
) -> None:
    await ingested(house, write(good()))
    empty.run("delete from audit")
    empty.run("update city set state = 'staged', audited_at = null")
    with pytest.raises(CityNotSearchable, match="not audited yet"):
        await searchable(house.store, ELM)
    await audit_due(house.loader.audits, TODAY)
    assert (await searchable(house.store, ELM)).state is State.LIMITED


async def test_a_city_of_bad_data_is_quarantined_and_a_good_version_frees_it(
    house: House, write: Write
) -> None:
    (audited,) = (await ingested(house, write(bad()))).audited
    assert audited.state is State.QUARANTINED
    with pytest.raises(CityNotSearchable, match=r"43 % of the records were turned away"):
        await searchable(house.store, ELM)
    await ingested(house, write(good()))
    assert (await searchable(house.store, ELM)).state is State.LIMITED


async def test_rejected_records_are_kept_by_reason_and_quarantine_at_a_great_share(
    house: House, write: Write
) -> None:
    (audited,) = (await ingested(house, write(bad()))).audited
    assert audited.state is State.QUARANTINED
    assert audited.facts.rejected == 9
    assert audited.facts.rejections == {"field 'text' is missing or not text": 9}


async def test_bad_pages_beside_good_ones_count_until_they_are_taken_away(
    house: House, tmp_path: Path
) -> None:
    def page(n: int, city: str) -> None:
        head = f"---\ncity: {city}\ntitle: Page {n}\nid: p{n}\n---\n"
        (tmp_path / f"{n}.md").write_text(
            f"{head}A fence of Elm Hollow is {n} feet high.\n", "utf-8"
        )

    for n in range(10):
        page(n, ELM)
    for n in range(10, 18):
        page(n, "Not A City")
    (audited,) = (await ingested(house, tmp_path)).audited
    assert (audited.state, audited.facts.rejected) == (State.QUARANTINED, 8)
    for n in range(10, 18):
        (tmp_path / f"{n}.md").unlink()
    (again,) = await audit(house.loader.audits, [ELM], TODAY)
    assert (again.state, again.facts.rejected) == (State.LIMITED, 0)


async def test_a_failed_download_does_not_take_the_law_from_before_offline(
    house: House, write: Write
) -> None:
    await ingested(house, write(good()))
    (audited,) = (await ingested(house, write(torn(40)))).audited
    assert audited.state is State.LIMITED
    assert "the text before it stands" in audited.verdict.findings[0].reason


async def test_probes_count_only_what_is_in_force(house: House, write: Write) -> None:
    ended = [r | {"effective_until": "2025-01-01"} for r in good()]
    await ingested(house, write(ended))
    (audited,) = await audit(house.loader.audits, [ELM], TODAY)
    assert {p.hits for p in audited.facts.probed} == {0}
    (before,) = await audit(house.loader.audits, [ELM], date(2024, 6, 1))
    assert next(p.hits for p in before.facts.probed if p.probe == "fence") == 12


# ------------------------------------------------------------------ an admin's word


async def test_an_override_stands_over_a_worse_audit_which_says_so(
    house: House, write: Write, empty: Database
) -> None:
    audits = house.loader.audits
    await ingested(house, write(good()))
    await override(audits, ELM, State.LIVE, because="seen by  me", who="ann@box", today=TODAY)
    assert await _state(house) is State.LIVE
    (worse,) = (await ingested(house, write(bad()))).audited
    assert worse.verdict.state is State.QUARANTINED
    assert worse.state is State.LIVE
    about = (await house.store.coverage(ELM)).about
    assert "by ann@box" in about
    assert "because: seen by me" in about
    assert "THE AUDIT GOT WORSE (quarantined" in about
    assert (await clear(audits, ELM, TODAY)).state is State.QUARANTINED
    # What was once said is never lost.
    assert empty.rows("select state, who, cleared_at is null from audit_override") == [
        ("live", "ann@box", False)
    ]


async def test_an_admin_can_take_a_city_out_of_search(house: House, write: Write) -> None:
    await ingested(house, write(good()))
    because = "the council asked for it"
    await override(
        house.loader.audits, ELM, State.QUARANTINED, because=because, who="ann", today=TODAY
    )
    with pytest.raises(CityNotSearchable, match=because):
        await searchable(house.store, ELM)


@pytest.mark.parametrize(("state", "because"), [(State.STAGED, "why not"), (State.LIVE, "  ")])
async def test_an_override_needs_a_reason_and_a_state_that_can_be_set(
    house: House, write: Write, state: State, because: str
) -> None:
    await ingested(house, write(good()))
    with pytest.raises(BadRequest):
        await override(house.loader.audits, ELM, state, because=because, who="ann", today=TODAY)
    with pytest.raises(BadRequest, match="Nothing was set"):
        await clear(house.loader.audits, ELM, TODAY)


async def test_an_unknown_city_is_named_before_any_is_audited(house: House) -> None:
    with pytest.raises(NoSuchCity):
        await audit(house.loader.audits, [CityId("atlantis-xx")], TODAY)


# ------------------------------------------------------------------ the command, the API, the page


def test_the_command_decides_the_exit_code_of_a_deployment(empty: Database, write: Write) -> None:
    assert permitbox("ingest", str(write(good())), database=empty).code == 0
    ran = permitbox("audit", ELM, "--json", database=empty)
    assert ran.code == 0
    (city,) = ran.json["cities"]
    assert {"city", "state", "reasons", "fix", "probes", "coverage", "newest"} <= set(city)
    assert (city["city"], city["state"], city["newest"]) == (ELM, "limited", "2024-01-01")
    assert {"probe", "hits", "example"} <= set(city["probes"][0])

    assert permitbox("ingest", str(write(bad())), database=empty).code == 0
    ran = permitbox("audit", database=empty)
    assert ran.code == 1
    assert "QUARANTINED" in ran.out
    assert "mend: permitbox ingest" in ran.out
    refused = permitbox("search", "fence", "--city", ELM, database=empty)
    assert refused.code == 1
    assert "cannot be searched" in refused.err

    arguments = ("audit", ELM, "--set", "live", "--because", "checked by hand", "--json")
    assert permitbox(*arguments, database=empty).json["cities"][0]["override"]["because"] == (
        "checked by hand"
    )
    assert permitbox("search", "fence", "--city", ELM, database=empty).code == 0
    assert permitbox("audit", ELM, "--clear", database=empty).code == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("audit", "--set", "live", "--because", "x"),
        ("audit", ELM, "--set", "perfect", "--because", "x"),
        ("audit", ELM, "--set", "live"),
        ("audit", ELM, "--set", "live", "--clear"),
        ("audit", "Not A City"),
        ("audit", "atlantis-xx"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    samples: Database, arguments: tuple[str, ...]
) -> None:
    ran = permitbox(*arguments, database=samples)
    assert ran.code == 2
    assert len(ran.err.splitlines()) == 1


async def test_the_api_and_the_page_refuse_a_quarantined_city_in_one_sentence(
    house: House, write: Write
) -> None:
    await ingested(house, SAMPLES, write(bad()))
    transport = httpx.ASGITransport(app=create_app(house))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8080") as client:
        question = {"city": ELM, "question": "How tall is a fence?"}
        for response in (
            await client.post("/api/ask", json=question),
            await client.post("/api/chat", json=question),
            await client.get("/api/search", params={"city": ELM, "q": "fence"}),
        ):
            assert response.status_code == 503
            assert response.headers["content-type"] == "application/problem+json"
            assert "did not pass the audit" in response.json()["detail"]
            assert "elm.jsonl" not in response.text  # no file of the machine
        page = await client.get("/", params={"city": ELM, "q": "How tall is a fence?"})
        assert "did not pass the audit" in page.text
        assert "Quarantined" in page.text
        held = {c["city"]: c for c in (await client.get("/api/cities")).json()["cities"]}
        assert held[ELM]["state"] == "quarantined"
        assert held["alder-falls-xx"]["state"] in ("live", "limited")
        assert (await client.get(f"/api/coverage/{ELM}")).json()["reasons"]
