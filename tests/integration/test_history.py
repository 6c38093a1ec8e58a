"""The law in time: versions in real PostgreSQL against plain lists, and what changed between readings."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from appliance.answers.validity import UNDATED
from appliance.diff import difference
from appliance.domain import CityId, Query, StoredSection
from appliance.retrieve import Recipe, retrieve
from appliance.store.edges import PostgresEdges
from appliance.web.app import create_app
from appliance.web.schemas import AnswerOut, HitsOut
from appliance.wiring import House, open_house
from tests.integration.conftest import TODAY, Database, ingested, permitbox, record

ELM = CityId("elm-hollow-xx")
BEGIN = date(2024, 1, 1)
Write = Callable[..., Path]


@pytest_asyncio.fixture
async def house(empty: Database) -> AsyncIterator[House]:
    async with open_house(empty.settings) as house:
        yield house


# ------------------------------------------------------------------ synthetic histories


@dataclass(slots=True)
class Told:
    """One version as the oracle knows it: what a number said, from when until when."""

    number: str
    text: str
    since: date | None  # None: from the beginning
    read: date | None  # the day of the file that brought it first
    until: date | None = None

    def applies(self, day: date) -> bool:
        return (self.since is None or self.since <= day) and (
            self.until is None or day < self.until
        )


@dataclass(slots=True)
class Chronicle:
    """A town's law as a plain list of versions, and the corpus file that each day would bring."""

    chance: random.Random
    told: list[Told] = field(default_factory=list)
    ids: dict[str, str] = field(default_factory=dict)  # number -> record id, kept when renumbered
    dated: set[str] = field(default_factory=set)  # record ids whose source states dates
    stated: dict[str, date] = field(default_factory=dict)  # record id -> the date it states now
    made: int = 0

    def standing(self) -> dict[str, Told]:
        return {t.number: t for t in self.told if t.until is None}

    def enact(self, day: date | None, *, again: str | None = None) -> None:
        self.made += 1
        number = again or f"{self.made}.{self.chance.randint(1, 9)}"
        first = number not in self.ids
        self.ids.setdefault(number, f"elm-{self.made}")
        if first and self.chance.random() < 0.5:
            self.dated.add(self.ids[number])
        self._say(number, f"Rule {self.made} on fences of {self.chance.randint(2, 99)} feet.", day)

    def amend(self, number: str, day: date) -> None:
        self.repeal(number, day)
        self.made += 1
        self._say(number, f"Rule {self.made} amended to {self.chance.randint(2, 99)} feet.", day)

    def renumber(self, number: str, day: date) -> None:
        text = self.standing()[number].text
        self.repeal(number, day)
        self.made += 1
        new = f"{self.made}.{self.chance.randint(1, 9)}"
        self.ids[new] = f"elm-{self.made}"
        self._say(new, text, day)

    def repeal(self, number: str, day: date) -> None:
        self.standing()[number].until = day

    def _say(self, number: str, text: str, day: date | None) -> None:
        known = any(t.number == number for t in self.told)
        if self.ids[number] in self.dated:
            since: date | None = day or BEGIN
            self.stated[self.ids[number]] = since
        else:
            since = day if known else None  # a first reading without a date applies from ever
        self.told.append(Told(number=number, text=text, since=since, read=day))

    def corpus(self) -> list[dict[str, object]]:
        return [
            record(
                number,
                told.text,
                id=self.ids[number],
                effective_date=self.stated[self.ids[number]].isoformat()
                if self.ids[number] in self.dated
                else None,
            )
            for number, told in self.standing().items()
        ]

    def turn(self, day: date) -> None:
        """Let the council do something to its law on a day, to a number once: a file shows no more."""
        touched = {t.number for t in self.told if day in (t.read, t.until)}
        standing = [n for n in self.standing() if n not in touched]
        repealed = [n for n in self.ids if n not in (*self.standing(), *touched)]
        act = self.chance.choice(["enact", "amend", "amend", "renumber", "repeal", "again"])
        if act == "again" and repealed:
            self.enact(day, again=self.chance.choice(repealed))
        elif act == "enact" or len(standing) < 3:
            self.enact(day)
        elif act == "amend":
            self.amend(self.chance.choice(standing), day)
        elif act == "renumber":
            self.renumber(self.chance.choice(standing), day)
        else:
            self.repeal(self.chance.choice(standing), day)


