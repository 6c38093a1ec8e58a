"""Chunks tile their section, keep the encoder's limit, and are cut where the law pauses."""

from __future__ import annotations

import time
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from appliance.clients.encode import _TOKENIZER, _TOKENIZER_SHA256, WordPieceTokenizer, _verified
from appliance.corpus.chunks import (
    BREADCRUMB_TOKENS,
    breadcrumb,
    chunk_section,
    embedding_input,
    fitted_breadcrumb,
)
from appliance.corpus.records import Read, read_records
from appliance.domain import Chunk, ChunkKind, Section, Span

WORDS = "The owner of a fence shall keep it in good repair. "
CLAUSE = "a person who builds a fence on the line of a lot shall ask the neighbor first; "
ROW = "| R-1 | Single family | 25 feet | 35 feet | 20 percent |\n"


@pytest.fixture(scope="module")
def tokenizer() -> WordPieceTokenizer:
    return WordPieceTokenizer(_verified(_TOKENIZER, _TOKENIZER_SHA256))


def section_of(
    body: str, start: int = 0, heading: str = "Fences", path: tuple[str, ...] = ()
) -> Section:
    return Section(
        external_id="1-1",
        citation="Sec. 1-1",
        number="1-1",
        heading=heading,
        path=path,
        span=Span(start=start, end=len(body)),
    )


def checked(body: str, section: Section, tokenizer: WordPieceTokenizer) -> tuple[Chunk, ...]:
    """Return the chunks of a section after checking what must hold of all chunks."""
    chunks = chunk_section(body, section, 3, tokenizer)
    if not section.span.of(body).strip():
        assert chunks == ()
        return chunks
    assert chunks[0].span.start == section.span.start
    assert chunks[-1].span.end == section.span.end
    crumb = fitted_breadcrumb(section, tokenizer)
    for ordinal, chunk in enumerate(chunks):
        assert chunk.ordinal == ordinal
        assert chunk.section == 3
        assert len(chunk.span) > 0
        assert chunk.text == chunk.span.of(body)
        seen = embedding_input(crumb, [t.of(body) for t in chunk.titles], chunk.text)
        assert chunk.tokens == tokenizer.count(seen) <= tokenizer.limit
        over = [*chunk.titles, *([chunk.header] if chunk.header else [])]
        assert all(o.within(section.span) and o.end <= chunk.span.start for o in over)
    for before, after in pairwise(chunks):
        assert before.span.end == after.span.start
    return chunks


PIECES = st.sampled_from(
    [
        WORDS,
        WORDS * 20,
        CLAUSE,
        ROW,
        ROW * 12,
        "   " + ROW,
        "\n\n",
        "\n(a) ",
        "\n   1. ",
        "\r\n",
        " ",
        "\t",
        "a" * 150,
        "qzxjwv" * 12 + ",",
        "x1,y2.z3-" * 60,
        "漢字條例" * 60,
        "각나다라," * 80,
        "가" * 30 + "/",
        "🏠🔥",
        "e\u0301\u0302" * 40,
        "\u0301" * 10,
        "ﬁ½İǅ",
        "\u00a0\u2003",
        "\u200b\u00ad",
        "\u202e§ 28‑105.9 ",
        "| " + "cell words " * 60 + "|" + " x |" * 40 + "\n",
    ]
)


@settings(max_examples=120)
@given(st.lists(PIECES | st.text(max_size=40), max_size=12).map("".join), st.integers(0, 30))
def test_chunks_tile_any_text_within_the_limit(tokenizer, text: str, before: int) -> None:
    body = "x" * before + text
    checked(body, section_of(body, before), tokenizer)


@settings(max_examples=60)
@given(
    st.lists(
        st.text(st.sampled_from("각나힣뷁aqzx9é漢,.-/"), min_size=1, max_size=99),
        min_size=5,
        max_size=60,
    ).map(",".join)
)
def test_text_without_blanks_is_cut_within_the_limit(tokenizer, text: str) -> None:
    checked(text, section_of(text), tokenizer)


def test_words_torn_in_two_keep_the_limit(tokenizer) -> None:
    """Half a word may have more tokens than it had as a part of the whole."""
    random = Random(3)
    for _ in range(60):
        words = ("".join(random.choices("a9é각漢", k=random.randint(1, 99))) for _ in range(100))
        text = "-".join(words)
        checked(text, section_of(text), tokenizer)


@pytest.mark.parametrize("text", ["", " ", "\n\t\r\n", "\u00a0\u2003"])
def test_a_section_without_visible_text_has_no_chunk(tokenizer, text: str) -> None:
    assert checked(text, section_of(text), tokenizer) == ()


def test_a_short_section_is_one_chunk_with_its_blanks(tokenizer) -> None:
    (chunk,) = checked("\n Six feet. \n", section_of("\n Six feet. \n"), tokenizer)
    assert chunk.text == "\n Six feet. \n"


@pytest.mark.parametrize(
    ("separator", "beginnings"),
    [
        ("\n\n", "The owner"),
        ("\n(a) ", "(a)"),
        (" (b) ", "(b)"),
        ("\n    2. ", "2."),
        ("\n\n\n  iv) ", "iv)"),
        ("\n", "The owner"),
    ],
)
def test_a_chunk_begins_where_the_law_begins_anew(
    tokenizer, separator: str, beginnings: str
) -> None:
    text = separator.join([WORDS.strip() * 1 + " " + WORDS * 4] * 12)
    chunks = checked(text, section_of(text), tokenizer)
    assert len(chunks) > 2
    assert all(c.text.startswith(beginnings) for c in chunks[1:])


