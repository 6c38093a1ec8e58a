"""Markdown and plain text: kept as they stand, decoded without guessing in silence."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.formats.parsed import Unparsable
from appliance.formats.plain import decoded, parse_markdown_file, parse_text

LAW = "§ 1 – Über “goats”\n"


@pytest.mark.parametrize(
    ("raw", "note"),
    [
        (LAW.encode(), None),
        (b"\xef\xbb\xbf" + LAW.encode(), None),
        (b"\xff\xfe" + LAW.encode("utf-16-le"), None),
        (b"\xfe\xff" + LAW.encode("utf-16-be"), None),
        (LAW.replace("\n", "\r\n").encode("cp1252"), "Windows-1252"),
    ],
    ids=["utf-8", "mark", "little", "big", "1252"],
)
def test_every_usual_encoding_gives_the_same_text(raw: bytes, note: str | None) -> None:
    found = decoded(raw)
    assert found.text == LAW
    assert [note in n for n in found.notes] == ([True] if note else [])


@pytest.mark.parametrize("raw", [b"a\0b", b"\xff\xfea", b"caf\xe9 \x81\x8d\x8f\x90\x9d"])
def test_what_is_no_text_is_refused(raw: bytes) -> None:
    with pytest.raises(Unparsable):
        decoded(raw)


@given(st.text(st.characters(exclude_characters="\0\r\f\ufeff", exclude_categories=["Cs"])))
def test_utf8_text_comes_back_to_the_character(text: str) -> None:
    assert decoded(text.encode()).text == text


def test_front_matter_gives_title_dates_and_address() -> None:
    front = "---\ntitle: Tolls\nsource_url: https://x.org/1\neffective_from: 2024-07-01\n---\n"
    parsed = parse_markdown_file(f"{front}\n# Trolls\n\nOne goat.\n".encode())
    assert (parsed.title, parsed.url, parsed.body) == (
        "Tolls",
        "https://x.org/1",
        "# Trolls\n\nOne goat.\n",
    )
    assert parsed.effective_from == date(2024, 7, 1)


@pytest.mark.parametrize(
    ("front", "words"),
    [("a: [", "not valid YAML"), ("- x", "not a list of"), ("effective_from: soon", "not a date")],
)
def test_front_matter_that_cannot_be_read_is_refused(front: str, words: str) -> None:
    with pytest.raises(Unparsable, match=words):
        parse_markdown_file(f"---\n{front}\n---\nText.\n".encode())


@pytest.mark.parametrize(
    ("text", "body", "title"),
    [
        ("Tolls\n=====\n\nOne.\n", "# Tolls\n\nOne.\n", "Tolls"),
        ("x\n\nTolls\n-----\nOne.\n", "x\n\n## Tolls\nOne.\n", "Tolls"),
        ("# Tolls #\n\nOne.\n", "# Tolls #\n\nOne.\n", "Tolls"),
        ("One.\n\n---\n\nTwo.\n", "One.\n\n---\n\nTwo.\n", ""),
        ("---\n\nOne.\n", "---\n\nOne.\n", ""),
        ("a | b\n--- | ---\n1 | 2\n", "a | b\n--- | ---\n1 | 2\n", ""),
        ("- One\n---\n", "- One\n---\n", ""),
    ],
)
def test_underlined_titles_become_headings_and_nothing_else_does(
    text: str, body: str, title: str
) -> None:
    parsed = parse_markdown_file(text.encode())
    assert (parsed.body, parsed.title) == (body, title)


@pytest.mark.parametrize(
    ("text", "title"),
    [("\n\n  Tolls \nOne goat.", "Tolls"), ("goat " * 40, ""), ("Tolls", "Tolls")],
)
def test_a_plain_text_is_titled_by_a_short_first_line(text: str, title: str) -> None:
    parsed = parse_text(text.encode())
    assert (parsed.title, parsed.body) == (title, text)
    assert "No line is evidently a heading: one section." in parsed.notes


def test_control_characters_are_left_out_and_that_is_said() -> None:
    parsed = parse_text(b"One\x07 goat\x1b.")
    assert parsed.body == "One goat."
    assert "Control characters were left out." in parsed.notes


def test_numbered_titles_of_a_plain_text_become_headings() -> None:
    parsed = parse_text(b"CHAPTER 7 BRIDGES\n\nSec. 7-1. Tolls.\n\nOne goat.\n")
    assert parsed.body == "# CHAPTER 7 BRIDGES\n\n## Sec. 7-1. Tolls.\n\nOne goat.\n"
    assert parsed.title == "CHAPTER 7 BRIDGES"
    assert "The headings were recognised by their numbers." in parsed.notes
