"""reStructuredText to Markdown: nothing that docutils takes apart or refuses is lost."""

from __future__ import annotations

import io
import re
import tarfile
from collections import Counter
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from appliance.corpus.sections import parse_markdown
from appliance.corpus.tables import find_tables
from appliance.formats.parsed import Unparsable
from appliance.formats.rst import parse_rst

RAW = Path(__file__).parents[2].parent / "shared/corpus/code-nyc/raw-rst-building.tar.zst"


def body(text: str) -> str:
    return parse_rst(text.encode()).body


def test_titles_become_headings_by_their_depth() -> None:
    text = "Bridges\n=======\n\nTolls\n-----\n\nOne goat.\n\nTrolls\n------\n\nNone.\n"
    parsed = parse_rst(text.encode())
    assert parsed.title == "Bridges"
    assert parsed.body == "# Bridges\n\n## Tolls\n\nOne goat.\n\n## Trolls\n\nNone.\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(a) One.\n\n(b) Two.\n", "(a) One.\n\n(b) Two.\n"),
        ("4. One.\n\n5. Two.\n", "4. One.\n\n5. Two.\n"),
        ("(iv) One.\n\n(v) Two.\n", "(iv) One.\n\n(v) Two.\n"),
        ("A) One.\n\nB) Two.\n", "A) One.\n\nB) Two.\n"),
        ("IX. One.\n\nX. Two.\n", "IX. One.\n\nX. Two.\n"),
        ("(a) One:\n\n    (1) goat;\n\n    (2) goats.\n", "(a) One:\n\n  (1) goat;\n\n  (2) goats.\n"),
        ("- One\n- Two\n", "- One\n\n- Two\n"),
        ("Troll\n  Who asks.\n", "Troll\n\n  Who asks.\n"),
        ("| Line one\n| Line two\n", "Line one\nLine two\n"),
        ("As follows::\n\n   kept  as\n   it is\n\n   too\n", "As follows:\n\nkept  as\nit is\n\ntoo\n"),
    ],
)  # fmt: skip
def test_numbers_and_depth_are_those_of_the_file(text: str, expected: str) -> None:
    assert body(text) == expected


def test_an_emphasised_section_line_is_a_heading_and_not_twice() -> None:
    text = (
        "Chapter 26\n==========\nSection 641.\n------------\n\n"
        "*Section 641. Department; commissioner.* ::\n\n\nThere shall be one.\n\n"
        "*Section 642. Deputies.* ::\n\n\nTwo.\n\n*Important*\n"
    )
    assert body(text) == (
        "# Chapter 26\n\n## Section 641. Department; commissioner.\n\nThere shall be one.\n\n"
        "#### Section 642. Deputies.\n\nTwo.\n\nImportant\n"
    )


def test_an_article_without_a_title_mark_stands_over_its_sections() -> None:
    text = "Title 27\n========\n\nArticle 4: Pests\n\n*§ 27-2017 Definitions.* ::\n\n\nOne.\n"
    expected = "# Title 27\n\n## Article 4: Pests\n\n### § 27-2017 Definitions.\n\nOne.\n"
    assert body(text) == expected


GRID = """
+-------+--------+
| A     | B      |
+=======+========+
| wide           |
+-------+--------+
| tall  | 1      |
|       +--------+
|       | 2      |
+-------+--------+
"""
SIMPLE = """
=====  =====
Use    Goats
=====  =====
Stone  3
Rope   1
=====  =====
"""
LIST = """
.. list-table:: Tolls
   :header-rows: 1

   * - Bridge
     - Toll
   * - Stone
     - 3 | 4
"""
HEADER_ONLY = ".. list-table::\n   :header-rows: 1\n\n   * - Filing fee\n     - Renewal fee\n"
RAGGED = (
    ".. list-table::\n   :header-rows: 1\n\n   * - Bridge\n     - Toll\n     -\n   * - Rope\n"
    "     - 1 goat\n   * - Stone, with an\n       arch\n"
)


