"""How people name sections by number, which section is meant, and what a missing number is near to."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Callable
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.corpus.named import asked_of, roman, roman_value, targets
from appliance.corpus.near_numbers import distance, nearest, variants
from appliance.corpus.records import Read, read_records
from appliance.corpus.references import number_key
from appliance.domain import Accepted, CityId, Named, Query
from appliance.naming import missing, resolve_named
from appliance.testing import ListedRegister
from benchmarks.named import Lookup, lookups, plain_sentences

Lines = Callable[..., list[str]]

DAY = date(2026, 7, 1)
ELM = CityId("elm-hollow-xx")


# ------------------------------------------------------------------ reading


@pytest.mark.parametrize(
    ("question", "kind", "reading"),
    [
        ("what does § 28-105.9 say", "section", "28-105.9"),
        ("sec 28 105 9", "section", "28 105 9"),
        ("28-105.9(a)", "section", "28-105.9"),
        ("Section (28-105.9) please", "section", "28-105.9"),
        ("Admin Code 28-105.9", "section", "28-105.9"),
        ("is 28‑105.9 in force", "section", "28-105.9"),
        ("12 DCMR 105", "section", "105"),
        ("D.C. Code § 6-1451.03", "section", "6-1451.03"),
        ("15.04.020", "section", "15.04.020"),
        ("15 04 020", "section", "15 04 020"),
        ("read section 15 . 04 . 020 to me", "section", "15.04.020"),
        ("section 28 dash 105 point 9", "section", "28-105.9"),
        ("section twenty-eight dash one hundred five", "section", "28-105"),
        ("chapter five of the code", "chapter", "5"),
        ("ch. 15.04", "chapter", "15.04"),
        ("Ch 15", "chapter", "15"),
        ("Article IV", "article", "iv"),
        ("Appendix B", "appendix", "b"),
        ("table 4-1", "table", "4-1"),
        ("Table 4.3.9.A", "table", "4.3.9.a"),
        ("Rule 101-06", "section", "101-06"),
        ("paragraph (b) of 28-105.9", "section", "28-105.9"),
        ("what does 12-2 say?", "section", "12-2"),
        ("Ordinance No. 2019-14", "law", "ordinance no 2019-14"),
        ("Local Law 97 of 2019", "law", "local law 97 of 2019"),
        ("LL 97/2019", "law", "local law 97 of 2019"),
        ("ll97 of 2019", "law", "local law 97 of 2019"),
        ("local law 2019/97", "law", "local law 97 of 2019"),
    ],
)
def test_a_number_is_read_as_people_write_it(question: str, kind: str, reading: str) -> None:
    (asked,) = targets(asked_of(question))
    assert (asked.kind, asked.readings[0]) == (kind, reading)


@pytest.mark.parametrize(
    ("question", "within"),
    [
        ("section 105.9 of title 28", ["title 28"]),
        ("title 28 chapter 1 article 105", ["title 28", "chapter 1"]),
        ("Art. IV, Sec. 2", ["article iv"]),
    ],
)
def test_containers_only_say_where_the_rest_stands(question: str, within: list[str]) -> None:
    (asked,) = targets(asked_of(question))
    assert [f"{p.unit} {p.number}" for p in asked.within] == within


@pytest.mark.parametrize(
    ("question", "numbers"),
    [
        ("Sections 12-1, 12-2 and 12-5", ["12-1", "12-2", "12-5"]),
        ("compare § 12-1 with § 12-5", ["12-1", "12-5"]),
        ("chapters 5 and 6", ["5", "6"]),
        ("Tables 4-1 & 4-2", ["4-1", "4-2"]),
    ],
)
def test_a_list_names_each_of_its_numbers(question: str, numbers: list[str]) -> None:
    assert [a.number for a in targets(asked_of(question))] == numbers


def test_a_range_knows_its_end() -> None:
    first, last = asked_of("sections 28-105.1 through 28-105.4")
    assert (first.number, first.through, last.number) == ("28-105.1", "28-105.4", "28-105.4")


@pytest.mark.parametrize(
    "sentence",
    [
        "a fence of 2.5 ft and 3-4 feet",
        "open 24/7, or 24-7",
        "a 1-2 family house",
        "since 2024-07-01, until 07-01-2025 and on 7-1-24",
        "call 555-123-4567 or (555) 123-4567",
        "a fee of $1,000.50",
        "in an R-1-6 district",
        "lots of 1.5-2.5 acres",
        "from 7:00-9:00",
        "I live at 37-21 75th Street",
        "permit number 2019-14-332",
        "application no. 12-3456",
        "zip 10001-1234",
        "my server is at 10.12.1.44",
        "IBC section 1004.1 and table 1004.5 of the International Building Code",
        "24 CFR 35.151",
        "the section 8 voucher program",
        "part i did myself, part of it",
        "can I table a motion",
        "section of fence",
        "code 24-7",
        "§",
        "",
    ],
)
def test_dates_prices_measures_and_other_laws_are_no_sections(sentence: str) -> None:
    register = _register("7-1-24", "10.12", "12-3456", "35.151", "1004.1")
    if "7-1-24" in sentence or "10.12.1.44" in sentence:
        register = _register("3-4")
    assert _resolve(register, sentence) == ()


@given(st.text() | st.text("§ .-–()[]0123456789aAbIVXLsectabl,/&\u00a0\n", max_size=60))
def test_reading_any_text_gives_spans_of_it_apart_and_in_order(text: str) -> None:
    end = 0
    for asked in asked_of(text):
        assert end <= asked.span.start < asked.span.end <= len(text)
        assert all(asked.readings)
        end = asked.span.end


@pytest.mark.parametrize(
    "unit", ["§ 1-", "1 ", "1-1 ", "ch ", "Table A", "ll 1", "a.", ", 1-1", "twenty "]
)
def test_reading_takes_no_more_than_quadratic_time(unit: str) -> None:
    text = (unit * 2_000)[:2_000]  # a question has 2,000 characters at most
    begin = time.process_time()
    asked_of(text)
    assert time.process_time() - begin < 2


@given(st.integers(1, 89))
def test_roman_numerals_go_there_and_back(value: int) -> None:
    assert roman_value(roman(value)) == value


# ------------------------------------------------------------------ near numbers


@pytest.mark.parametrize(
    ("asked", "known", "at_most"),
    [
        ("28-105.9", "28-105.9", 0.0),
        ("28.105-9", "28-105.9", 0.4),
        ("17.8.180", "17.08.180", 0.5),
        ("17.80.180", "17.08.180", 0.5),
        ("28-105.99", "28-105.9", 0.5),
        ("28-1059", "28-105.9", 0.2),
    ],
)
def test_slips_in_joints_and_zeros_cost_little(asked: str, known: str, at_most: float) -> None:
    assert distance(asked, known) == pytest.approx(at_most)


@given(*[st.text("0123456789.-ab", max_size=9)] * 2)
def test_the_distance_is_the_same_both_ways(a: str, b: str) -> None:
    assert distance(a, b) == pytest.approx(distance(b, a))
    assert distance(a, a) == 0


@given(st.text("0123456789.-ab", min_size=1, max_size=12))
def test_a_key_is_its_own_key_and_none_of_its_variants(number: str) -> None:
    key = number_key(number)
    assert number_key(key) == key
    assert key not in variants(key)


def test_at_most_three_numbers_are_suggested_the_nearest_first() -> None:
    register = _register("28-105.9", "28-105.19", "28-105.1", "28-106.9", "3-1")
    found = nearest("28-105.99", [b for b in register.bearers if b.kind == "section"])
    assert [b.number for b in found] == ["28-105.9", "28-105.19", "28-105.1"]


# ------------------------------------------------------------------ resolving


def _register(*numbers: str, path: str = "Title 1") -> ListedRegister:
    return ListedRegister(_accepted(number, path) for number in numbers)


def _accepted(number: str, path: str, code: str = "Elm Hollow Code §") -> Accepted:
    row = {
        "jurisdiction": ELM,
        "id": f"elm-{code.split(maxsplit=1)[0].lower()}-{number}",
        "citation": f"{code} {number}",
        "heading": f"Rules of {number}",
        "path": [path],
        "text": "No person shall build a fence without a permit from the building official.",
    }
    read = next(read_records(json.dumps(row), name="elm"))
    assert isinstance(read, Read), read
    return read.accepted


def _resolve(register: ListedRegister, text: str) -> tuple[Named, ...]:
    return asyncio.run(resolve_named(register, Query(text=text, city=ELM, as_of=DAY)))


def test_a_subsection_leads_to_its_parent() -> None:
    register = _register("28-105.9", "28-106")
    for text in (
        "§ 28-105.9(a)(2)",
        "§ 28-105.9.1",
        "paragraph (b) of section 28-105.9",
        "§ 28-105.9b",
    ):
        (named,) = _resolve(register, text)
        assert (named.how, named.number) == ("parent", "28-105.9"), text


def test_a_number_missing_among_its_siblings_is_no_part_of_their_parent() -> None:
    (named,) = _resolve(_register("28-105", "28-105.9", "28-105.8"), "what does § 28-105.99 say")
    assert (named.how, named.sections) == ("near", ())
    assert [s.citation for s in named.suggestions] == ["Elm Hollow Code § 28-105.9"]
    assert missing([named]) == (named,)


def test_a_number_of_several_titles_is_that_of_the_title_named() -> None:
    register = ListedRegister(
        [_accepted("3-01", "Title 1", "1 RCNY §"), _accepted("3-01", "Title 62", "62 RCNY §")]
    )
    for text in (
        "62 RCNY 3-01",
        "62 rcny § 3-01",
        "Title 62, section 3-01",
        "rule 3-01 of title 62",
    ):
        (named,) = _resolve(register, text)
        assert [len(c) for c in named.sections][:1] == [1], text
        best = next(b for b in register.bearers if b.section == named.sections[0][0])
        assert best.citation == "62 RCNY § 3-01", text
    (both,) = _resolve(register, "rule 3-01")
    assert [len(c) for c in both.sections] == [2]
    (none,) = _resolve(register, "5 RCNY § 3-01")
    assert none.how == "near"


def test_the_lead_of_a_title_or_chapter_is_put_before_the_number() -> None:
    register = _register("28-105.9", "15.04.020")
    for text in ("section 105.9 of title 28", "section 020 of chapter 15.04"):
        (named,) = _resolve(register, text)
        assert named.how == "exact", text


def test_a_range_brings_what_lies_between_its_ends() -> None:
    register = _register("28-105.1", "28-105.2", "28-105.3", "28-105.4", "28-105.10")
    first, last = _resolve(register, "sections 28-105.1 through 28-105.4")
    numbers = {b.section: b.number for b in register.bearers if b.kind == "section"}
    assert [numbers[s] for c in first.sections for s in c] == ["28-105.1", "28-105.2", "28-105.3"]
    assert [numbers[s] for c in last.sections for s in c] == ["28-105.4"]


# ------------------------------------------------------------------ the real codes

# Sentences that nothing was tuned on.
HELD_OUT = (
    "can you tell me what's written in {}",
    "I got a notice that quotes {} - am I in trouble?",
    "{} fence",
    "Is there an exception to {} for historic houses?",
    "please summarize {} for a homeowner",
    "The inspector says I have to comply with {}.",
    "How does {} define a driveway?",
    "who enforces {}",
)
FOLDERS = ("code-brandon-sd", "code-dcmr-*", "code-ray*", "code-spanish*", "code-va-tn*")
FLOOR = 0.99


@pytest.fixture(scope="module")
def real(law_lines: Lines) -> list[tuple[ListedRegister, list[Lookup]]]:
    """Return the registries of five places with questions for their own numbers."""
    made = []
    for folder in FOLDERS:
        lines = law_lines(f"{folder}/*.jsonl.zst", every=9 if "va-tn" in folder else 3)
        made.append(_asked_about(lines))
    return made


def _asked_about(lines: list[str]) -> tuple[ListedRegister, list[Lookup]]:
    rows = [json.loads(line) for line in lines]
    kept = [
        (r, a) for r in rows if isinstance(a := next(read_records(json.dumps(r), name="law")), Read)
    ]
    city = kept[0][0]["jurisdiction"]
    kept = [(r, a) for r, a in kept if r["jurisdiction"] == city]
    register = ListedRegister(a.accepted for _, a in kept)
    return register, lookups([r for r, _ in kept], most=220, sentences=HELD_OUT, seed=2)


def test_the_section_that_a_question_names_comes_first(
    real: list[tuple[ListedRegister, list[Lookup]]],
) -> None:
    missed, asked = [], 0
    for register, questions in real:
        ids = {b.section: b.external_id for b in register.bearers}
        for lookup in questions:
            named = _resolve(register, lookup.question)
            best = [ids[n.sections[0][0]] for n in named if n.sections]
            asked += 1
            if not best or best[0] not in lookup.gold:
                missed.append((lookup.form, lookup.question, best))
    assert asked >= 1_000
    assert 1 - len(missed) / asked >= FLOOR, missed[:10]


def test_sentences_without_a_section_name_none(
    real: list[tuple[ListedRegister, list[Lookup]]],
) -> None:
    rng = random.Random(4)
    for sentence in plain_sentences(240, seed=9):
        register, _ = rng.choice(real)
        assert _resolve(register, sentence) == (), sentence
