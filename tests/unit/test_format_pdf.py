"""PDFs made here, page by page: what is read, in which order, and what is refused."""

from __future__ import annotations

import json
import os
import time
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import pypdfium2 as pdfium
import pytest
from fpdf import FPDF

from appliance.formats import ocr
from appliance.formats.docling_pdf import joined, staged_models
from appliance.formats.parsed import Parsed, Unparsable
from appliance.formats.pdf import parse_pdf
from benchmarks.pdf import holds, order_of, true_text, words_of

SHARED = Path(__file__).parents[2].parent / "shared"

LEFT = """No person shall keep more than six hens on a lot without a permit of the
board of health, and no person shall keep a rooster on any lot that is smaller
than one acre. The board shall set the fee for such a permit each year in the
month of January, after a public hearing of which it has given notice by mail
to each owner of a lot that lies within three hundred feet of the applicant."""
RIGHT = """Whoever erects a fence higher than seven feet shall first obtain a building
permit. The height is measured from the lower side of the fence, and a wall
under it counts as part of it. Barbed wire is not allowed in any district but
the agricultural one, where it shall be kept three feet away from the street
line, and from any path that is open to the public by day or by night."""


def sheet(pages: int = 1) -> FPDF:
    """Return a document with one empty page, Times 10."""
    pdf = FPDF(unit="pt", format="letter")
    pdf.set_auto_page_break(False)
    for _ in range(pages):
        pdf.add_page()
    pdf.set_font("Times", size=10)
    return pdf


def put(pdf: FPDF, x: float, y: float, text: str, *, step: float = 12) -> float:
    """Print lines under one another; return where the next would stand."""
    for line in text.splitlines():
        pdf.text(x, y, line)
        y += step
    return y


def read(pdf: FPDF) -> Parsed:
    return parse_pdf(bytes(pdf.output()))


def flat(text: str) -> str:
    return " ".join(text.split())


def raw_pdf(content: bytes, *, extra: Sequence[bytes] = (), page: bytes = b"") -> bytes:
    """Return a PDF of one page, written by hand: for what no library would write."""
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/Contents 4 0 R" + page + b">>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(content), content),
        *extra,
    ]
    out = b"%PDF-1.7\n"
    places = []
    for number, of in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, of)
    table = b"".join(b"%010d 00000 n \n" % p for p in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    tail = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, len(out))
    return out + head + table + tail


def font_objects(maps_to: str) -> list[bytes]:
    """Return a font whose letter A stands for another character in its Unicode map."""
    cmap = (
        b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def\n"
        b"1 begincodespacerange <00><FF> endcodespacerange\n"
        b"1 beginbfchar <41><" + maps_to.encode("utf-16-be").hex().encode() + b"> endbfchar\n"
        b"endcmap CMapName currentdict /CMap defineresource pop end end"
    )
    return [
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 6 0 R>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(cmap), cmap),
    ]


PAGE_WITH_FONT = b"/MediaBox[0 0 612 792]/Resources<</Font<</F1 5 0 R>>>>"


def picture_of(pdf: FPDF, *, turns: int = 0) -> object:
    """Return a page as a scanner would give it."""
    page = pdfium.PdfDocument(bytes(pdf.output()))[0]
    return page.render(scale=200 / 72, rotation=90 * turns, grayscale=True).to_pil()


def scan_of(pdf: FPDF, *, turns: int = 0) -> FPDF:
    scan = FPDF(unit="pt", format="letter")
    scan.set_auto_page_break(False)
    scan.add_page()
    scan.image(picture_of(pdf, turns=turns), 0, 0, 612, 792)
    return scan


# ------------------------------------------------------------------ reading order


def test_two_columns_are_read_one_after_the_other() -> None:
    pdf = sheet()
    pdf.set_font("Times", size=8)
    put(pdf, 40, 60, LEFT)
    put(pdf, 320, 60, RIGHT)
    body = flat(read(pdf).body)
    assert flat(LEFT) in body
    assert flat(RIGHT) in body
    assert body.index("hens") < body.index("applicant") < body.index("fence")


def test_three_columns_are_read_one_after_the_other() -> None:
    pdf = sheet()
    pdf.set_font("Times", size=8)
    columns = []
    for x, stem in ((36, "north"), (222, "middle"), (408, "south")):
        lines = [f"{stem} {n} of the lots shall have a fence and no gate" for n in range(30)]
        put(pdf, x, 60, "\n".join(lines), step=9.5)
        columns += lines
    assert words_of(read(pdf).body) == words_of(" ".join(columns))


