"""Headings to sections, and whether a section still says anything."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.corpus.sections import (
    number_among_headings,
    number_in_heading,
    parse_markdown,
)
from appliance.corpus.standing import standing_of
from appliance.domain import CityId, Section, Standing
from tests.growth import grows_linearly

LONG = "The owner shall keep the fence in good repair at all times. " * 10


def parsed(body: str) -> tuple[Section, ...]:
    return parse_markdown(body, city=CityId("troll-xx"), document_id="troll-xx:code", title="Code")


def outline(body: str) -> list[tuple[str, str | None, str]]:
    """Return (heading, parent's heading, own text) of each section."""
    sections = parsed(body)
    return [
        (
            s.heading,
            sections[s.parent].heading if s.parent is not None else None,
            s.span.of(body).strip(),
        )
        for s in sections
    ]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("", []),
        (" \n\n", []),
        ("Words only.\n", [("Code", None, "Words only.")]),
        ("# A\na\n", [("A", None, "a")]),
        ("lead\n# A\na\n", [("Code", None, "lead"), ("A", None, "a")]),
        ("# A\n## B\n", [("A", None, ""), ("B", "A", "")]),
        ("# A\n### B\nb\n## C\nc", [("A", None, ""), ("B", "A", "b"), ("C", "A", "c")]),
        ("### A\n# B\n## C\n", [("A", None, ""), ("B", None, ""), ("C", "B", "")]),
        ("# A\r\na\r\n## B ##\r\nb\r\n", [("A", None, "a"), ("B", "A", "b")]),
        ("# A #\n## B ##  \n# C#\n", [("A", None, ""), ("B", "A", ""), ("C#", None, "")]),
        ("#A\n", [("Code", None, "#A")]),
        ("    # A\n", [("Code", None, "# A")]),
        ("####### A\n", [("Code", None, "####### A")]),
        ("#\n# \n## ##\n", [("Code", None, "#\n# \n## ##")]),
        ("A\n===\nB\n---\n", [("Code", None, "A\n===\nB\n---")]),
        ("# A\n```\n# no\n```\n# B\n", [("A", None, "```\n# no\n```"), ("B", None, "")]),
        ("# A\n~~~ x\n# no\n~~~\n", [("A", None, "~~~ x\n# no\n~~~")]),
        ("# A\n```\n~~~\n```\n# B\n~~~\n", [("A", None, "```\n~~~\n```"), ("B", None, "~~~")]),
        ("# A\n```\n# B\n", [("A", None, "```"), ("B", None, "")]),
    ],
)
def test_headings_make_a_tree(body: str, expected: list[tuple[str, str | None, str]]) -> None:
    assert outline(body) == expected


def test_a_number_that_comes_again_gets_its_own_id() -> None:
    body = "# Sec. 1-1 A\n# Sec. 1-1 B\n# Sec. 1-1 C\n# Notes\n# Notes\n# Chapter 2\n"
    assert [s.external_id for s in parsed(body)] == [
        "troll-xx/1-1",
        "troll-xx/1-1~2",
        "troll-xx/1-1~3",
        "troll-xx:code#Notes",
        "troll-xx:code#Notes~2",
        "troll-xx:code#chapter 2",
    ]


def test_the_path_names_the_headings_above_a_section() -> None:
    body = "# Title 1 General\n## Chapter 2 Fences\n### § 1.2.3 Height\nSix feet.\n"
    section = parsed(body)[-1]
    assert section.path == ("Title 1 General", "Chapter 2 Fences")
    assert (section.number, section.citation) == ("1.2.3", "§ 1.2.3")


@pytest.mark.parametrize(
    ("heading", "number", "is_section"),
    [
        ("§ 15.04.010 Permit required", "15.04.010", True),
        ("Sec. 4-12. - Fences", "4-12", True),
        ("SECTION 3. Fees", "3", True),
        ("**Sec. 4-12** Fences", "4-12", True),
        ("9.1.7 Use Restrictions", "9.1.7", True),
        ("28-105.9 Permits", "28-105.9", True),
        ("ARTICLE II. General", "article ii", False),
        ("Chapter 15.04 Permits", "chapter 15.04", False),
        ("Appendix B", "appendix b", False),
        ("Title 17 Zoning", "title 17", False),
        ("Definitions", None, False),
        ("2019 fees", None, False),
        ("Part-time work", None, False),
        ("", None, False),
    ],
)
def test_a_heading_begins_with_its_number(
    heading: str, number: str | None, is_section: bool
) -> None:
    assert number_in_heading(heading) == (number, is_section)


@pytest.mark.parametrize(
    ("heading", "above", "number", "is_section"),
    [
        ("3. Fencing", None, "3", True),
        ("12A. Trees", "chapter 4", "12a", True),
        ("2303 PARKING LOTS", "11-23", "2303", True),
        ("2024 Fee schedule", None, None, False),
        ("2024 FEE SCHEDULE", None, None, False),
        ("1958. Zoning", None, "1958", True),
        ("B. - Definitions.", "article 15", "15.b", True),
        ("A. [Reserved]", "7-1", "7-1.a", True),
        ("B. - Definitions.", None, None, False),
        ("B. - Definitions.", "appendix b", None, False),
        ("Secs. 4202—4210 - [Reserved].", "division 2", "4202-4210", True),
        ("§§ 12-5 – 12-9 Reserved", None, "12-5", True),
        ("Subchapter II. Steam", None, "subchapter ii", False),
        ("Purpose", "article 15", None, False),
        ("6 feet is the limit", None, None, False),
    ],
)
def test_a_heading_is_numbered_by_where_it_stands(
    heading: str, above: str | None, number: str | None, is_section: bool
) -> None:
    assert number_among_headings(heading, above) == (number, is_section)


