"""Tables in stored text: their header, their rows, and nothing but spans."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.corpus.tables import cells_of, find_rows, find_tables, is_row, is_rule

RULED = "| District | Lot width |\n|---|---|\n| R-1 | 60 feet |\n| R-2 | 50 feet |"
LOOSE = "Standard | Duplex |\n| Lot area | 11,250 |\n1 | Height | 40 |"


@pytest.mark.parametrize(
    ("text", "header", "rows"),
    [
        (RULED, "| District | Lot width |\n|---|---|", ["| R-1 | 60 feet |", "| R-2 | 50 feet |"]),
        (
            f"Widths are as follows:\n\n{RULED}\n\nSee below.",
            "| District | Lot width |\n|---|---|",
            None,
        ),
        (
            f"Table 9.1 Widths\n\n{RULED}",
            "Table 9.1 Widths\n\n| District | Lot width |\n|---|---|",
            None,
        ),
        (f"**SCHEDULE A**\n{RULED}", "**SCHEDULE A**\n| District | Lot width |\n|---|---|", None),
        (
            "|  |  |\n| --- | --- |\n| Street | Side |\n| Elm | Left |",
            "|  |  |\n| --- | --- |\n| Street | Side |",
            ["| Elm | Left |"],
        ),
        (
            "Standard | Duplex | Other |\n| Lot area | 11,250 | 20,000 |",
            "Standard | Duplex | Other |",
            ["| Lot area | 11,250 | 20,000 |"],
        ),
        (
            "TABLE 3.7.1 DISTRICTS |\nDistricts |\n| CD-1 | Natural |\n| CD-2 | Rural |",
            "TABLE 3.7.1 DISTRICTS |\nDistricts |\n| CD-1 | Natural |",
            ["| CD-2 | Rural |"],
        ),
        ("| a | b |\n| c | d |", "| a | b |", ["| c | d |"]),
    ],
)
def test_a_table_has_its_header_and_its_rows(
    text: str, header: str, rows: list[str] | None
) -> None:
    (table,) = find_tables(text)
    assert table.header.of(text) == header
    assert [r.of(text) for r in table.rows] == (
        rows if rows is not None else ["| R-1 | 60 feet |", "| R-2 | 50 feet |"]
    )


@pytest.mark.parametrize(
    "text",
    ["", "No table.", "Either | or.", "| one line alone |", "a || b", "|", "x\n| y |\nz\n| w |\nv"],
)
def test_text_without_a_table_has_none(text: str) -> None:
    assert find_tables(text) == ()


def test_a_long_sentence_over_a_table_is_not_its_caption() -> None:
    text = f"Table 4 holds {'every ' * 40}width.\n{RULED}"
    (table,) = find_tables(text)
    assert table.span.start == text.index("| District")


def test_two_tables_stay_apart() -> None:
    text = f"{RULED}\n\nThen:\n\n{LOOSE}\n"
    first, second = find_tables(text)
    assert first.span.of(text) == RULED
    assert second.span.of(text) == LOOSE


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        ("| a | b |", ["a", "b"]),
        ("a | b |", ["a", "b"]),
        ("  | a |  | c |", ["a", "", "c"]),
        (r"| a \| b | c |", ["a | b", "c"]),
        ("|||", ["", ""]),
    ],
)
def test_cells_are_told_apart(line: str, cells: list[str]) -> None:
    assert cells_of(line) == cells


@pytest.mark.parametrize("line", ["|---|", "| --- | :-: |", "---|---", "|:--|--:|"])
def test_the_rule_under_a_header_is_seen(line: str) -> None:
    assert is_rule(line)


@pytest.mark.parametrize("line", ["| 1 | - |", "| a |", "", "|", "| -- a |"])
def test_a_row_is_told_from_a_rule(line: str) -> None:
    assert not is_rule(line)


LINES = st.sampled_from(["| a | b |", "|---|---|", "Table 1", "", "  | x |", "words", "a | b | c"])


@given(st.lists(LINES, max_size=12).map("\n".join))
def test_tables_are_spans_apart_whose_rows_are_lines_of_cells(text: str) -> None:
    end = 0
    for table in find_tables(text):
        assert table.span.start >= end
        assert table.header.within(table.span)
        assert table.rows
        assert all(r.within(table.span) and is_row(r.of(text)) for r in table.rows)
        end = table.span.end
    assert all(is_row(r.of(text)) for r in find_rows(text))


@pytest.mark.parametrize("unit", ["|", "| ", "|\n", "\n|", "a | b |\n", "-|", "|---", "\n"])
def test_finding_tables_takes_linear_time(unit: str) -> None:
    text = (unit * 500_000)[:1_000_000]
    begin = time.process_time()
    find_tables(text)
    assert time.process_time() - begin < 10