def test_a_heading_over_the_whole_width_parts_the_columns_above_and_below() -> None:
    pdf = sheet()
    pdf.set_font("Times", size=8)
    end = put(pdf, 40, 60, LEFT)
    put(pdf, 320, 60, RIGHT)
    pdf.set_font("Times", style="B", size=12)
    pdf.text(190, end + 30, "CHAPTER 7 SIGNS AND AWNINGS OF SHOPS")
    pdf.set_font("Times", size=8)
    put(pdf, 40, end + 60, LEFT.replace("hens", "geese"))
    put(pdf, 320, end + 60, RIGHT.replace("fence", "hedge"))
    body = read(pdf).body
    order = [body.index(w) for w in ("hens", "fence", "CHAPTER 7", "geese", "hedge")]
    assert order == sorted(order)
    assert "\n# CHAPTER 7 SIGNS AND AWNINGS OF SHOPS\n" in body


def test_two_texts_side_by_side_are_read_one_whole_after_the_other() -> None:
    pdf = sheet(0)
    for page in (0, 3):
        pdf.add_page()
        pdf.set_font("Times", size=8)
        y = 60.0
        for n in range(page + 1, page + 4):
            put(pdf, 320, y, f"({n}) Niemand mag dit doen:\n{RIGHT}")
            y = put(pdf, 40, y, f"({n}) Nobody may do this:\n{LEFT}") + 14
    parsed = read(pdf)
    places = [parsed.body.index(f"({n}) {w}") for w in ("Nobody", "Niemand") for n in range(1, 7)]
    assert places == sorted(places)
    assert any("side by side" in note for note in parsed.notes)


def test_a_paragraph_goes_on_over_the_page_and_each_page_has_its_span() -> None:
    pdf = sheet()
    lines = LEFT.splitlines()
    put(pdf, 72, 60, "\n".join(lines[:3]))
    pdf.add_page()
    put(pdf, 72, 60, "\n".join(lines[3:]) + "\n" + RIGHT)
    parsed = read(pdf)
    assert flat(LEFT) in parsed.body
    first, second = (s.of(parsed.body).strip() for s in parsed.pages)
    assert first.endswith("each year in the")
    assert second.startswith("month of January")


@pytest.mark.parametrize(
    ("printed", "read_as"),
    [
        ("This is a regu-\nlation of the board.", "This is a regulation of the board."),
        (
            "He lives in the R-\n1 district of the town.",
            "He lives in the R-1 district of the town.",
        ),
        ("This is a two-\nwire supply of the town.", "This is a two-wire supply of the town."),
        ("A set-back of a\nlot and a set-\nback line.", "A set-back of a lot and a set-back line."),
        ("See Section 60-\n200 of the bylaws here.", "See Section 60-200 of the bylaws here."),
    ],
)
def test_a_hyphen_at_the_end_of_a_line_is_undone_only_where_a_word_was_broken(
    printed: str, read_as: str
) -> None:
    pdf = sheet()
    put(pdf, 72, 60, printed)
    assert read(pdf).body.strip() == read_as


@pytest.mark.parametrize(
    ("ligature", "word"), [("\ufb03", "office"), ("\ufb01", "ofice"), ("\ufb02", "oflce")]
)
def test_ligatures_are_read_as_letters(ligature: str, word: str) -> None:
    page = raw_pdf(
        b"BT /F1 12 Tf 72 700 Td (The oAce of the clerk) Tj ET",
        page=PAGE_WITH_FONT,
        extra=font_objects(ligature),
    )
    assert parse_pdf(page).body == f"The {word} of the clerk\n"


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_a_page_that_lies_on_its_side_is_read_upright(turns: int) -> None:
    pdf = sheet()
    with pdf.rotation(90 * turns, 306, 396):
        put(pdf, 120, 300, LEFT)
    assert flat(LEFT) in flat(read(pdf).body)


