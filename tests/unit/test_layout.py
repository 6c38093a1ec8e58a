"""Law text as blocks: nothing is lost, and what is marked is the quote."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from appliance.domain import Citation, CityId, Digest, SectionId, Span, Standing, StoredSection
from appliance.web.layout import (
    Block,
    Paragraph,
    Run,
    Table,
    blocks,
    quote_blocks,
    titles_over,
)

# What the layout looks at, in every order, with line ends and signs that other tools trip over.
TEXTS = st.lists(
    st.sampled_from(
        [
            "|",
            "| a |",
            "|---|",
            "\n",
            "\n\n",
            " ",
            "**",
            "word",
            "(a) ",
            "\\",
            "\r",
            "\u2028",
            "\U0001f309",
        ]
    ),
    max_size=30,
).map("".join)


def runs_of(laid: tuple[Block, ...]) -> Iterator[Run]:
    for block in laid:
        if isinstance(block, Paragraph):
            yield from block.runs
        else:
            yield from (run for row in block.rows for cell in row.cells for run in cell)


@given(TEXTS, st.data())
def test_all_runs_are_the_text_and_the_marked_ones_the_quote(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    runs = list(runs_of(blocks(text, Span(start=start, end=end))))
    assert "".join(r.text for r in runs) == text
    assert "".join(r.text for r in runs if r.marked) == text[start:end]


def shown(runs: tuple[Run, ...]) -> str:
    return "".join(r.text for r in runs if not r.syntax)


def test_pipe_rows_are_a_table_with_a_header_and_the_rest_are_paragraphs():
    text = "(a) Limits:\n\n**Table 1.** Heights\n\n| Yard | Feet |\n|---|---|\n| Front | 4 |\n\n(b) End.\n"
    first, title, table, last = blocks(text)
    assert (shown(first.runs), first.item) == ("(a) Limits:", True)
    assert shown(title.runs) == "Table 1. Heights"
    assert [r.strong for r in title.runs if not r.syntax] == [True, False]
    assert isinstance(table, Table)
    assert [r.header for r in table.rows] == [True, False]
    assert [[shown(c) for c in r.cells] for r in table.rows] == [["Yard", "Feet"], ["Front", "4"]]
    assert shown(last.runs) == "(b) End."


def test_a_table_without_a_rule_has_no_header():
    (table,) = blocks("| 1 | 2 |\n| 3 | 4 |")
    assert [r.header for r in table.rows] == [False, False]


TEXT = "(c) Parking.\n| Use | Spaces |\n|---|---|\n| Shop | 4 |\n| Office | 3 |\n| Theatre | one a seat |"


def cited(quote: str, *over: str) -> Citation:
    section = StoredSection(
        id=SectionId(1),
        city=CityId("troll-xx"),
        external_id="1",
        citation="Sec. 1-1",
        number="1-1",
        heading="Parking",
        path=(),
        standing=Standing.IN_FORCE,
        version=Digest("0" * 64),
        effective_from=None,
        effective_until=None,
        text=TEXT,
    )
    return Citation(
        section=section, span=stretch(quote), quote=quote, leads=tuple(stretch(o) for o in over)
    )


def stretch(words: str) -> Span:
    start = TEXT.index(words)
    return Span(start=start, end=start + len(words))


HEADER = "| Use | Spaces |\n|---|---|"


def test_later_rows_of_a_table_stand_under_its_header() -> None:
    (table,) = quote_blocks(cited("| Theatre | one a seat |", "(c) Parking", HEADER))
    assert isinstance(table, Table)
    assert [row.header for row in table.rows] == [True, False]
    assert "one a seat" in "".join(run.text for cell in table.rows[1].cells for run in cell)


def test_titles_over_a_quote_are_shown_apart_from_it() -> None:
    citation = cited("| Theatre | one a seat |", "(c) Parking", HEADER)
    assert titles_over(citation) == ("(c) Parking",)
    assert citation.over == ("(c) Parking", HEADER)


def test_a_quote_without_anything_over_it_is_laid_out_alone() -> None:
    assert quote_blocks(cited(TEXT)) == blocks(TEXT)
