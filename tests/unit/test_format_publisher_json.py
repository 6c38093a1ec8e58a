"""Publishers' JSON answers to Markdown: sections in their order, under headings of their depth."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from appliance.corpus.sections import parse_markdown
from appliance.formats.parsed import Unparsable
from appliance.formats.publisher_json import parse_publisher_json

APIS = Path(__file__).parents[2].parent / "shared" / "corpus" / "fixtures-codifier-apis"


def doc(title: str, depth: int, order: int, content: str | None) -> dict[str, object]:
    return {"Title": title, "NodeDepth": depth, "DocOrderId": order, "Content": content}


def test_a_chunk_group_is_a_heading_tree_in_document_order() -> None:
    docs = [
        doc("Sec. 2 - Trolls.", 4, 7, "<div><h3>By-names</h3><p>None.</p></div>"),
        doc("DIVISION 1. - BRIDGES", 3, 5, '<div class="chunk-content"><br></div>'),
        doc(
            "Sec. 1 - Tolls.",
            4,
            6,
            '<p class="incr0">(a)</p><p class="content1">One goat.</p>'
            "<table><tr><th>Bridge</th><th>Toll</th></tr><tr><td>Stone</td><td>3</td></tr></table>",
        ),
    ]
    parsed = parse_publisher_json(json.dumps({"Docs": docs}).encode())
    assert parsed.title == "DIVISION 1. - BRIDGES"
    headings = [
        s.heading for s in parse_markdown(parsed.body, city="x", document_id="d", title="t")
    ]
    assert headings == ["DIVISION 1. - BRIDGES", "Sec. 1 - Tolls.", "Sec. 2 - Trolls."]
    assert "(a) One goat." in parsed.body
    assert "| Stone | 3 |" in parsed.body
    assert "By-names" in parsed.body


def test_text_that_the_publisher_left_out_is_counted() -> None:
    docs = [doc("Sec. 1", 2, 1, None), doc("Sec. 2", 2, 2, "<p>x</p>"), doc("Sec. 3", 2, 3, None)]
    notes = parse_publisher_json(json.dumps(docs).encode()).notes
    assert "The publisher left the text of 2 sections out of this answer." in notes


@pytest.mark.parametrize(
    ("answer", "title"),
    [
        (
            {
                "title": "1.01  TOLLS.",
                "html": "<div><h4><span>1.01</span> TOLLS.</h4><p>One.</p></div>",
            },
            "1.01 TOLLS.",
        ),
        (
            {
                "Text": "<div><div class='phx-name '><a href='#'>Sec 1 Tolls</a></div></div><p>One.</p>",
                "Success": True,
            },
            "Sec 1 Tolls",
        ),
    ],
)
def test_a_single_section_is_headed_once(answer: object, title: str) -> None:
    parsed = parse_publisher_json(json.dumps(answer).encode())
    assert (parsed.title, parsed.body) == (title, f"# {title}\n\nOne.\n")


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(Unparsable):
        parse_publisher_json(b'{"Docs": [')


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("municode/content_homeocc.json", "accessory apartment"),
        ("municode/content_danville_art7.json", "nonconforming"),
        ("amlegal/render_section.json", "zoning district map"),
        ("municipalcodeonline/content_sec_10-24.json", "r-1 residential district"),
    ],
)
def test_captured_answers_give_their_sections(law_lines: object, name: str, words: str) -> None:
    raw = (APIS / name).read_bytes()
    parsed = parse_publisher_json(raw)
    found = parse_markdown(parsed.body, city="x", document_id="d", title="t")
    assert len(found) == len(json.loads(raw).get("Docs", ["the one"]))
    assert words in parsed.body.casefold()