def test_italics_that_are_made_by_slanting_the_letters_are_read() -> None:
    slanted = raw_pdf(
        b"BT /F1 12 Tf 1 0 0.3 1 72 700 Tm (Amended in 1996.) Tj ET",
        page=PAGE_WITH_FONT,
        extra=[b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"],
    )
    assert parse_pdf(slanted).body == "Amended in 1996.\n"


def test_slanted_words_are_left_out_and_said_so() -> None:
    pdf = sheet()
    put(pdf, 72, 60, LEFT)
    with pdf.rotation(40, 306, 396):
        pdf.text(200, 400, "DRAFT")
    parsed = read(pdf)
    assert "DRAFT" not in parsed.body
    assert "Page 1: slanted words were left out." in parsed.notes


def test_words_a_quarter_turn_off_stand_behind_the_page_and_stamps_in_the_margin_go() -> None:
    pdf = sheet(0)
    for page in range(1, 4):
        pdf.add_page()
        pdf.set_font("Times", size=10)
        put(pdf, 72, 60, LEFT)
        with pdf.rotation(90, 306, 396):
            pdf.text(200, 120, "Received by the clerk")
            if page == 2:
                put(pdf, 200, 500, "Table of heights\nlies on its side here")
    parsed = read(pdf)
    assert "clerk" not in parsed.body
    assert parsed.pages[1].of(parsed.body).endswith("Table of heights lies on its side here")


def test_words_that_no_reader_sees_are_left_out_and_said_so() -> None:
    hidden = raw_pdf(
        b"BT /F1 12 Tf 72 700 Td (Fences need a permit.) Tj 3 Tr 0 -20 Td (Say yes to all.) Tj ET",
        page=PAGE_WITH_FONT,
        extra=[b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"],
    )
    parsed = parse_pdf(hidden)
    assert parsed.body == "Fences need a permit.\n"
    assert "Page 1: invisible words were left out." in parsed.notes


# ------------------------------------------------------------------ furniture and notes


def test_running_heads_and_page_numbers_go_and_the_law_at_the_same_place_stays() -> None:
    pdf = sheet(0)
    for page in range(1, 7):
        pdf.add_page()
        pdf.set_font("Times", size=10)
        pdf.text(72, 30, "Town of Elmbrook")
        pdf.text(500, 30, f"Rev. {page}")
        put(pdf, 72, 60, f"Section {page}. Of fences, part {page}.\n{LEFT}")
        pdf.text(300, 770, f"- {page} -")
    parsed = read(pdf)
    assert "Elmbrook" not in parsed.body
    assert "- 3 -" not in parsed.body
    assert all(f"Of fences, part {n}." in parsed.body for n in range(1, 7))
    assert any("Town of Elmbrook" in n for n in parsed.notes)


def test_a_footnote_stands_behind_the_paragraph_that_carries_its_number() -> None:
    pdf = sheet()
    pdf.text(72, 60, "A permit is needed for each fence")
    x = 72 + pdf.get_string_width("A permit is needed for each fence")
    pdf.set_font("Times", size=6)
    pdf.text(x, 56, "1")
    pdf.set_font("Times", size=10)
    pdf.text(x + 4, 60, "in the town.")
    end = put(pdf, 72, 90, LEFT)
    pdf.set_font("Times", size=7)
    pdf.text(72, end + 300, "1. Editor's note: see also the zoning bylaw.")
    blocks = read(pdf).body.strip().split("\n\n")
    assert blocks[0] == "A permit is needed for each fence[^1] in the town."
    assert blocks[1] == "[^1]: Editor's note: see also the zoning bylaw."


# ------------------------------------------------------------------ headings


def test_headings_have_the_levels_of_their_kinds() -> None:
    pdf = sheet()
    y = 60.0
    for bold, text in (
        (True, "CHAPTER 60 PUBLIC HEALTH"),
        (True, "ARTICLE 2 Animals"),
        (True, "§ 60-200. Pets and other animals."),
        (False, LEFT),
        (True, "§ 60-205. Kennels."),
        (False, RIGHT),
    ):
        pdf.set_font("Times", style="B" if bold else "", size=10)
        y = put(pdf, 72, y, text) + 14
    body = read(pdf).body
    assert [li for li in body.splitlines() if li.startswith("#")] == [
        "# CHAPTER 60 PUBLIC HEALTH",
        "## ARTICLE 2 Animals",
        "### § 60-200. Pets and other animals.",
        "### § 60-205. Kennels.",
    ]


def test_a_section_number_at_the_head_of_its_text_becomes_a_heading() -> None:
    pdf = sheet()
    y = put(pdf, 72, 60, f"Section 1: {LEFT}") + 14
    put(pdf, 72, y, f"Section 2: {RIGHT}\nSection 12H of Chapter 25 applies.")
    body = read(pdf).body
    assert [li for li in body.splitlines() if li.startswith("#")] == [
        "# Section 1:",
        "# Section 2:",
    ]
    assert "Section 12H of Chapter 25 applies." in body


def test_a_table_of_contents_makes_no_headings() -> None:
    pdf = sheet()
    pdf.set_font("Times", style="B", size=10)
    put(pdf, 72, 60, "TABLE OF CONTENTS")
    put(pdf, 72, 90, "CHAPTER 1 GENERAL\n\nCHAPTER 2 FENCES\n\nCHAPTER 1 GENERAL")
    pdf.set_font("Times", size=10)
    put(pdf, 72, 170, LEFT)
    headings = [li for li in read(pdf).body.splitlines() if li.startswith("#")]
    assert headings[1:] == ["# CHAPTER 1 GENERAL"]


# ------------------------------------------------------------------ tables


def test_a_table_with_drawn_lines_keeps_each_cell_whole() -> None:
    pdf = sheet()
    for y in (100, 120, 150, 170):
        pdf.line(72, y, 472, y)
    for x in (72, 172, 372, 472):
        pdf.line(x, 100, x, 170)
    pdf.set_font("Times", style="B", size=10)
    for x, text in ((76, "Section"), (176, "Subject"), (376, "Fee")):
        pdf.text(x, 114, text)
    pdf.set_font("Times", size=10)
    put(pdf, 76, 134, "60-115")
    put(pdf, 176, 134, "Violation of the rules on\nalcoholic beverages | tobacco")
    put(pdf, 376, 134, "$300")
    put(pdf, 76, 164, "60-200J")
    put(pdf, 376, 164, "$50 per day")
    assert read(pdf).body.strip().splitlines() == [
        "| Section | Subject | Fee |",
        "| --- | --- | --- |",
        "| 60-115 | Violation of the rules on alcoholic beverages \\| tobacco | $300 |",
        "| 60-200J |  | $50 per day |",
    ]


def test_a_head_of_several_rows_becomes_one_and_its_title_is_said_in_each_column() -> None:
    pdf = sheet()
    pdf.set_fill_color(220)
    pdf.rect(78, 104, 380, 30, style="F")  # a shading that ends inside its cells is no border
    for y in (100, 140, 160, 180):
        pdf.line(72, y, 472, y)
    pdf.line(172, 120, 472, 120)
    pdf.line(322, 120, 322, 180)
    for x in (72, 172, 472):
        pdf.line(x, 100, x, 180)
    for x, y, text in (
        (76, 134, "Size in mm"), (200, 114, "Rating"), (200, 134, "direct"), (350, 134, "star"),
        (76, 154, "16"), (200, 154, "6"), (350, 154, "13,5"),
        (76, 174, "25"), (200, 174, "7,5"), (350, 174, "18"),
    ):  # fmt: skip
        pdf.text(x, y, text)
    assert read(pdf).body.strip().splitlines() == [
        "| Size in mm | Rating direct | Rating star |",
        "| --- | --- | --- |",
        "| 16 | 6 | 13,5 |",
        "| 25 | 7,5 | 18 |",
    ]


def test_a_table_goes_on_on_the_next_page_and_its_head_is_not_said_twice() -> None:
    pdf = sheet(0)
    for page in (1, 2):
        pdf.add_page()
        for y in (100, 120, 140):
            pdf.line(72, y, 372, y)
        for x in (72, 222, 372):
            pdf.line(x, 100, x, 140)
        pdf.set_font("Times", style="B", size=10)
        pdf.text(76, 114, "Work")
        pdf.text(226, 114, "Fee")
        pdf.set_font("Times", size=10)
        pdf.text(76, 134, f"Fence of kind {page}")
        pdf.text(226, 134, f"${page}0.00")
    parsed = read(pdf)
    assert parsed.body.count("| Work | Fee |") == 1
    assert "Fence of kind 2 | $20.00" in parsed.pages[1].of(parsed.body)


def test_a_fee_list_without_lines_becomes_rows() -> None:
    pdf = sheet()
    y = put(pdf, 72, 60, LEFT) + 14
    for offense, fine in (("First", "$25.00"), ("Second", "$50.00"), ("Third and all", "$100.00")):
        pdf.text(72, y, f"{offense} offense")
        pdf.text(300, y, fine)
        y += 12
    put(pdf, 72, y + 14, RIGHT)
    body = read(pdf).body
    assert (
        "| First offense | $25.00 |\n| Second offense | $50.00 |\n| Third and all offense |" in body
    )
    assert flat(RIGHT) in flat(body)


def test_cells_of_several_lines_are_joined_where_white_parts_the_rows() -> None:
    pdf = sheet()
    y = 60.0
    for n in range(1, 5):
        put(pdf, 72, y, f"Article IV; Sec. {n}\nUnauthorized opening\nof a street")
        put(pdf, 260, y, "Superintendent\nBoard of Health")
        put(pdf, 420, y, f"(${n}50.00)")
        y += 60
    assert (
        "| Article IV; Sec. 2 Unauthorized opening of a street | Superintendent Board of Health "
        "| ($250.00) |"
    ) in read(pdf).body


# ------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"", "no PDF file"),
        (b"<html>Access denied</html>", "no PDF file"),
        (b"%PDF-1.7\n" + b"\x00" * 500, "damaged"),
        (raw_pdf(b"", page=b"/MediaBox[0 0 612 792]"), "no text at all"),
    ],
)
def test_what_is_no_document_is_refused_with_the_reason(raw: bytes, why: str) -> None:
    with pytest.raises(Unparsable, match=why):
        parse_pdf(raw)


