"""Corpus files to records: what is read, and what is turned away with its reason."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.corpus.gate import objections
from appliance.corpus.records import Read, read_markdown, read_records
from appliance.domain import CityId, Rejected, Standing, digest_of

SECTION: dict[str, Any] = {
    "jurisdiction": "troll-bridge-xx",
    "id": "1-1",
    "citation": "Sec. 1-1",
    "heading": "Tolls",
    "path": ["Title 1"],
    "text": "A troll may take a toll.",
}
LAW = {
    "LocalLaw": "2019/097",
    "ID": 4711,
    "Name": "A law on trolls",
    "Title": "A local law",
    "Text": "Be it enacted.",
    "EnactmentDate": "2019-05-19T00:00:00Z",
}
FRONT = "---\ncity: troll-bridge-xx\ntitle: Code of Trolls\n---\n"


def one(fields: Any, city: CityId | None = None) -> Read | Rejected:
    line = fields if isinstance(fields, str) else json.dumps(fields)
    (found,) = read_records(line, name="code.jsonl", city=city)
    return found


def read(fields: Any) -> Read:
    found = one(fields)
    assert isinstance(found, Read), found
    return found


def reason(found: Read | Rejected) -> str:
    assert isinstance(found, Rejected), found
    return " ".join(found.reasons)


def test_a_section_record_is_read_as_it_stands() -> None:
    found = read(
        {
            **SECTION,
            "url": "https://example.org/1-1",
            "effective_date": "2024-07-01",
            "retrieved_at": "2026-01-02T03:04:05+01:00",
            "text": "  A troll\r\nmay.\u00a0\n",
        }
    )
    document, (section,) = found.accepted.document, found.accepted.sections
    assert found.city.name == "Troll Bridge, XX"
    assert document.body == "  A troll\r\nmay.\u00a0\n"
    assert section.span.of(document.body) == document.body
    assert (section.number, section.path, section.citation) == ("1-1", ("Title 1",), "Sec. 1-1")
    assert document.effective_from == date(2024, 7, 1)
    assert document.source.fetched_at == datetime(2026, 1, 2, 2, 4, 5, tzinfo=UTC)


def test_an_enacted_law_is_read_as_an_ordinance() -> None:
    found = read(LAW)
    document, (section,) = found.accepted.document, found.accepted.sections
    assert (document.city, document.kind, document.external_id) == (
        "new-york-ny",
        "ordinance",
        "4711",
    )
    assert section.citation == "Local Law 97 of 2019"
    assert section.number is None
    assert document.effective_from == date(2019, 5, 19)


def test_a_whole_document_in_json_is_parsed_like_a_file() -> None:
    found = read(
        {
            "city": "troll-bridge-xx",
            "title": "Code",
            "body": "# § 1-1 Tolls\nA toll.\n# § 1-2 Goats\n",
        }
    )
    assert [s.number for s in found.accepted.sections] == ["1-1", "1-2"]
    assert found.accepted.document.external_id == "troll-bridge-xx:code"


@pytest.mark.parametrize(
    ("change", "attribute", "value"),
    [
        ({"effective_date": "0001-01-01"}, "effective_from", None),
        ({"effective_date": ""}, "effective_from", None),
        ({"effective_date": "2024-07-01T10:00:00Z"}, "effective_from", date(2024, 7, 1)),
        ({"effective_until": "2025-01-01"}, "effective_until", date(2025, 1, 1)),
        ({"id": 12}, "external_id", "12"),
        ({"heading": ""}, "title", "Sec. 1-1"),
        ({"heading": "  "}, "title", "Sec. 1-1"),
        ({"heading": None}, "title", "Sec. 1-1"),
        ({"text": ""}, "body", ""),
        ({"doc_type": "guide"}, "kind", "guide"),
        ({"path": None}, "kind", "code"),
    ],
)
def test_fields_are_read_with_patience(change: dict[str, Any], attribute: str, value: Any) -> None:
    assert getattr(read({**SECTION, **change}).accepted.document, attribute) == value


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00+05:00", "", None])
def test_a_time_that_the_source_does_not_know_is_none(moment: str | None) -> None:
    assert read({**SECTION, "retrieved_at": moment}).accepted.document.source.fetched_at is None


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ("{", "not valid JSON"),
        ("[]", "not a JSON object"),
        ("null", "not a JSON object"),
        ('"x"', "not a JSON object"),
        ("1" * 5000, "not a JSON record"),
        ("[" * 100_000, "not a JSON record"),
        ({**SECTION, "jurisdiction": None}, "'jurisdiction' is missing"),
        ({**SECTION, "jurisdiction": "No City!"}, "is not a city id"),
        ({**SECTION, "id": ""}, "'id' is missing"),
        ({**SECTION, "id": True}, "'id' is missing"),
        ({**SECTION, "citation": " "}, "'citation' is missing"),
        ({**SECTION, "text": None}, "'text' is missing"),
        ({**SECTION, "text": 7}, "'text' is missing"),
        ({**SECTION, "heading": 7}, "'heading' must be text"),
        ({**SECTION, "path": "Title 1"}, "'path' must be a list"),
        ({**SECTION, "path": [1]}, "'path' must be a list"),
        ({**SECTION, "effective_date": "soon"}, "'effective_date' is not a date"),
        ({**SECTION, "effective_date": 2024}, "'effective_date' is not a date"),
        ({**SECTION, "effective_date": "2024-02-30"}, "'effective_date' is not a date"),
        ({**SECTION, "retrieved_at": "9999-12-31T23:59:59-05:00"}, "'retrieved_at'"),
        ({**SECTION, "retrieved_at": 5}, "'retrieved_at' is not a time"),
        ({**SECTION, "doc_type": "novel"}, "'doc_type' must be one of"),
        ({**SECTION, "text": "a\0b"}, "NUL"),
        ({**SECTION, "text": "a\ud800b"}, "surrogates"),
        ({**SECTION, "heading": "a\ud800b"}, "'heading' holds"),
        ({**SECTION, "citation": "a\0b"}, "'citation' holds"),
        ({**SECTION, "path": ["\udfff"]}, "'path' holds"),
        ({**SECTION, "url": "\0"}, "'url' holds"),
        ({**SECTION, "text": "<script>alert(1)</script>"}, "web page or script"),
        ({**SECTION, "text": " <!DOCTYPE html><p>Law"}, "web page or script"),
        ({"city": "troll-bridge-xx", "title": "Code", "body": 3}, "'body' must be text"),
        ({"city": "troll-bridge-xx", "title": "Code", "body": " "}, "the text is empty"),
        ({**LAW, "Text": None}, "'text' is missing"),
    ],
)
def test_a_bad_record_is_turned_away_with_its_reason(fields: Any, why: str) -> None:
    found = one(fields)
    assert why in reason(found)
    assert isinstance(found, Rejected)
    assert found.where.startswith("code.jsonl:1")


def test_one_bad_line_does_not_stop_the_others() -> None:
    good = json.dumps(SECTION)
    lines = f"\ufeff{good}\n\n{{\n{good}\r\n"
    found = list(read_records(lines, name="code.jsonl"))
    assert [type(f) for f in found] == [Read, Rejected, Read]
    assert isinstance(found[1], Rejected)
    assert found[1].where == "code.jsonl:3"


def test_the_city_that_is_given_goes_before_the_records_own() -> None:
    found = one({**SECTION, "jurisdiction": "???"}, CityId("goat-hill-xx"))
    assert isinstance(found, Read)
    assert found.city.id == "goat-hill-xx"


def test_a_stub_is_read_with_its_standing() -> None:
    (section,) = read({**SECTION, "heading": "Tolls [Repealed]", "text": ""}).accepted.sections
    assert section.standing is Standing.REPEALED
    assert len(section.span) == 0


# ------------------------------------------------------------------ Markdown


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("# A\n", "no front matter"),
        ("", "no front matter"),
        ("---\ncity: x\n", "no front matter"),
        ("---\ncity: [\n---\nx", "not valid YAML at line"),
        ("---\n- a\n---\nx", "not a list of"),
        ("---\n1: a\n---\nx", "not a list of"),
        ("---\nd: 2024-02-30\n---\nx", "not valid YAML"),
        ("---\nd: !!bool x\n---\nx", "not valid YAML"),
        ("---\nd: !!timestamp x\n---\nx", "not valid YAML"),
        ("---\nd: !!python/object:os.system x\n---\nx", "not valid YAML"),
        ("---\n? [a]\n: b\n---\nx", "not valid YAML"),
        ("---\nd: " + "[" * 5000 + "\n---\nx", "not valid YAML"),
        ("---\ntitle: T\n---\nx", "field 'city' is missing"),
        ("---\ncity: troll-xx\n---\nx", "field 'title' is missing"),
        ("---\ncity: troll-xx\ntitle: [a]\n---\nx", "field 'title' is missing"),
        ("---\ncity: troll-xx\ntitle: T\ncontent_sha256: abc\n---\nx", "not the digest"),
        ("---\ncity: troll-xx\ntitle: T\neffective_from: 5\n---\nx", "'effective_from'"),
        ('---\ncity: troll-xx\ntitle: "\\ud800"\n---\nx', "'title' holds"),
        (FRONT + " \n", "the text is empty"),
        (FRONT + "a\0", "NUL"),
        (FRONT + "<html><body>", "web page or script"),
    ],
)
def test_a_bad_file_is_turned_away_with_its_reason(text: str, why: str) -> None:
    found = read_markdown(text, name="trolls.md")
    assert why in reason(found)
    assert isinstance(found, Rejected)
    assert found.where == "trolls.md"


def test_a_missing_field_is_named_once() -> None:
    assert reason(read_markdown("---\ntitle: T\n---\nx", name="a.md")).count("field 'city'") == 1


@pytest.mark.parametrize(
    "digest", [digest_of("# § 1-1 A\r\na\r\n"), digest_of("# § 1-1 A\r\na\r\n").upper()]
)
def test_the_body_of_a_file_is_kept_to_the_letter(digest: str) -> None:
    front = f"---\r\ncity: troll-xx\r\ntitle: T\r\ncontent_sha256: {digest}\r\n---\r\n"
    found = read_markdown(front + "# § 1-1 A\r\na\r\n", name="dir/trolls.md")
    assert isinstance(found, Read)
    assert found.accepted.document.body == "# § 1-1 A\r\na\r\n"
    assert found.accepted.document.external_id == "troll-xx:trolls"


def test_dates_in_front_matter_are_read() -> None:
    text = "---\ncity: troll-xx\ntitle: 2024\nfetched_at: 2026-07-01\neffective_from: 0001-01-01\n---\nx"
    found = read_markdown(text, name="a.md")
    assert isinstance(found, Read)
    assert found.accepted.document.title == "2024"
    assert found.accepted.document.source.fetched_at == datetime(2026, 7, 1, tzinfo=UTC)
    assert found.accepted.document.effective_from is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(max_size=8), v, max_size=3),
    max_leaves=8,
)
RECORD = st.dictionaries(
    st.sampled_from(
        [
            *SECTION,
            *LAW,
            "body",
            "city",
            "title",
            "status",
            "url",
            "effective_date",
            "retrieved_at",
            "doc_type",
        ]
    ),
    JSON | st.sampled_from(["troll-xx", "2024-01-01", "code", "# § 1-1 A\nx"]),
    max_size=8,
)


@given(JSON | RECORD | st.builds(lambda d: {**SECTION, **d}, RECORD))
def test_any_json_is_read_or_turned_away(value: Any) -> None:
    for found in read_records(json.dumps(value), name="x"):
        assert isinstance(found, Read | Rejected)
        if isinstance(found, Rejected):
            assert found.reasons
        else:
            # What tells a record's shape tells where its text stands, whatever else it holds.
            shape = "Text" if "LocalLaw" in value else "body" if "body" in value else "text"
            assert found.accepted.document.body == value[shape]


@given(st.text())
def test_any_lines_are_read_or_turned_away(text: str) -> None:
    assert all(isinstance(f, Rejected) for f in read_records(text, name="x"))


YAMLISH = st.lists(
    st.sampled_from(
        [
            "city: troll-xx",
            "title: T",
            "- a",
            "a: &b [1]",
            "c: *b",
            "!!int x",
            "? k",
            "{",
            "\t",
            "d: 2024-13-13",
            "x: 1:2:3.5",
            "e: .inf",
            "0x",
            "'",
        ]
    )
    | st.text(max_size=15),
    max_size=6,
).map("\n".join)


@given(st.text() | YAMLISH.map(lambda y: f"---\n{y}\n---\nBody.\n"))
def test_any_markdown_is_read_or_turned_away(text: str) -> None:
    found = read_markdown(text, name="x.md")
    assert isinstance(found, Read | Rejected)
    if isinstance(found, Read):
        assert text.endswith(found.accepted.document.body)


# Without controls, markup, lost characters, and what begins UTF-8 that was read in a wrong encoding.
ORDINARY = st.characters(
    codec="utf-8", exclude_categories=["Cc"], exclude_characters="<\ufffdÃÂâ√¬Γ┬├вРСðÐïÅÄ"
)


@given(st.text(ORDINARY, min_size=1))
def test_ordinary_text_passes_the_gate(text: str) -> None:
    assert objections(text, stub_allowed=True) == ()


def test_every_real_record_is_read_but_script_pages(law_lines) -> None:
    turned_away = [
        f
        for f in read_records("\n".join(law_lines("code-*/*.jsonl.zst", every=50)), name="law")
        if isinstance(f, Rejected)
    ]
    assert {r for f in turned_away for r in f.reasons} <= {
        "markup: the text is a web page or script, not law text"
    }


def test_an_error_page_in_place_of_a_repealed_section_still_makes_its_number_known() -> None:
    page = "<script>alert('This file does not exist!')</script>"
    living, dead = (
        json.dumps(
            {"jurisdiction": "elm-xx", "id": i, "citation": "Sec. 1-1", "heading": h, "text": page}
        )
        for i, h in (("a", "Roof structures"), ("b", "Roof structures [Repealed]"))
    )
    first, second = read_records(f"{living}\n{dead}", name="f.jsonl")
    assert isinstance(first, Rejected)
    assert isinstance(second, Read)
    assert second.accepted.sections[0].standing is Standing.REPEALED
