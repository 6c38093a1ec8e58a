"""What a file is, by its bytes: its name and a server's word count for little."""

from __future__ import annotations

import io
import json
import zipfile
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.formats.child import PARSERS
from appliance.formats.parsed import Unparsable
from appliance.formats.sniff import Format, format_of, is_page

FIXTURES = Path(__file__).parents[2].parent / "shared" / "corpus"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)


def packed(*names: str) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return whole.getvalue()


DC = "https://code.dccouncil.us/schemas/dc-library"


@pytest.mark.parametrize(
    ("raw", "name", "expected"),
    [
        (b"%PDF-1.4\n...", "x.pdf", Format.PDF),
        (b"\n\njunk %PDF-1.4\n...", "x.html", Format.PDF),
        (b"<!DOCTYPE html><title>404 %PDF-</title>", "fees.pdf", Format.HTML),
        (b"\xef\xbb\xbf  <html lang=en>", "fees.docx", Format.HTML),
        ("<html>".encode("utf-16"), "x", Format.HTML),
        ("<html><body>Fence rules".encode("utf-16-le"), "x", Format.HTML),
        (b"<p>A fragment</p>", "x.txt", Format.HTML),
        (b"<?xml version='1.0'?>\n<!-- c --><html xmlns='http://www.w3.org/1999/xhtml'>", "x", Format.HTML),
        (b"Warning: x on line 3\n<!doctype html><html>", "x", Format.HTML),
        (b"<?xml version='1.0'?>\n<!-- c -->\n<akomaNtoso xmlns='x'>", "x.html", Format.AKN),
        (b"<an:akomaNtoso xmlns:an='x'>", "x", Format.AKN),
        (f"<section xmlns='{DC}'>".encode(), "x", Format.LAW_XML),
        (f"<!DOCTYPE s [<!ENTITY a 'b'>]><section xmlns=\"{DC}\">".encode(), "x", Format.LAW_XML),
        (b'<uscDoc xmlns="http://xml.house.gov/schemas/uslm/1.0">', "x", Format.LAW_XML),
        (packed("[Content_Types].xml", "word/document.xml"), "x.zip", Format.DOCX),
        (packed("[Content_Types].xml", "word/document2.xml"), "x.doc", Format.DOCX),
        (OLE + "WordDocument".encode("utf-16-le"), "x.xls", Format.DOC),
        (b'{"Docs": [{"Title": "A", "Content": null, "NodeDepth": 2}]}', "x", Format.PUBLISHER_JSON),
        (b'{"title": "A", "html": "<p>x</p>"}', "x", Format.PUBLISHER_JSON),
        (b'{"Text": "<p>x</p>", "Success": true}', "x", Format.PUBLISHER_JSON),
        (b"[Reserved]\n", "x.txt", Format.TEXT),
        (b"{sic} One goat.\n", "x", Format.TEXT),
        (b"# Tolls\n\nOne goat.\n", "x.txt", Format.MARKDOWN),
        (b"---\ntitle: Tolls\n---\nOne goat.\n", "x", Format.MARKDOWN),
        (b"a | b\n--- | ---\n1 | 2\n", "x", Format.MARKDOWN),
        (b"One goat.\n", "x.md", Format.MARKDOWN),
        (b"Tolls\n=====\n\nOne.\n", "x.rst", Format.RST),
        (b"Tolls\n=====\n\nOne.\n", "x", Format.MARKDOWN),
        (b"Tolls\n\n.. list-table::\n\n   * - A\n", "x", Format.RST),
        (b"+---+---+\n| A | B |\n+---+---+\n", "x.txt", Format.RST),
        (b"SEC. 1. TOLLS\n\nOne goat.\n", "x.pdf", Format.TEXT),
        (b"A fence of 3 < 4 feet", "x", Format.TEXT),
    ],
)  # fmt: skip
def test_the_bytes_say_what_a_file_is(raw: bytes, name: str, expected: Format) -> None:
    assert format_of(raw, name) is expected


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "empty"),
        (b" \n\t", "empty"),
        (b"PK\x03\x04 cut off", "damaged or cut off"),
        (packed("xl/workbook.xml"), "spreadsheet"),
        (packed("ppt/presentation.xml"), "slides"),
        (packed("mimetype", "content.xml"), "OpenDocument"),
        (packed("a.txt"), "unpack it"),
        (OLE + "Workbook".encode("utf-16-le"), "not of Word"),
        (b"{\\rtf1 x}", "Rich Text"),
        (b"\x89PNG\r\n\x1a\n", "picture"),
        (b"\xff\xd8\xff\xe0", "picture"),
        (b"\x1f\x8b\x08", "gzip"),
        (b"\x28\xb5\x2f\xfd\x00", "zstandard"),
        (b"<?xml version='1.0'?><rss version='2.0'/>", "<rss>"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "<svg>"),
        (b'{"ClientID": 8130}', "JSON without law text"),
        (b"[]", "JSON without law text"),
        (b'{"a": 1}\n{"a": 2}\n', "JSON lines"),
    ],
)
def test_what_is_not_read_here_is_refused_with_what_to_do(raw: bytes, words: str) -> None:
    with pytest.raises(Unparsable, match=words):
        format_of(raw, "x")


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b" <!DOCTYPE html><html>", True),
        (b"junk\n<html lang=en>", True),
        (b"<p>A fragment</p>", True),
        ("<html>".encode("utf-16"), True),
        (b"%PDF-1.4 <html>", False),
        (packed("word/document.xml"), False),
        (b"<akomaNtoso/>", False),
        (b"<?xml version='1.0'?><rss/>", False),
        (b"# Tolls", False),
        (b"", False),
    ],
)
def test_a_web_page_is_known_whatever_it_is_called(raw: bytes, expected: bool) -> None:
    assert is_page(raw) is expected


def outcome_of(raw: bytes) -> str:
    try:
        return format_of(raw, "x").value
    except Unparsable as refused:
        return str(refused)


@given(st.binary(max_size=300))
def test_any_bytes_give_a_format_or_a_reason(raw: bytes) -> None:
    assert outcome_of(raw)


@pytest.mark.parametrize("found", Format)
def test_every_format_has_a_parser(found: Format) -> None:
    module, _, function = PARSERS[found].partition(":")
    assert callable(getattr(import_module(module), function))


def test_the_captured_answers_of_publishers_are_told_apart(law_lines: object) -> None:
    folder = FIXTURES / "fixtures-codifier-apis"
    with_text, without = set(), set()
    for path in folder.glob("*/*.json"):
        try:
            assert format_of(path.read_bytes(), path.name) is Format.PUBLISHER_JSON
            with_text.add(path.name)
        except Unparsable:
            without.add(path.name)
    assert with_text == {
        *("content_homeocc.json", "content_danville_art7.json", "render_section.json"),
        *("render_reserved.json", "content_sec_10-1.json", "content_sec_10-24.json"),
    }
    assert len(without) == 17
    for path in (FIXTURES / "pdf-za-bylaws").glob("*.pdf"):
        assert format_of(path.read_bytes(), "x") is Format.PDF
    for path in (FIXTURES / "fixtures-word").glob("*.doc"):
        assert format_of(path.read_bytes(), "x") is Format.DOC
    assert json.loads((folder / "municode/job.json").read_text("utf-8"))