async def _named(house: House, number: str, day: date) -> set[str]:
    """Return what the search for a number finds on a day, its own section's text only."""
    query = Query(text=f"section {number}", city=ELM, as_of=day, named=(number,))
    found = await retrieve(house.store, house.encoder, query, 20, recipe=Recipe(legs=("named",)))
    return {p.section.text for p in found.passages if p.section.number == number}


async def _registered(house: House, number: str, day: date) -> set[str]:
    sections = await house.store.by_number(ELM, [number], ("section",))
    return {s.text for s in sections if s.number == number and s.in_force(day)}


@pytest.mark.parametrize("seed", range(5))
async def test_every_look_up_of_a_day_gives_the_law_of_that_day(
    house: House, write: Write, seed: int
) -> None:
    """200 look-ups a seed, 1,000 in all: enacted, amended, renumbered, repealed, enacted again."""
    town = Chronicle(random.Random(seed))
    for _ in range(6):
        town.enact(None)
    await ingested(house, write(town.corpus()), today=BEGIN)
    day = BEGIN
    for _ in range(12):
        day += timedelta(days=town.chance.randint(1, 90))
        for _ in range(town.chance.randint(1, 4)):
            town.turn(day)
        await ingested(house, write(town.corpus()), today=day)
    for look in range(200):
        number = town.chance.choice(sorted(town.ids))
        edge = town.chance.choice(town.told)
        near = edge.until or edge.since or day
        when = near + timedelta(days=town.chance.choice([-1, 0, 1, -200, 200]))
        truth = {t.text for t in town.told if t.number == number and t.applies(when)}
        assert len(truth) <= 1, "the oracle itself knows one law a day"
        find = _named if look % 2 else _registered
        assert await find(house, number, when) == truth, (seed, number, when)


# ------------------------------------------------------------------ what was computed stays computed


async def test_an_unchanged_section_keeps_its_vector_and_its_context(
    house: House, empty: Database, write: Write
) -> None:
    town = [record(f"1.{i}", f"Fences of kind {i} shall be {i} feet high.") for i in range(1, 9)]
    await ingested(house, write(town))
    empty.run(
        "insert into context (input, model, sentence) select input, 'scribe', 'On fences.' from chunk"
    )
    town[3] |= {"text": "Fences of kind 4 shall be fifty feet high."}
    summary = await ingested(house, write(town), today=TODAY + timedelta(days=1))
    assert (summary.documents, summary.encoded) == (1, 1)
    kept = empty.one(
        "select count(*) from chunk c join document d on d.id = c.document_id and d.current"
        " join context x on x.input = c.input"
    )
    assert kept == 7, "all but the changed one"
    empty.run("update document set pipeline = 'older'")
    empty.run("delete from corpus_file")
    summary = await ingested(house, write(town), today=TODAY + timedelta(days=2))
    assert (summary.documents, summary.encoded) == (8, 0), "cut anew, nothing computed anew"
    assert empty.one("select count(*) from context") == 8


