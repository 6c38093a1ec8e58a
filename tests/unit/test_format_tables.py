"""HTML tables to pipe tables: no value lost, every spanned cell written where it spans."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from appliance.formats.html import fragment_to_markdown

Rows = list[list[str]]


def read_back(markdown: str) -> list[Rows]:
    """Read pipe tables with a Markdown parser that we did not write; the header is the first row."""
    tables: list[Rows] = []
    for token in MarkdownIt("commonmark").enable("table").parse(markdown):
        if token.type == "table_open":
            tables.append([])
        elif token.type == "tr_open":
            tables[-1].append([])
        elif token.type == "inline" and tables:
            tables[-1][-1].append("".join(child.content for child in token.children or ()))
    return tables


def table_of(html: str) -> Rows:
    (table,) = read_back(fragment_to_markdown(html))
    return table


@pytest.mark.parametrize(
    ("html", "rows"),
    [
        pytest.param(
            "<table><tr><th>Zone<th>Height<tr><td>R-1<td>30 ft</table>",
            [["Zone", "Height"], ["R-1", "30 ft"]],
            id="plain",
        ),
        pytest.param(
            "<table><tr><th>Zone<th>Use<th>Rule<tr><td rowspan=2>R-1<td>Shed<td>P<tr><td>Barn<td>X</table>",
            [["Zone", "Use", "Rule"], ["R-1", "Shed", "P"], ["R-1", "Barn", "X"]],
            id="a cell that spans down is in every row",
        ),
        pytest.param(
            "<table><tr><th>A<th>B<th>C<tr><td colspan=2>both<td>c<tr><td>1<td>2<td>3</table>",
            [["A", "B", "C"], ["both", "both", "c"], ["1", "2", "3"]],
            id="a cell that spans across is in every column",
        ),
        pytest.param(
            "<table><tr><th rowspan=2>Zone<th colspan=2>Yards<tr><th>Front<th>Side"
            "<tr><td>R-1<td>20<td>5</table>",
            [["Zone", "Yards / Front", "Yards / Side"], ["R-1", "20", "5"]],
            id="two header rows become one",
        ),
        pytest.param(
            "<table><thead><tr><td colspan=2>Fees<tr><td>Permit<td>Fee</thead><tr><td>Fence<td>$50</table>",
            [["Fees / Permit", "Fees / Fee"], ["Fence", "$50"]],
            id="a head of plain cells is a head",
        ),
        pytest.param(
            "<table><tr><td rowspan=0>all<td>1<tr><td>2<tr><td>3</table>",
            [["", ""], ["all", "1"], ["all", "2"], ["all", "3"]],
            id="rowspan 0 goes to the end, and an absent header is empty",
        ),
        pytest.param(
            "<table><tr><th>A<th>B<tbody><tr><td rowspan=9>x<td>1<tbody><tr><td>y<td>2</table>",
            [["A", "B"], ["x", "1"], ["y", "2"]],
            id="a span ends with its part of the table",
        ),
        pytest.param(
            "<table><tr><th>A<th>B<th>C<tr><td>1<td rowspan=2>2<td>3<tr><td colspan=2>4</table>",
            [["A", "B", "C"], ["1", "2", "3"], ["4", "2", ""]],
            id="where cells overlap the upper one stays and the lower keeps its own slot",
        ),
        pytest.param(
            "<table><tr><th>A<th>B<tr><td>1<tr><td>1<td>2<td>3</table>",
            [["A", "B", ""], ["1", "", ""], ["1", "2", "3"]],
            id="ragged rows are filled up",
        ),
        pytest.param(
            "<table><tfoot><tr><td>Sum<td>9</tfoot><thead><tr><th>A<th>B</thead>"
            "<tbody><tr><td>x<td>9</tbody></table>",
            [["A", "B"], ["x", "9"], ["Sum", "9"]],
            id="the foot comes last wherever it is written",
        ),
        pytest.param(
            "<table><tr><th>Use<th>Rule<tr><td><p>Sheds</p><p>Barns</p><td><ul><li>10 ft<li>no power</ul></table>",
            [["Use", "Rule"], ["Sheds Barns", "10 ft no power"]],
            id="paragraphs and lists become one line",
        ),
        pytest.param(
            "<table><tr><th>Use<th>Rule<tr><td>a | b<td>x<br>y</table>",
            [["Use", "Rule"], ["a | b", "x y"]],
            id="bars and line breaks do not break the row",
        ),
        pytest.param(
            "<table><tr><th>A<th>B<tr><td>back\\|bar<td>end\\</table>",
            [["A", "B"], ["back\\|bar", "end\\"]],
            id="backslashes before a bar stay",
        ),
        pytest.param(
            "<table><tr><th>A<th>B<tr><td>x<td><table><tr><td>in<td>ner</table></table>",
            [["A", "B"], ["x", "in ner"]],
            id="a table in a cell keeps its words",
        ),
        pytest.param(
            "<table><tr><td><b>Permit</b><td><strong>Fee</strong><tr><td>Fence<td>none</table>",
            [["Permit", "Fee"], ["Fence", "none"]],
            id="a bold first row is the header",
        ),
        pytest.param(
            "<table><tr><td>Permit<td>Fee<tr><td>Fence<td>$50<tr><td>Deck<td>$90</table>",
            [["Permit", "Fee"], ["Fence", "$50"], ["Deck", "$90"]],
            id="words over figures are the header",
        ),
        pytest.param(
            "<table><tr><td>Fence<td>$50<tr><td>Deck<td>$90</table>",
            [["", ""], ["Fence", "$50"], ["Deck", "$90"]],
            id="data in the first row is no header",
        ),
        pytest.param(
            "<table><tr><td rowspan=2>Zone<td colspan=2>Yards<tr><td>Front<td>Side<tr><td>R-1<td>20<td>5</table>",
            [["Zone", "Yards / Front", "Yards / Side"], ["R-1", "20", "5"]],
            id="a first row that spans both ways is a header of two rows",
        ),
        pytest.param(
            "<table><tr><th>A<th><th>B<tr><td>1<td><td>2<tr><td><td><td></table>",
            [["A", "B"], ["1", "2"]],
            id="empty rows and columns are left out",
        ),
        pytest.param(
            "<table><tr><th>Zone<th>Area<tr><td>R-1<td>4,400<sup>2</sup><tr><td>R-2<td>9 ft<sup>2</sup></table>",
            [["Zone", "Area"], ["R-1", "4,400 2"], ["R-2", "9 ft²"]],
            id="a note's mark is apart from its number and a unit's power is not",
        ),
        pytest.param(
            "<table><tr><th>A<th>B<tr><td>1<td>seen<span style='display:none'>unseen</span>"
            "<tr hidden><td>no<td>no</table>",
            [["A", "B"], ["1", "seen"]],
            id="hidden cells and words are left out",
        ),
        pytest.param(
            "<table><tr><th>A<th>B<tr><td colspan=junk>1<td colspan=-3>2<tr><td colspan=0>3<td rowspan=''>4</table>",
            [["A", "B"], ["1", "2"], ["3", "4"]],
            id="spans that are no numbers are one",
        ),
        pytest.param(
            "<table><tr><th colspan=900>A<th>B<tr><td>1<td>2</table>",
            [["A", *["A"] * 899, "B"], ["1", "2", *[""] * 899]],
            id="a wide span before another cell keeps the other",
        ),
        pytest.param(
            "<table><tr><th>A<th>B<tr><td>1<td>2<tr><td colspan=500>note</table>",
            [["A", "B"], ["1", "2"], ["note", "note"]],
            id="a span far beyond the last column is cut",
        ),
        pytest.param(
            "<table><tr><td>was <s>10</s> 12 ft<td>x<tr><td>1<td>2</table>",
            [["", ""], ["was ~~10~~ 12 ft", "x"], ["1", "2"]],
            id="struck-out values are marked",
        ),
    ],
)
def test_a_table_keeps_its_values_in_their_places(html: str, rows: Rows) -> None:
    assert table_of(html) == rows


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<table><tr><td>Only this.</table>", "Only this."),
        ("<table role=presentation><tr><td>Left.<td>Right.</table>", "Left.\n\nRight."),
        ("<table><tr><td>One.<tr><td>Two.</table>", "One.\n\nTwo."),
        (
            f"<table><tr><td>(a)<td>{'No fence. ' * 9}<tr><td>(b)<td>{'No wall. ' * 9}</table>",
            f"(a) {'No fence. ' * 9}".strip() + f"\n(b) {'No wall. ' * 9}".rstrip(),
        ),
        (
            f"<table><tr><td>{'Menu. ' * 90}<td>Text.</table>",
            f"{'Menu. ' * 90}".strip() + "\n\nText.",
        ),
        ("<table><tr><td></table>", ""),
        ("<table></table>", ""),
    ],
    ids=[
        "one cell",
        "said to be",
        "one column",
        "an outline",
        "columns of a page",
        "empty",
        "bare",
    ],
)
def test_a_table_that_only_places_text_becomes_paragraphs(html: str, text: str) -> None:
    assert fragment_to_markdown(html) == text


def test_a_table_that_lays_out_the_page_gives_up_the_table_inside_it() -> None:
    inner = "<table><tr><th>Zone<th>Height<tr><td>R-1<td>30 ft</table>"
    html = f"<table><tr><td>Menu<td><p>Rules</p>{inner}</table>"
    assert table_of(html) == [["Zone", "Height"], ["R-1", "30 ft"]]
    assert "Rules" in fragment_to_markdown(html)


def test_the_caption_stands_before_its_table() -> None:
    html = "<table><caption>Table 9-1 Yards</caption><tr><th>A<th>B<tr><td>1<td>2</table>"
    assert fragment_to_markdown(html).startswith("Table 9-1 Yards\n\n| A | B |")


def test_text_around_a_table_stays_around_it() -> None:
    html = "<p>Before.</p><table><tr><th>A<th>B<tr><td>1<td>2</table><p>After.</p>"
    assert fragment_to_markdown(html) == "Before.\n\n| A | B |\n|---|---|\n| 1 | 2 |\n\nAfter."


words = st.text("abcXYZ 019|.$%", min_size=1, max_size=12).map(lambda t: " ".join(t.split()))


@given(
    st.integers(2, 5).flatmap(
        lambda n: st.lists(st.lists(words, min_size=n, max_size=n), min_size=2)
    )
)
def test_any_rows_of_words_come_back_from_the_pipe_table(rows: Rows) -> None:
    rows = [[f"{y}.{x} {text}".strip() for x, text in enumerate(row)] for y, row in enumerate(rows)]
    html = "".join("<tr>" + "".join(f"<td>{text}</td>" for text in row) for row in rows)
    assert table_of(f"<table>{html}</table>") == [[""] * len(rows[0]), *rows]


spans = st.tuples(st.integers(1, 4), st.integers(1, 4))


@given(st.lists(st.lists(spans, min_size=1, max_size=5), min_size=2, max_size=6))
def test_no_value_is_lost_whatever_the_spans(rows: list[list[tuple[int, int]]]) -> None:
    html, values = "", set()
    for y, row in enumerate(rows):
        html += "<tr>"
        for x, (columns, deep) in enumerate(row):
            values.add(f"v{y}x{x}")
            html += f"<td colspan={columns} rowspan={deep}>v{y}x{x}</td>"
    body = fragment_to_markdown(f"<table>{html}</table>")
    assert values <= set(body.replace("|", " ").replace("/", " ").split())
    for table in read_back(body):
        assert len({len(row) for row in table}) == 1


@pytest.mark.parametrize(
    "html",
    [
        "<table>" + ("<tr>" + "<td colspan=1000 rowspan=65534>x" * 20) * 500 + "</table>",
        "<table>" + "<tr><td rowspan=0>x<td>y" * 20_000 + "</table>",
        "<table><tr><td>" * 5_000 + "deep",
        "<table><caption>" * 3_000 + "x",
    ],
    ids=["huge spans", "spans to the end", "tables in tables", "captions in captions"],
)
def test_a_hostile_table_takes_seconds_at_most(html: str) -> None:
    began = time.process_time()
    fragment_to_markdown(html)
    assert time.process_time() - began < 5