LINES = st.lists(
    st.sampled_from(
        [
            "# A",
            "## § 1-1 B",
            "### C ###",
            "text",
            "",
            "```",
            "~~~",
            "``` x",
            "   # D",
            "#",
            "é\r",
            "|a|",
        ]
    )
    | st.text(max_size=20),
    max_size=30,
).map("\n".join)


@given(LINES)
def test_sections_and_heading_lines_tile_the_body(body: str) -> None:
    sections = parsed(body)
    for before, after in pairwise(sections):
        between = body[before.span.end : after.span.start]
        assert before.span.end <= after.span.start
        assert between.lstrip(" ").startswith("#")
        assert "\n" not in between
        assert after.heading in between
    if sections:
        assert sections[-1].span.end == len(body)
        start = body[: sections[0].span.start]
        assert not start.strip() or start.strip().startswith("#")
    else:
        assert not body.strip()
    for position, section in enumerate(sections):
        assert section.parent is None or section.parent < position
    assert len({s.external_id for s in sections}) == len(sections)


@pytest.mark.parametrize(
    ("heading", "text", "status", "standing"),
    [
        ("Fences.", LONG, None, Standing.IN_FORCE),
        ("Fences. [Repealed]", LONG, None, Standing.REPEALED),
        ("Fences (Repealed by Ord. 12)", "", None, Standing.REPEALED),
        ("[Reserved]", "", None, Standing.RESERVED),
        ("(Reserved)", "", None, Standing.RESERVED),
        ("[Reserved.]*", LONG, None, Standing.RESERVED),
        ("RESERVED FOR FUTURE USE", "", None, Standing.RESERVED),
        ("Sec. 4-1. - Reserved.", "", None, Standing.RESERVED),
        ("Sec. 4-1. Reserved.", "Ord. 12", None, Standing.RESERVED),
        ("Secs. 7-3-7-15. Reserved.", "", None, Standing.RESERVED),
        ("5.11.4. Reserved", "REVISED 3/22/2022", None, Standing.RESERVED),
        ("Smoking at sites. [Renumbered.]", LONG, None, Standing.TRANSFERRED),
        ("Repealed 07-16-2024 Violations", LONG, None, Standing.REPEALED),
        ("Repealed Master Planned Development", LONG, None, Standing.REPEALED),
        ("Deleted by Ordinance 235, July 5, 1995", "Days to sell", None, Standing.REPEALED),
        ("Fees.", "Repealed.", None, Standing.REPEALED),
        ("Fees.", "[Reserved]", None, Standing.RESERVED),
        ("Fees.", "Expired\nExpired.", None, Standing.EXPIRED),
        ("Fees.", "Recodified as § 2-381.43.", None, Standing.TRANSFERRED),
        ("Fees.", "Repealed by Ord. 2016-15.", None, Standing.REPEALED),
        ("Fees.", "Omitted", None, Standing.OMITTED),
        ("Fees.", "Not funded.", None, Standing.EXPIRED),
        ("Fees.", f"Repealed\n{LONG}", None, Standing.REPEALED),
        # Living law that only speaks of such things.
        ("Effect of repealers.", LONG, None, Standing.IN_FORCE),
        ("Sec. 12-181. Conflicting regulations repealed.", LONG, None, Standing.IN_FORCE),
        ("CONFLICTING ORDINANCES REPEALED", LONG, None, Standing.IN_FORCE),
        ("Right to alter, amend, or repeal reserved.", "Congress may.", None, Standing.IN_FORCE),
        ("Laws not repealed.", LONG, None, Standing.IN_FORCE),
        ("Reserved parking spaces.", LONG, None, Standing.IN_FORCE),
        ("Expired permits.", LONG, None, Standing.IN_FORCE),
        ("Transferred licenses.", LONG, None, Standing.IN_FORCE),
        ("Power to order dwelling vacated", LONG, None, Standing.IN_FORCE),
        ("Fees.", "Reserved spaces shall be marked.", None, Standing.IN_FORCE),
        ("Fees.", "Expired permits may be renewed once.", None, Standing.IN_FORCE),
        ("Fees.", "", None, Standing.IN_FORCE),
        # The record's own word goes first.
        ("Fences.", LONG, "repealed", Standing.REPEALED),
        ("Fences.", LONG, " Reserved ", Standing.RESERVED),
        ("[Repealed]", "", "in force", Standing.IN_FORCE),
        ("Fences.", LONG, "", Standing.IN_FORCE),
    ],
)
def test_what_still_stands(heading: str, text: str, status: str | None, standing: Standing) -> None:
    assert standing_of(heading, text, status) is standing


@pytest.mark.parametrize(
    "unit",
    [
        "# a\n",
        "```\n",
        "```x\n",
        "```\n```\n# a\n",
        "~~~\n```x\n# b\n",
        "# " + " " * 50,
        "#",
        "# #",
        "\n",
        " ",
        "[repealed",
        "(Repealed ",
        "reserved. ",
    ],
)
def test_reading_takes_linear_time(unit: str) -> None:
    def read(text: str) -> None:
        parsed(text)
        parsed("# " + text + "x")
        standing_of(text, text, None)
        number_in_heading(text)

    assert grows_linearly(read, unit)