async def test_a_date_that_the_box_gave_is_told_from_one_that_the_source_states(
    house: House, write: Write
) -> None:
    await ingested(house, write([record("1.1", "Four feet.", effective_date=None)]))
    (section,) = await house.store.by_number(ELM, ["1.1"], ("section",))
    assert (section.effective_from, section.dated_by_box) == (None, False)
    await ingested(house, write([record("1.1", "Six feet.", effective_date=None)]))
    new, old = await house.store.by_number(ELM, ["1.1"], ("section",))
    assert (new.effective_from, new.dated_by_box) == (TODAY, True)
    assert (old.effective_until, old.dated_by_box) == (TODAY, False)
    await ingested(house, write([record("1.1", "Ten feet.", effective_date="2026-08-01")]))
    newest = (await house.store.by_number(ELM, ["1.1"], ("section",)))[0]
    assert (newest.effective_from, newest.dated_by_box) == (date(2026, 8, 1), False)


# ------------------------------------------------------------------ laws that amend


def law(number: int, text: str, **fields: object) -> dict[str, object]:
    """Return an enacted law of Elm Hollow in the form of a Legistar mirror."""
    return {
        "jurisdiction": "elm-hollow-xx",
        "ID": 9000 + number,
        "LocalLaw": f"2025/{number:03}",
        "Name": "On fences",
        "EnactmentDate": "2025-03-01T00:00:00Z",
        "Text": text,
    } | fields


FENCE = record("1.1", "A fence shall not be higher than four feet. Wood is allowed in any yard.")
LAW = law(
    7,
    "Be it enacted as follows:\nSection 1. Section 1.1 of the Elm Hollow code is amended to read as "
    "follows:\n§ 1.1 Fences. A fence shall not be higher than [four] six feet. Wood is allowed in any "
    "yard, as section 1.2 says.\n§ 2. This local law takes effect 120 days after it becomes law.\n",
)
IN_FORCE = date(2025, 6, 29)


async def _one(house: House, number: str) -> StoredSection:
    return next(s for s in await house.store.by_number(ELM, [number], ("section",)))


@pytest.mark.parametrize("order", [("code", "law"), ("law", "code")])
async def test_a_law_is_pointed_at_what_it_amends_whichever_is_read_first(
    house: House, empty: Database, write: Write, order: tuple[str, ...]
) -> None:
    files = {
        "code": (
            [FENCE, record("1.2", "Wood shall be painted twice a year by its owner.")],
            "code.jsonl",
        ),
        "law": ([LAW], "law.jsonl"),
    }
    for name in order:
        await ingested(house, write(*files[name]))
    (warning,) = (await _one(house, "1.1")).amendments
    assert (warning.law, warning.external_id) == ("Local Law 7 of 2025", "9007")
    assert (warning.enacted, warning.effective) == (date(2025, 3, 1), IN_FORCE)
    assert not (await _one(house, "1.2")).amendments, "merely cited"
    cross = await PostgresEdges(house.pool).references(ELM, None)
    amends = [r for r in cross if r.kind == "amends"]
    assert [(r.source, r.target) for r in amends] == [("9007", FENCE["id"])]
    assert "amended" in amends[0].text
    for name in order:
        await ingested(house, write(*files[name]))
    assert empty.one("select count(*) from amended_section") == 1


@pytest.mark.parametrize(
    ("day", "known"),
    [("2025-02-28", False), ("2025-03-01", True), ("2025-06-29", True), ("2026-01-01", True)],
)
async def test_a_law_is_known_from_the_day_it_became_law(
    house: House, write: Write, day: str, known: bool
) -> None:
    await ingested(house, write([FENCE, LAW]))
    assert bool((await _one(house, "1.1")).pending(date.fromisoformat(day))) is known


async def test_a_section_that_says_already_what_the_law_wants_carries_no_warning(
    house: House, write: Write
) -> None:
    await ingested(house, write([FENCE, LAW]))
    amended = "A fence shall not be higher than six feet. Wood is allowed in any yard, as section 1.2 says."
    await ingested(house, write([FENCE | {"text": amended, "effective_date": None}, LAW]))
    new, old = await house.store.by_number(ELM, ["1.1"], ("section",))
    assert not new.amendments
    assert [a.law for a in old.amendments] == ["Local Law 7 of 2025"]