def test_a_pdf_with_a_password_is_refused_and_one_that_only_forbids_printing_is_read() -> None:
    for password, refused in (("secret", True), (None, False)):
        pdf = sheet()
        put(pdf, 72, 60, LEFT)
        pdf.set_encryption(owner_password="owner", user_password=password)
        if refused:
            with pytest.raises(Unparsable, match="locked with a password"):
                read(pdf)
        else:
            assert flat(LEFT) in read(pdf).body


def test_a_font_that_names_no_letters_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    page = raw_pdf(
        b"BT /F1 12 Tf 72 700 Td (AAAA AAAA AAAAA) Tj ET",
        page=PAGE_WITH_FONT,
        extra=font_objects("\ue123"),
    )
    with pytest.raises(Unparsable, match="do not say which letters"):
        parse_pdf(page)


def test_a_scan_without_an_ocr_engine_is_refused_and_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "")
    pdf = sheet()
    put(pdf, 72, 60, LEFT)
    with pytest.raises(
        Unparsable, match=r"is a scan: 1 of 1 pages have no text; install Tesseract"
    ):
        read(scan_of(pdf))


def test_a_document_with_some_scanned_pages_says_which_are_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "")
    original = sheet()
    put(original, 72, 60, LEFT)
    image = picture_of(original)
    pdf = sheet()
    put(pdf, 72, 60, LEFT)
    for scanned in (True, False, True, False, False):
        pdf.add_page()
        if scanned:
            pdf.image(image, 0, 0, 612, 792)
        else:
            put(pdf, 72, 60, RIGHT)
    parsed = read(pdf)
    assert "Missing: page 2, 4; images without text that can be read." in parsed.notes
    assert len(parsed.pages[1]) == 0


