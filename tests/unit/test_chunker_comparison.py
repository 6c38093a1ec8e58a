"""The documents that two chunkers are compared on, and the way back from a chunk to its section."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.domain import Span
from appliance.errors import BadRequest
from benchmarks.chunker.documents import (
    Document,
    Record,
    beginning,
    long_list,
    markdown_of,
    short_list,
    table,
)
from benchmarks.chunker.hybrid import Chunked, Hybrid, HybridChunk, letters, located, unlocated


def _record(text: str, *, name: str = "a", path: tuple[str, ...] = ()) -> Record:
    return Record(id=name, citation=f"§ {name}", heading="Fences", path=path, text=text)


# ------------------------------------------------------------------ documents


def test_the_path_of_a_record_is_written_as_headings_where_it_changes() -> None:
    records = [
        _record("One.", name="1", path=("Title 1", "Chapter 1")),
        _record("Two.", name="2", path=("Title 1", "Chapter 1")),
        _record("Three.", name="3", path=("Title 1", "Chapter 2")),
        _record("Four.", name="4"),
    ]
    headings = [
        line for line in markdown_of("code", records).body.splitlines() if line.startswith("#")
    ]
    assert headings == [
        "# Title 1",
        "## Chapter 1",
        "### § 1 Fences",
        "### § 2 Fences",
        "## Chapter 2",
        "### § 3 Fences",
        "# § 4 Fences",
    ]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("One.\nTwo.", "One.\n\nTwo."),
        ("A sentence that\nwas wrapped.", "A sentence that\nwas wrapped."),
        ("as follows:\na. one;\nb. two.", "as follows:\n\na. one;\n\nb. two."),
        ("| A | B |\n|---|---|\n| 1 | 2 |", "| A | B |\n|---|---|\n| 1 | 2 |"),
        ("Fees:\n| A | B |\nfrom today.", "Fees:\n\n| A | B |\n\nfrom today."),
        ("One.\n\n \n    Indented.", "One.\n\nIndented."),
    ],
)
def test_lines_are_paragraphs_but_for_rows_and_wrapped_sentences(text: str, written: str) -> None:
    assert markdown_of("code", [_record(text)]).body == f"# § a Fences\n\n{written}\n\n"


_TEXTS = st.text(alphabet="ab .|#\n\té", max_size=60)


@given(st.lists(_TEXTS, max_size=5))
def test_every_line_leads_back_to_its_place_in_its_record(texts: list[str]) -> None:
    records = [_record(text, name=str(i)) for i, text in enumerate(texts)]
    document = markdown_of("code", records)
    for line in document.lines:
        words = line.span.of(document.body)
        assert records[line.record].text[line.start :].startswith(words)
    whole = document.stretches(Span(start=0, end=len(document.body)))
    assert {part.record.id: part.span.of(part.record.text) for part in whole} == {
        record.id: record.text.strip() for record in records if record.text.strip()
    }


def test_a_stretch_over_two_records_is_told_by_record_the_larger_first() -> None:
    document = markdown_of(
        "code", [_record("Short.", name="1"), _record("A longer text.", name="2")]
    )
    start = document.body.index("ort.")
    parts = document.stretches(Span(start=start, end=len(document.body)))
    assert [(p.record.id, p.span.of(p.record.text)) for p in parts] == [
        ("2", "A longer text."),
        ("1", "ort."),
    ]


def test_a_heading_alone_is_no_part_of_a_record() -> None:
    document = markdown_of("code", [_record("Text.")])
    assert document.stretches(Span(start=0, end=4)) == ()


def test_a_document_is_cut_before_a_heading() -> None:
    document = Document(name="code", body="# One\n\ntext\n\n# Two\n\ntext\n")
    assert beginning(document, 20).body == "# One\n\ntext\n\n"
    assert beginning(document, 1_000) is document


def test_made_lists_and_tables_have_as_many_lines_as_asked() -> None:
    assert short_list(20).body.count("\n- ") == long_list(20).body.count("\n- ") == 20
    assert table(20).body.count("\n| ") == 21  # and the header


# ------------------------------------------------------------------ where a chunk lies

_BODY = """# 1 Fences

Fences *may* be 6 feet high. Corner lots: 3 feet. Reserved.

| Zone | Height |
|---|---|
| R-1 | 6 |

# 2 Decks

Reserved.
"""
_ITEMS = {
    "h1": "1 Fences",
    "t1": "Fences may be 6 feet high. Corner lots: 3 feet. Reserved.",
    "b1": "Zone Height R-1 6",
    "h2": "2 Decks",
    "t2": "Reserved.",
}


def _chunked(*chunks: tuple[str, tuple[str, ...]]) -> Chunked:
    made = tuple(HybridChunk(words=text, text=text, items=items) for text, items in chunks)
    return Chunked(seconds=0, converted=0, count=len(made), chunks=made, items=_ITEMS)


@pytest.mark.parametrize(
    ("text", "items", "found"),
    [
        (_ITEMS["t1"], ("t1",), "Fences *may* be 6 feet high. Corner lots: 3 feet. Reserved"),
        ("Corner lots: 3 feet.", ("t1",), "Corner lots: 3 feet"),
        ("Reserved.", ("t2",), "Reserved"),
        ("R-1, Height = 6", ("b1",), "Zone | Height |\n|---|---|\n| R-1 | 6"),
        ("Decks and more", ("h2", "t2"), "2 Decks\n\nReserved"),
    ],
)
def test_a_chunk_is_found_in_the_markdown_by_its_letters(
    text: str, items: tuple[str, ...], found: str
) -> None:
    (span,) = located(_BODY, _chunked((text, items)))
    assert span is not None
    assert span.of(_BODY) == found


def test_the_same_words_in_a_later_item_are_found_there() -> None:
    first, second = located(_BODY, _chunked(("Reserved.", ("t1",)), ("Reserved.", ("t2",))))
    assert first is not None
    assert second is not None
    assert first.end < _BODY.index("# 2 Decks") < second.start


def test_a_chunk_of_unknown_items_is_said_not_to_be_found() -> None:
    spans = located(_BODY, _chunked(("x", ("nothing",)), (_ITEMS["t1"], ("t1",))))
    assert spans[0] is None
    assert unlocated(spans) == 0.5


@given(st.text())
def test_letters_stand_one_for_one(text: str) -> None:
    assert len(letters(text)) == sum(c.isalnum() for c in text)


# ------------------------------------------------------------------ the other environment


@pytest.mark.parametrize("python", [Path("no-such-python"), Path(sys.executable)])
def test_a_python_without_docling_is_refused_with_the_way_to_install_it(python: Path) -> None:
    with pytest.raises(BadRequest, match=r"pip install .*docling-slim"):
        Hybrid(python, 256)