async def test_a_text_that_is_later_than_the_law_carries_no_warning(
    house: House, write: Write
) -> None:
    await ingested(house, write([FENCE | {"effective_date": "2025-12-01"}, LAW]))
    section = await _one(house, "1.1")
    assert section.amendments
    assert not section.pending(date(2026, 1, 1))


async def test_a_law_that_is_taken_out_of_the_corpus_warns_no_more(
    house: House, write: Write
) -> None:
    await ingested(house, write([FENCE, LAW]))
    await ingested(house, write([FENCE]))
    assert not (await _one(house, "1.1")).amendments


async def test_an_answer_and_a_hit_from_an_amended_section_carry_the_warning(
    empty: Database, write: Write
) -> None:
    path = write([FENCE | {"effective_date": None}, LAW])
    assert permitbox("ingest", str(path), database=empty).code == 0
    question = ("How high may a fence be under section 1.1?", "--city", str(ELM))
    expected = [{"kind": "amended_by", "law": "Local Law 7 of 2025", "effective": "2025-06-29"}]
    answer = permitbox("ask", *question, "--as-of", "2026-01-01", "--json", database=empty).json
    assert answer["warnings"] == expected
    cited = next(c for c in answer["citations"] if c["external_id"] == "elm-1.1")
    assert cited["warnings"] == expected
    assert cited["dates"] == "the source does not say since when this applies"
    before = permitbox("ask", *question, "--as-of", "2025-01-01", "--json", database=empty).json
    assert before["warnings"] == []
    hits = permitbox("search", *question, "--as-of", "2026-01-01", "--json", database=empty).json
    first = next(h for h in hits["hits"] if h["external_id"] == "elm-1.1")
    assert first["warnings"] == expected
    told = permitbox("ask", *question, "--as-of", "2025-04-01", database=empty).out
    assert "Amended by Local Law 7 of 2025 (takes effect on 2025-06-29)" in told


async def test_pages_and_the_api_say_what_changes_a_section(house: House, write: Write) -> None:
    await ingested(house, write([FENCE | {"effective_date": None}, LAW]))
    transport = httpx.ASGITransport(app=create_app(house))
    asked = {
        "city": ELM,
        "question": "How high may a fence be under section 1.1?",
        "as_of": "2026-01-01",
    }
    sentence = "Amended by Local Law 7 of 2025 (in force since 2025-06-29)"
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8080") as client:
        answer = AnswerOut.model_validate((await client.post("/api/ask", json=asked)).json())
        (warning,) = answer.warnings
        assert (warning.law, warning.effective) == ("Local Law 7 of 2025", IN_FORCE)
        hits = await client.get(
            "/api/search", params={"city": ELM, "q": "fence", "as_of": "2026-01-01"}
        )
        found = HitsOut.model_validate(hits.json()).hits
        assert next(h for h in found if h.external_id == "elm-1.1").warnings == (warning,)
        asked["q"] = str(asked.pop("question"))
        assert sentence in (await client.get("/", params=asked)).text
        id_ = next(h.section_id for h in found if h.external_id == "elm-1.1")
        page = await client.get(f"/sections/{id_}", params={"as_of": "2026-01-01"})
        assert sentence in page.text
        assert UNDATED in page.text
        section = (await client.get(f"/api/sections/{id_}", params={"as_of": "2025-01-01"})).json()
        assert (section["warnings"], section["dates"]) == ([], UNDATED)


# ------------------------------------------------------------------ superseded law