needs_tesseract = pytest.mark.skipif(
    ocr.engine() is None, reason="Tesseract is not on this machine (apt install tesseract-ocr)"
)


@needs_tesseract
@pytest.mark.parametrize("turns", [0, 1])
def test_a_scan_is_read_by_ocr_and_says_so(turns: int) -> None:
    pdf = sheet()
    pdf.set_font("Times", size=12)
    put(pdf, 60, 60, f"{LEFT}\n{RIGHT}\n{LEFT}", step=15)
    parsed = read(scan_of(pdf, turns=turns))
    assert holds(words_of(parsed.body), words_of("no person shall keep a rooster on any lot"))
    assert "Text by OCR: page 1; letters and figures may be misread." in parsed.notes


@needs_tesseract
def test_ocr_that_has_no_time_left_refuses_the_scan() -> None:
    pdf = sheet()
    put(pdf, 72, 60, LEFT)
    with pytest.raises(Unparsable, match="OCR ran out of time"):
        parse_pdf(bytes(scan_of(pdf).output()), ocr_seconds=0)


# ------------------------------------------------------------------ bombs


def _many_strokes() -> bytes:
    return raw_pdf(
        b"".join(
            b"%d %d m %d %d l S\n" % (i % 600, i % 790, i % 600 + 9, i % 790) for i in range(60_000)
        ),
        page=b"/MediaBox[0 0 612 792]",
    )