@pytest.mark.parametrize(
    ("table", "cells"),
    [
        (GRID, ["A", "B", "wide", "tall", "1", "2"]),
        (SIMPLE, ["Use", "Goats", "Stone", "3", "Rope", "1"]),
        (LIST, ["Bridge", "Toll", "Stone", "3 \\| 4"]),
        (HEADER_ONLY, ["Filing fee", "Renewal fee"]),
        (RAGGED, ["Bridge", "Toll", "Rope", "1 goat", "Stone, with an arch"]),
    ],
    ids=["grid", "simple", "list", "header only", "ragged"],
)
def test_tables_of_every_form_keep_their_cells(table: str, cells: list[str]) -> None:
    text = body(f"Before.\n\n{table}\nAfter.\n")
    (found,) = find_tables(text)
    for cell in cells:
        assert re.search(rf"\| {re.escape(cell)} \|", found.span.of(text)), cell
    assert text.startswith("Before.")
    assert text.endswith("After.\n")


def test_a_tables_title_stands_over_it() -> None:
    assert body(LIST).startswith("Tolls\n\n| Bridge | Toll |")


def test_no_file_is_read_and_no_raw_markup_taken_over(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("swordfish", "utf-8")
    text = (
        f".. include:: {secret}\n\n.. csv-table::\n   :file: {secret}\n\n.. raw:: html\n\n"
        f"   <script>x</script>\n\n.. literalinclude:: {secret}\n\nLaw.\n"
    )
    parsed = parse_rst(text.encode())
    assert "swordfish" not in parsed.body
    assert parsed.body.rstrip().endswith("Law.")
    assert any("not well-formed" in n for n in parsed.notes)


def test_a_paragraph_of_a_hundred_thousand_characters_is_read() -> None:
    assert len(body("goat " * 20_000)) == 100_000


@pytest.mark.parametrize("raw", [b"\0\1\2", b"\xff\xfe\x00"])
def test_what_is_no_text_is_refused(raw: bytes) -> None:
    with pytest.raises(Unparsable):
        parse_rst(raw)


PROSE = st.lists(
    st.text(st.characters(min_codepoint=97, max_codepoint=122), min_size=1, max_size=9), min_size=3
).map(" ".join)


@given(st.lists(st.tuples(st.sampled_from(["(a)", "(12)", "(iv)", "", "-"]), PROSE), min_size=1))
def test_no_word_of_prose_is_lost(paragraphs: list[tuple[str, str]]) -> None:
    text = "\n\n".join(f"{mark} {prose}".strip() for mark, prose in paragraphs)
    assert Counter(re.findall(r"\w+", text)) == Counter(re.findall(r"\w+", body(text)))


# ------------------------------------------------------------------ the real code


def test_the_real_chapters_lose_no_word_of_law(law_lines: object) -> None:
    """Only directives, pictures' addresses and titles written twice may be missing."""
    seen = 0
    with (
        RAW.open("rb") as packed,
        tarfile.open(fileobj=zstandard.ZstdDecompressor().stream_reader(packed), mode="r|") as tar,
    ):
        for member in tar:
            file = tar.extractfile(member)
            if file is None or member.size > 500_000:  # the large ones only take longer
                continue
            raw = file.read()
            parsed = parse_rst(io.BytesIO(raw).getvalue())
            text = re.sub(r"^\s*\.\. image::.*$", "", raw.decode(), flags=re.MULTILINE)
            text = re.sub(
                r"^\s*(?:\.\. list-table::|:header-rows: \d)", "", text, flags=re.MULTILINE
            )
            text = re.sub(r"^(Section \S+)\n-+$", "", text, flags=re.MULTILINE)
            lost = words(text) - words(parsed.body)
            assert sum(lost.values()) <= 3, (member.name, lost)
            assert len(parse_markdown(parsed.body, city="x", document_id="d", title="t")) > 2
            seen += 1
    assert seen == 11


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text))