async def test_superseded_law_answers_of_its_own_days_only(house: House, write: Write) -> None:
    old = {
        "jurisdiction": "washington-dc",
        "id": "dcmr-11-400",
        "citation": "11 DCMR § 400",
        "heading": "Height of buildings",
        "path": ["Title 11"],
        "text": "No building in a residence district shall be higher than forty feet.",
    }
    await ingested(house, write([old], "dc.jsonl"))
    city = CityId("washington-dc")
    for day, found in (
        (date(2015, 1, 1), 1),
        (date(2016, 9, 5), 1),
        (date(2016, 9, 6), 0),
        (TODAY, 0),
    ):
        for legs in (("lexical",), ("dense",), ("named",)):
            query = Query(text="height residence 11 DCMR 400", city=city, as_of=day, named=("400",))
            passages = (
                await retrieve(house.store, house.encoder, query, 5, recipe=Recipe(legs=legs))
            ).passages
            assert len(passages) == found, (day, legs)
    (section,) = await house.store.by_number(city, ["400"], ("section",))
    assert section.superseded_by == "the Zoning Regulations of 2016"


# ------------------------------------------------------------------ permitbox diff


TEXT = "A {0} within the front yard shall be no higher than {1} feet above the natural grade."


async def test_a_difference_names_what_was_added_changed_removed_and_renumbered(
    empty: Database, write: Write
) -> None:
    fences, walls, sheds = (
        record("1.1", TEXT.format("fence", "four")),
        record("1.2", TEXT.format("garden wall of stone", "three")),
        record(
            "1.3", "A shed of any size needs a permit, which the building officer grants in a week."
        ),
    )
    for records in (
        [fences, walls, sheds],
        [
            record("1.1", TEXT.format("fence", "six")),
            record("1.9", sheds["text"]),
            record(
                "2.1", "Bees may be kept in two hives on a lot if the neighbours are told of it."
            ),
        ],
    ):
        assert permitbox("ingest", str(write(records)), database=empty).code == 0
    found = permitbox("diff", str(ELM), "--json", database=empty).json
    assert found["basis"] == "last ingest"
    assert [e["external_id"] for e in found["added"]] == ["elm-2.1"]
    assert [e["external_id"] for e in found["removed"]] == ["elm-1.2"]
    assert [(e["external_id"], "[-four-]{+six+}" in e["changes"]) for e in found["changed"]] == [
        ("elm-1.1", True)
    ]
    ((moved),) = found["renumbered"]
    assert (moved["from"]["external_id"], moved["to"]["external_id"]) == ("elm-1.3", "elm-1.9")
    told = permitbox("diff", str(ELM), database=empty).out
    assert "1 added, 1 changed, 1 removed, 1 renumbered" in told
    assert "[-four-]{+six+}" in told


async def test_the_first_reading_of_a_city_adds_everything(empty: Database, write: Write) -> None:
    permitbox("ingest", str(write([FENCE])), database=empty)
    found = permitbox("diff", str(ELM), "--json", database=empty).json
    assert (found["since"], [e["external_id"] for e in found["added"]]) == (None, ["elm-1.1"])


async def test_a_day_before_the_box_held_the_city_compares_the_law_itself(
    house: House, write: Write
) -> None:
    await ingested(house, write([FENCE | {"effective_date": None}]), today=TODAY)
    six = FENCE | {"text": "Six feet.", "effective_date": "2026-03-01"}
    await ingested(house, write([six]), today=TODAY + timedelta(days=1))
    found = await difference(house.history, ELM, since=date(2026, 2, 1), today=TODAY)
    assert found.basis == "law in force"
    assert [p.after.text for p in found.changes.changed] == ["Six feet."]
    later = await difference(house.history, ELM, since=date(2026, 4, 1), today=TODAY)
    assert not later.changes.changed


def test_a_city_that_is_not_there_is_named(samples: Database) -> None:
    ran = permitbox("diff", "alder-fals-xx", database=samples)
    assert ran.code != 0
    assert "alder-falls-xx" in ran.err


def test_a_day_that_is_none_is_refused(samples: Database) -> None:
    ran = permitbox("diff", "alder-falls-xx", "--since", "yesterday", database=samples)
    assert ran.code != 0
    assert "--since" in ran.err