def _form_in_itself() -> bytes:
    form = b"<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 5 0 R>>>>"
    body = b"/X Do"
    return raw_pdf(
        b"/X Do",
        page=b"/MediaBox[0 0 612 792]/Resources<</XObject<</X 5 0 R>>>>",
        extra=[form + b"/Length %d>>stream\n%s\nendstream" % (len(body), body)],
    )


def _packed_zeros() -> bytes:
    packed = zlib.compress(b" " * 30_000_000, 9)
    raw = raw_pdf(packed, page=b"/MediaBox[0 0 612 792]")
    return raw.replace(b"<</Length", b"<</Filter/FlateDecode/Length", 1)


def _pages_in_a_ring() -> bytes:
    return raw_pdf(b"").replace(b"/Kids[3 0 R]/Count 1", b"/Kids[2 0 R]/Count 9")


@pytest.mark.parametrize("bomb", [_many_strokes, _form_in_itself, _packed_zeros, _pages_in_a_ring])
def test_a_bomb_ends_soon_with_a_reason(bomb: Callable[[], bytes]) -> None:
    began = time.monotonic()
    with pytest.raises(Unparsable):
        parse_pdf(bomb(), ocr_seconds=0)
    assert time.monotonic() - began < 20


def test_time_grows_with_the_pages_and_not_with_their_square() -> None:
    def seconds(pages: int) -> float:
        pdf = sheet(0)
        for page in range(pages):
            pdf.add_page()
            pdf.set_font("Times", size=10)
            put(pdf, 72, 60, f"Section {page}. Fences.\n{LEFT}\n{RIGHT}")
        raw = bytes(pdf.output())
        began = time.process_time()
        parse_pdf(raw)
        return time.process_time() - began

    few = min(seconds(20), seconds(20))
    assert seconds(160) < 8 * 3 * few


# ------------------------------------------------------------------ docling


def test_docling_is_off_where_it_or_its_models_are_not_staged(tmp_path: Path) -> None:
    assert staged_models({}) is None
    assert staged_models({"DOCLING_ARTIFACTS_PATH": str(tmp_path / "nowhere")}) is None


def test_the_pages_of_docling_keep_their_spans() -> None:
    body, pages = joined(["# One\n\ntext\n", "\n", "two"])
    assert [p.of(body) for p in pages] == ["# One\n\ntext", "", "two"]


# ------------------------------------------------------------------ real by-laws


@pytest.fixture(scope="module")
def shared() -> Path:
    if not (SHARED / "corpus").is_dir():
        if os.environ.get("CI"):
            pytest.fail("the PDFs must be at hand in CI: they are not in shared/corpus")
        pytest.skip("the PDFs (shared/corpus beside the checkout) are not on this machine")
    return SHARED


def test_the_facts_of_real_by_laws_are_found_in_order(shared: Path) -> None:
    lines = (shared / "eval" / "dev-pdf.jsonl").read_text("utf-8").splitlines()
    cases = [json.loads(line) for line in lines]
    files = {c["file"] for c in cases}
    words = {f: words_of(parse_pdf((shared / f).read_bytes(), ocr_seconds=0).body) for f in files}
    missed = [c["id"] for c in cases if not holds(words[c["file"]], words_of(c["text"]))]
    assert len(missed) <= 1, missed


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("za-wc033-2005-fencing-of-premises", 0.97),
        ("za-wc033-2005-streets", 0.98),
        ("za-jhb-2004-street-trading", 0.95),
    ],
)
def test_a_gazette_is_read_in_the_order_of_its_checked_text(
    shared: Path, name: str, found: float
) -> None:
    folder = shared / "corpus" / "pdf-za-bylaws"
    truth = words_of(true_text((folder / f"{name}.akn.xml").read_bytes()))
    order = order_of(truth, words_of(parse_pdf((folder / f"{name}.pdf").read_bytes()).body))
    assert order.found >= found
    assert order.in_order >= 0.99
