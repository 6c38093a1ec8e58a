"""Word's .docx to Markdown: headings, merged cells, tracked changes; bombs and damage are refused."""

from __future__ import annotations

import io
import zipfile

import pytest

from appliance.formats.docx import parse_docx
from appliance.formats.parsed import Unparsable

_TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
)
_RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship '
    'Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
    'Target="word/document.xml"/></Relationships>'
)
_NAMESPACE = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def docx(body: str, *more: tuple[str, bytes]) -> bytes:
    """Pack the XML of a body as Word does."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", _TYPES)
        archive.writestr("_rels/.rels", _RELATIONS)
        archive.writestr(
            "word/document.xml", f"<w:document {_NAMESPACE}><w:body>{body}</w:body></w:document>"
        )
        for name, data in more:
            archive.writestr(name, data)
    return packed.getvalue()


def paragraph(text: str, style: str = "", run: str = "") -> str:
    named = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f'<w:p>{named}<w:r>{run}<w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def cell(text: str, *, across: int = 1, down: str = "") -> str:
    spans = f'<w:gridSpan w:val="{across}"/>' if across > 1 else ""
    merged = {"": "", "first": '<w:vMerge w:val="restart"/>', "next": "<w:vMerge/>"}[down]
    return f"<w:tc><w:tcPr>{spans}{merged}</w:tcPr>{paragraph(text)}</w:tc>"


def table(*rows: str) -> str:
    return "<w:tbl>" + "".join(f"<w:tr>{row}</w:tr>" for row in rows) + "</w:tbl>"


def test_headings_and_paragraphs_keep_their_order_and_level() -> None:
    parsed = parse_docx(docx(
        paragraph("17.20 Fences", "Heading1") + paragraph("General.") + paragraph("17.20.010 Height", "Heading2")
        + paragraph("Four feet.")
    ))  # fmt: skip
    assert parsed.format == "docx"
    assert parsed.title == "17.20 Fences"
    assert parsed.body == "# 17.20 Fences\n\nGeneral.\n\n## 17.20.010 Height\n\nFour feet."


def test_merged_cells_survive_both_ways() -> None:
    parsed = parse_docx(docx(table(
        cell("Zone", down="first") + cell("Yards", across=2),
        cell("", down="next") + cell("Front") + cell("Side"),
        cell("R-1", down="first") + cell("20") + cell("5 | 6"),
        cell("", down="next") + cell("none", across=2),
    )))  # fmt: skip
    assert parsed.body.split("\n") == [
        "| Zone | Yards / Front | Yards / Side |",
        "|---|---|---|",
        "| R-1 | 20 | 5 \\| 6 |",
        "| R-1 | none | none |",
    ]


def test_tracked_deletions_are_left_out_and_said() -> None:
    changed = (
        "<w:p><w:r><w:t>Height: </w:t></w:r><w:del><w:r><w:delText>ten</w:delText></w:r></w:del>"
        "<w:ins><w:r><w:t>nine</w:t></w:r></w:ins></w:p>"
    )
    parsed = parse_docx(docx(changed))
    assert parsed.body == "Height: nine"
    assert any("tracked changes" in note for note in parsed.notes)


def test_struck_out_words_are_marked() -> None:
    struck = paragraph("repealed", run="<w:rPr><w:strike/></w:rPr>")
    assert parse_docx(docx(struck)).body == "~~repealed~~"


@pytest.mark.parametrize(
    ("told", "title"),
    [("Fence &amp; wall rules", "Fence & wall rules"), ("Microsoft Word - x", ""), ("", "")],
)
def test_without_a_heading_the_title_is_what_word_was_told(told: str, title: str) -> None:
    properties = f"<cp xmlns:dc='x'><dc:title>{told}</dc:title></cp>".encode()
    parsed = parse_docx(docx(paragraph("Text."), ("docProps/core.xml", properties)))
    assert parsed.title == title


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "damaged"),
        (b"PK\x03\x04 not a zip", "damaged"),
        (docx(paragraph("x"))[:400], "damaged"),
        (docx("<w:p>"), "damaged"),
        (docx(""), "no text"),
        (docx(paragraph("x"), ("word/media/a.bin", b"0" * 60_000_000)), "zip bomb"),
        (docx(paragraph("x"), *((f"x{i}", b"") for i in range(10_001))), "parts"),
        (
            docx(paragraph("x"), ("word/styles.xml", b'<!DOCTYPE a [<!ENTITY b "c">]><a/>')),
            "entities",
        ),
    ],
    ids=["empty", "no zip", "cut", "bad XML", "no text", "a bomb", "too many parts", "entities"],
)
def test_what_is_no_document_is_refused_with_its_reason(raw: bytes, reason: str) -> None:
    with pytest.raises(Unparsable, match=reason):
        parse_docx(raw)


def test_a_zip_of_something_else_is_refused() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("hello.txt", "hello")
    with pytest.raises(Unparsable, match=r"give a \.docx"):
        parse_docx(packed.getvalue())


def test_deeply_nested_xml_is_refused_and_does_not_crash() -> None:
    deep = "<w:sdt><w:sdtContent>" * 5_000 + paragraph("x") + "</w:sdtContent></w:sdt>" * 5_000
    with pytest.raises(Unparsable, match="damaged"):
        parse_docx(docx(deep))