def test_a_paragraph_boundary_goes_before_a_later_sentence(tokenizer) -> None:
    text = WORDS * 10 + "\n\n" + WORDS * 30
    first = checked(text, section_of(text), tokenizer)[0]
    assert first.text.endswith("\n\n")


def test_sentences_stay_whole(tokenizer) -> None:
    text = WORDS * 100
    for chunk in checked(text, section_of(text), tokenizer):
        assert chunk.text.startswith("The owner")
        assert chunk.text.endswith("repair. ")


@pytest.mark.parametrize("indentation", ["", "  ", "\t"])
def test_table_rows_stay_whole(tokenizer, indentation: str) -> None:
    table = "".join(indentation + ROW for _ in range(60))
    text = f"{WORDS}\n\n{table}\n{WORDS}"
    chunks = checked(text, section_of(text), tokenizer)
    assert len(chunks) > 4
    rows = [line for c in chunks for line in c.text.splitlines() if "|" in line]
    assert all(line.strip() == ROW.strip() for line in rows)
    assert ChunkKind.TABLE in {c.kind for c in chunks}


def test_a_row_over_the_budget_is_cut_between_its_cells(tokenizer) -> None:
    text = "".join(f"| {i} one two three four five six seven " for i in range(80)) + "|\n"
    chunks = checked(text, section_of(text), tokenizer)
    assert len(chunks) > 2
    assert all(c.text.rstrip(" ").endswith("|") or c is chunks[-1] for c in chunks)


@pytest.mark.parametrize(
    ("heading", "text", "kind"),
    [
        ("Fences", WORDS, ChunkKind.PROSE),
        ("Definitions.", WORDS, ChunkKind.DEFINITION),
        ("Terms defined", WORDS, ChunkKind.DEFINITION),
        ("Determination", WORDS, ChunkKind.PROSE),
        ("Definitions.", ROW * 3, ChunkKind.TABLE),
        ("Fences", f"{WORDS}\n{ROW}", ChunkKind.PROSE),
    ],
)
def test_a_chunk_has_its_kind(tokenizer, heading: str, text: str, kind: ChunkKind) -> None:
    (chunk,) = checked(text, section_of(text, heading=heading), tokenizer)
    assert chunk.kind is kind


@pytest.mark.parametrize(
    ("path", "heading"),
    [
        ((), "Fences"),
        ((), "word " * 5000),
        (("Title 1 " + "x " * 60, "Chapter 2", "Article 3"), "Fences"),
        (tuple(f"Level {i}" for i in range(20_000)), "Fences"),
        (("힣" * 200,), "힣각 " * 200),
        (("🏠",), "\u0301"),
    ],
)
def test_a_breadcrumb_keeps_its_limit(tokenizer, path: tuple[str, ...], heading: str) -> None:
    section = section_of("Six feet.", heading=heading, path=path)
    begin = time.process_time()
    crumb = fitted_breadcrumb(section, tokenizer)
    assert time.process_time() - begin < 2
    assert tokenizer.count(crumb) <= BREADCRUMB_TOKENS + 2
    assert crumb in breadcrumb(section)


def test_a_breadcrumb_loses_its_outer_levels_first(tokenizer) -> None:
    path = ("Title 1 " + "x " * 60, "Chapter 2", "Article 3")
    crumb = fitted_breadcrumb(section_of("", path=path), tokenizer)
    assert crumb == "Chapter 2 > Article 3 > Sec. 1-1 Fences"


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "a ",
        "a. ",
        "\n",
        " \n",
        "\n ",
        "(a) ",
        ". (a) ",
        "|",
        "| ",
        "|\n",
        "\n|",
        "漢",
        "a.",
        "\u0301",
        "1. \n",
    ],
)
def test_chunking_takes_linear_time(tokenizer, unit: str) -> None:
    text = "x" + (unit * 100_000)[:100_000] + "x"
    begin = time.process_time()
    checked(text, section_of(text), tokenizer)
    assert time.process_time() - begin < 5


@pytest.mark.parametrize(
    "pattern", ["code-nyc/sections-building.jsonl.zst", "code-va-tn-zoning/portsmouth-va.jsonl.zst"]
)
def test_giant_real_records_are_chunked_in_time(law_lines, tokenizer, pattern: str) -> None:
    for line in sorted(law_lines(pattern), key=len)[-5:]:
        read = next(read_records(line, name="law"))
        assert isinstance(read, Read)
        begin = time.process_time()
        for section in read.accepted.sections:
            chunk_section(read.accepted.document.body, section, 0, tokenizer)
        assert time.process_time() - begin < 5
        for section in read.accepted.sections:
            checked(read.accepted.document.body, section, tokenizer)


def test_real_records_are_tiled(law_lines, tokenizer) -> None:
    for line in law_lines("code-*/*.jsonl.zst", every=500):
        read = next(read_records(line, name="law"))
        if isinstance(read, Read):
            for section in read.accepted.sections:
                checked(read.accepted.document.body, section, tokenizer)
