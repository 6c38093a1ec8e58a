"""Section, table and chapter numbers as people and codes write them."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.corpus.records import Read, read_records
from appliance.corpus.references import (
    find_references,
    normalise_number,
    normalise_whole,
    parse_citation,
    same_code,
)
from tests.growth import grows_linearly

LAW = "code-*/*.jsonl.zst"


@pytest.mark.parametrize(
    ("written", "kind", "number", "words"),
    [
        ("NYC Admin. Code § 28-105.9", "section", "28-105.9", ("nyc", "admin", "code")),
        ("NYC Admin. Code § 28-105.9(a)(1)", "section", "28-105.9", ("nyc", "admin", "code")),
        ("1 RCNY § 3-01", "section", "3-01", ("1", "rcny")),
        ("62 RCNY § 8-03", "section", "8-03", ("62", "rcny")),
        ("D.C. Code § 42-3505.51", "section", "42-3505.51", ("dc", "code")),
        ("D.C. Official Code 42-3506.02", "section", "42-3506.02", ("dc", "official", "code")),
        ("D.C. Code § 28:2A-101", "section", "28:2a-101", ("dc", "code")),
        ("11 DCMR 845", "section", "845", ("11", "dcmr")),
        ("11 DCMR § 2913", "section", "2913", ("11", "dcmr")),
        ("SMMC § 1.01.010", "section", "1.01.010", ("smmc",)),
        ("SZO § 1.1.8", "section", "1.1.8", ("szo",)),
        ("Somerville Code Sec. 2-373", "section", "2-373", ("somerville", "code")),
        (
            "Brandon Revised Ordinances 12-10-2",
            "section",
            "12-10-2",
            ("brandon", "revised", "ordinances"),
        ),
        ("Sec. 42-663.", "section", "42-663", ()),
        ("SEC. 31-390", "section", "31-390", ()),
        ("sec 24-4432", "section", "24-4432", ()),
        ("section 4201", "section", "4201", ()),
        ("Subsection 28-105.9", "section", "28-105.9", ()),
        ("§12-3", "section", "12-3", ()),
        ("§\u00a028\u2011105.9", "section", "28-105.9", ()),
        ("§ 28–105.9", "section", "28-105.9", ()),
        ("Sec. 20B.1", "section", "20b.1", ()),
        ("3.F.A", "section", "3.f.a", ()),
        ("A-201", "section", "a-201", ()),
        ("2-153.1", "section", "2-153.1", ()),
        ("Title 16, 16-309", "section", "16-309", ("title", "16")),
        ("Table 9.1.1", "table", "9.1.1", ()),
        ("TABLE IV", "table", "iv", ()),
        ("Table 4.3.9.A-2", "table", "4.3.9.a-2", ()),
        ("Chapter 15.04", "chapter", "15.04", ()),
        ("Article II", "article", "ii", ()),
        ("Appendix B", "appendix", "b", ()),
        ("Sections 12-1, 12-2 and 12-5", "section", "12-1", ()),
        ("Kennel", "section", "", ()),
        ("Local Law 110 of 2019", "section", "", ()),
        ("", "section", "", ()),
    ],
)
def test_a_citation_is_taken_apart(
    written: str, kind: str, number: str, words: tuple[str, ...]
) -> None:
    cited = parse_citation(written)
    assert (cited.kind, cited.number, cited.words) == (kind, number, words)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("What does § 28-105.9 say?", [("section", "28-105.9", "§ 28-105.9")]),
        ("See § 28\u2011105.9(a)(1).", [("section", "28-105.9", "§ 28\u2011105.9")]),
        (
            "Sections 12-1, 12-2 and 12-5 apply.",
            [
                ("section", "12-1", "Sections 12-1"),
                ("section", "12-2", "12-2"),
                ("section", "12-5", "12-5"),
            ],
        ),
        (
            "SECTIONS 12-1 AND 12-2",
            [("section", "12-1", "SECTIONS 12-1"), ("section", "12-2", "12-2")],
        ),
        (
            "§§ 1-1 to 1-5",
            [("section", "1-1", "§§ 1-1"), ("section", "1-5", "1-5")],
        ),
        (
            "§ 1-1, § 1-2; § 1-3",
            [("section", "1-1", "§ 1-1"), ("section", "1-2", "§ 1-2"), ("section", "1-3", "§ 1-3")],
        ),
        ("under Table 9.1.1.", [("table", "9.1.1", "Table 9.1.1")]),
        ("in table A and Table IX", [("table", "a", "table A"), ("table", "ix", "Table IX")]),
        ("Chapter 15.04 of the code", [("chapter", "15.04", "Chapter 15.04")]),
        ("section 4201 of it", [("section", "4201", "section 4201")]),
        ("is 28-105.9 in force", [("section", "28-105.9", "28-105.9")]),
        ("17.102.130 says so", [("section", "17.102.130", "17.102.130")]),
        ("and 24-4420?", [("section", "24-4420", "24-4420")]),
        ("(28-105.9)", [("section", "28-105.9", "28-105.9")]),
    ],
)
def test_references_are_found_in_running_text(text: str, found: list[tuple[str, str, str]]) -> None:
    assert [(r.kind, r.number, r.span.of(text)) for r in find_references(text)] == found


@pytest.mark.parametrize(
    "text",
    [
        "a fence of 2.5 ft",
        "open 24-7",
        "a 1-2 family house",
        "since 2024-07-01",
        "call 555-123-4567",
        "call (555) 123-4567",
        "call 1-555-123-4567",
        "a fee of $1,000",
        "$1.000.000",
        "in an R-1-6 district",
        "a 15 x 20 shed",
        "lots of 1.5-2.5 acres",
        "from 7:00-9:00",
        "a 60-foot by 100-foot lot",
        "on 12/31/2024",
        "the table of contents",
        "sections of fence",
        "a section",
        "part of it",
        "§",
        "",
    ],
)
def test_measures_dates_and_districts_are_no_references(text: str) -> None:
    assert find_references(text) == []


@pytest.mark.parametrize(
    ("asked", "registered", "place", "same"),
    [
        ("Sec. 12-1", "SMMC § 12-1", "san mateo ca", True),
        ("San Mateo Municipal Code 1.01.010", "SMMC § 1.01.010", "san mateo ca", True),
        ("SMMC § 1.01.010", "San Mateo Municipal Code § 1.01.010", "san mateo ca", True),
        ("SMMC § 1.01.010", "SFMC § 1.01.010", "san mateo ca", False),
        ("Spanish Fork Municipal Code 7.04", "SFMC § 7.04", "spanish fork ut", True),
        ("D.C. Official Code § 1-1", "D.C. Code § 1-1", "washington dc", True),
        ("11 DCMR § 845", "14 DCMR § 845", "washington dc", False),
        ("D.C. Code § 28-105", "NYC Admin. Code § 28-105", "new york ny", False),
        (
            "Administrative Code of the City of New York § 28-105",
            "NYC Admin. Code § 28-105",
            "new york ny",
            True,
        ),
        (
            "New York City Administrative Code 28-105",
            "NYC Admin. Code § 28-105",
            "new york ny",
            True,
        ),
        (
            "Rules of the City of New York, Title 1, § 3-01",
            "1 RCNY § 3-01",
            "new york ny",
            True,
        ),
        ("Norfolk Zoning Ordinance 3.3.6", "3.3.6", "norfolk va", True),
        ("Salem City Code Sec. 218", "Sec. 218.", "virginia beach va", False),
        ("Somerville Code Sec. 2-373", "SZO § 2-373", "somerville ma", False),
        ("Sections 12-1 and 12-2", "SMMC § 12-1", "san mateo ca", True),
    ],
)
def test_names_of_codes_are_compared(asked: str, registered: str, place: str, same: bool) -> None:
    a, r = parse_citation(asked).words, parse_citation(registered).words
    assert same_code(a, r, place.split()) is same


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("§ 28\u2011105.9.", "28-105.9"),
        ("[25-116.01]", "25-116.01"),
        ("Sec. 42-663.", "42-663"),
        ("Section 4201", "4201"),
        ("Subsections 1-1", "1-1"),
        ("12-1(a)", "12-1(a)"),
        ("12-1)", "12-1"),
        ("20B.1", "20b.1"),
        (" 3-01 ", "3-01"),
        ("", ""),
    ],
)
def test_numbers_have_one_form(written: str, number: str) -> None:
    assert normalise_number(written) == number


def test_the_citation_of_every_record_leads_to_its_own_number(law_lines) -> None:
    checked = 0
    for line in law_lines(LAW, every=50):
        read = next(read_records(line, name="law"))
        if not isinstance(read, Read):
            continue
        section = read.accepted.sections[0]
        cited = parse_citation(section.citation)
        assert normalise_number(cited.number) == cited.number
        if section.number is not None and cited.number:
            own = cited.number if cited.kind == "section" else f"{cited.kind} {cited.number}"
            assert own == section.number
        checked += 1
    assert checked > 900


NUMBERISH = st.text("§ .-:–‑()[]0123456789aAbIVXsect,;&\u00a0\n", max_size=60)


@given(st.text() | NUMBERISH)
def test_normalising_twice_changes_nothing(text: str) -> None:
    once = normalise_number(text)
    assert normalise_number(once) == once
    whole = normalise_whole(text)
    assert normalise_whole(whole) == whole


@given(
    st.text()
    | NUMBERISH
    | st.lists(st.sampled_from(["§ 1-1", ", 1-2", " Table A", "28-105.9", "x"])).map("".join)
)
def test_mentions_lie_in_the_text_in_order_and_apart(text: str) -> None:
    end = 0
    for reference in find_references(text):
        assert end <= reference.span.start < reference.span.end <= len(text)
        assert reference.number
        end = reference.span.end


@given(st.text(string.printable + "§–", max_size=200))
def test_any_citation_is_taken_apart_without_an_error(text: str) -> None:
    cited = parse_citation(text)
    assert same_code(cited.words, cited.words, ["new", "york", "ny"])


@pytest.mark.parametrize(
    "unit",
    [
        "§ 1-",
        "§ 1-1, ",
        "1",
        "1.",
        "1.1",
        "1:",
        "1-1 ",
        "§",
        "§ ",
        " ",
        "\n",
        "sec ",
        "Table A",
        "a.",
        "no. ",
        ", 1-1",
    ],
)
def test_reading_takes_linear_time(unit: str) -> None:
    def read(text: str) -> None:
        find_references(text)
        parse_citation(text)
        normalise_number(text)
        normalise_whole(text)

    assert grows_linearly(read, unit)
