"""Blocks to Markdown: what is written can be read back as headings, tables and text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.corpus.sections import parse_markdown
from appliance.corpus.tables import find_tables
from appliance.formats.outline import Cell, heading, markdown, numbered, paragraph, table

LINE = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1).map(lambda s: f"x{s}")


def test_a_number_stands_before_its_text_or_alone_before_the_next() -> None:
    inner = numbered("(1)", [paragraph("One.", 2)], 1)
    assert markdown(numbered("(a)", inner, 0)) == "(a)\n\n  (1) One.\n"
    assert markdown(numbered("(a)", [paragraph("Or:", 1), *inner], 0)) == "(a) Or:\n\n  (1) One.\n"
    assert markdown(numbered("(a)", [], 0)) == "(a)\n"


@pytest.mark.parametrize("text", ["# of goats", "| wall", "```", "~~~ x", "###### x"])
def test_text_is_never_taken_for_markup(text: str) -> None:
    written = markdown([paragraph(text), paragraph("(a) x")])
    assert written.startswith("\\")
    assert len(parse_markdown(written, city="x", document_id="d", title="t")) == 1
    assert not find_tables(written)


@given(st.lists(st.tuples(st.integers(1, 9), LINE), min_size=1))
def test_every_heading_is_read_back(headings: list[tuple[int, str]]) -> None:
    body = markdown([heading(level, text) for level, text in headings])
    found = parse_markdown(body, city="x", document_id="d", title="t")
    assert [s.heading for s in found] == [text for _, text in headings]


@given(st.lists(st.lists(LINE, min_size=2, max_size=4), min_size=2, max_size=6))
def test_every_cell_of_a_table_is_written(rows: list[list[str]]) -> None:
    body = markdown([table([[Cell(text=text) for text in row] for row in rows])])
    (found,) = find_tables(body)
    text = found.span.of(body)
    for cell in (c for row in rows for c in row):
        assert cell.replace("|", "\\|") in text
