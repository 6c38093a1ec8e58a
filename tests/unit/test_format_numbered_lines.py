"""Headings by their numbers: evident ones are found, sentences and contents are not taken for them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.formats.numbered_lines import with_headings


@pytest.mark.parametrize(
    "line",
    [
        "CHAPTER 7 BRIDGES",
        "Chapter 7. Bridges",
        "ARTICLE II. - GENERAL",
        "Article IV",
        "SUBCHAPTER 3: TROLLS",
        "APPENDIX B",
        "Schedule 2 – Tolls",
        "§ 28-105.1 Permit required.",
        "Sec. 4-12. - Fences.",
        "SECTION 12. TOLLS",
        "Section 3. [Reserved]",
        "2303 PARKING LOTS",
        "17.102.130 TOLLS & SIGNS (TEMPORARY)",
    ],
)
def test_a_numbered_title_on_a_line_of_its_own_is_a_heading(line: str) -> None:
    assert with_headings(f"{line}\n\nOne goat.\n") == f"# {line}\n\nOne goat.\n"


@pytest.mark.parametrize(
    "line",
    [
        "Section 3 of this chapter applies to trolls.",
        "Section 3. A troll shall not collect a toll.",
        "Chapter 7 of Title 2",
        "2303.1 A parking lot in any district",
        "1101 Main Street",
        "12 GOATS,",
        "(a) TOLLS",
        "Sec. 7-1. Tolls ........ 12",
        "Chapter 7 Bridges\t12",
        "Sec. 7-1. " + "Tolls " * 30,
        "| Sec. 1. Tolls |",
        "Section 5,",
    ],
)
def test_what_is_no_title_stays_text(line: str) -> None:
    text = f"{line}\n\nOne goat.\n"
    assert with_headings(text) == text


def test_a_line_within_a_paragraph_is_no_heading() -> None:
    text = "One goat as said in\nSec. 7-1. Tolls\nand nowhere else.\n"
    assert with_headings(text) == text


def test_a_table_of_contents_stays_text_and_its_chapter_a_heading() -> None:
    listed = "Sec. 1. Tolls\nSec. 2. Signs\nSec. 3. Trolls\n"
    text = f"Contents\n\n{listed}\nCHAPTER 1 BRIDGES\n\nSec. 1. Tolls\n\nOne goat.\n"
    found = with_headings(text)
    assert listed in found
    assert "# CHAPTER 1 BRIDGES\n\n## Sec. 1. Tolls\n\nOne goat." in found


def test_containers_nest_in_the_order_in_which_they_appear() -> None:
    text = "TITLE 1\n\nCHAPTER 1\n\nSec. 1. Tolls\n\nx\n\nCHAPTER 2\n\nSec. 2. Signs\n\ny\n"
    assert [line for line in with_headings(text).split("\n") if line.startswith("#")] == [
        *("# TITLE 1", "## CHAPTER 1", "### Sec. 1. Tolls", "## CHAPTER 2", "### Sec. 2. Signs"),
    ]


LINES = st.sampled_from(["Sec. 1. Tolls", "CHAPTER 2", "One goat.", "", "  12 SIGNS ", "a | b"])


@given(st.lists(LINES).map("\n".join))
def test_nothing_but_marks_and_spaces_changes(text: str) -> None:
    assert with_headings(text).replace("#", "").split() == text.split()


def test_long_texts_are_read_whole() -> None:
    text = "Sec. 1. Tolls\n\nOne goat.\n\n" * 50_000
    assert with_headings(text).count("# Sec. 1. Tolls") == 50_000
