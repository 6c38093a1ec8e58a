"""A PDF to Markdown: reading order, headings, tables, footnotes, without a model.

The rim of the room: opens the file with pypdfium2, reads each page (`pdf_page`),
sends scans to OCR (`ocr`) where an engine is at hand, and hands words to the pure
modules: furniture, tables, layout, prose.  What cannot be read is refused with the
reason; a document is never half empty without a note that says so.

It does not limit its own time and memory: whoever calls it does, from outside.
"""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import pypdfium2 as pdfium
from pypdfium2 import raw as pdfium_raw

from appliance.formats import ocr
from appliance.formats.docling_pdf import parse_with_docling, staged_models
from appliance.formats.parsed import Parsed, Unparsable
from appliance.formats.pdf_furniture import sweep
from appliance.formats.pdf_layout import Band, Item, reading_order
from appliance.formats.pdf_lines import Line
from appliance.formats.pdf_page import Page, read_page
from appliance.formats.pdf_prose import Stretch, Written, blocks_of, write
from appliance.formats.pdf_tables import Table, ruled_tables

# The largest code that we know of has about 2,500 pages in one file; memory grows with them.
MOST_PAGES = 4_000
# A page that is one image with fewer words than this has a stamp on it, but no text.
FEW_WORDS = 20
SCAN_SHARE = 0.5
# Outlines of letters, drawn stroke by stroke: so many strokes, and no word.
MANY_STROKES = 300
# More than one character in seven without a meaning: the font has no map to Unicode.
JUNK_SHARE = 0.15
# Seconds for the OCR of one document; what is left then is named as missing.
OCR_SECONDS = 600.0
# Above this part of pages without text there is no document worth indexing.
MOST_MISSING = 0.5
MOST_DOTS = 40_000_000  # of one image: a page of A2 at 300 dots an inch


def parse_pdf(raw: bytes, *, ocr_seconds: float = OCR_SECONDS) -> Parsed:
    """Return the document in a PDF as Markdown; raises Unparsable with one clear sentence."""
    if b"%PDF-" not in raw[:1024]:
        raise Unparsable("This is no PDF file: it does not begin with %PDF.")
    if (models := staged_models(os.environ)) is not None:
        return parse_with_docling(raw, models)
    with _opened(raw) as document:
        pages = list(_pages(document))
        read = _read_scans(document, pages, time.monotonic() + ocr_seconds)
        name = document.get_metadata_value("Title")
    _refuse_empty(read)
    written, notes = _written(read.pages)
    return Parsed(
        format="pdf",
        title=written.title or _named(name),
        body=written.body,
        pages=written.pages,
        notes=(*read.notes, *_page_notes(read), *notes),
    )


# ------------------------------------------------------------------ the file


@contextmanager
def _opened(raw: bytes) -> Iterator[pdfium.PdfDocument]:
    try:
        document = pdfium.PdfDocument(raw)
    except pdfium.PdfiumError as broken:
        if getattr(broken, "err_code", None) == pdfium_raw.FPDF_ERR_PASSWORD:
            raise Unparsable(
                "This PDF is locked with a password; ask the city for a copy without one."
            ) from broken
        raise Unparsable("This PDF is damaged and cannot be opened; fetch it again.") from broken
    try:
        if len(document) > MOST_PAGES:
            raise Unparsable(
                f"This PDF has {len(document):,} pages, and at most {MOST_PAGES:,} are read; split it."
            )
        yield document
    finally:
        document.close()


def _pages(document: pdfium.PdfDocument) -> Iterator[Page]:
    for position in range(len(document)):
        try:
            page = document[position]
        except pdfium.PdfiumError as broken:
            raise Unparsable(
                f"Page {position + 1} of this PDF is damaged; fetch it again."
            ) from broken
        try:
            yield read_page(page, position + 1)
        finally:
            page.close()


_FILE_NAME = re.compile(
    r"\.(?:docx?|pdf|indd|wpd|rtf|qxd)$|^microsoft word|^untitled", re.IGNORECASE
)


def _named(title: str) -> str:
    """Return the file's own title, unless it is a word processor's file name."""
    return "" if _FILE_NAME.search(title.strip()) else title.strip()


# ------------------------------------------------------------------ scans


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """The pages with what OCR added."""

    pages: tuple[Page, ...]
    by_ocr: tuple[int, ...] = ()  # numbers of pages
    layered: tuple[int, ...] = ()  # scans that came with a text layer
    unread: tuple[int, ...] = ()  # scans of which no text was won
    junk: tuple[int, ...] = ()  # of these, pages with text that means nothing
    notes: tuple[str, ...] = ()


def _is_scan(page: Page) -> bool:
    few = len(page.words) < FEW_WORDS
    drawn = not page.words and page.objects >= MANY_STROKES
    return few and (page.image_share > SCAN_SHARE or drawn)


def _is_junk(page: Page) -> bool:
    return bool(page.words) and page.junk_share > JUNK_SHARE


def _read_scans(document: pdfium.PdfDocument, pages: Sequence[Page], deadline: float) -> _Read:
    program = ocr.engine()
    done: list[Page] = []
    by_ocr: list[int] = []
    unread: list[int] = []
    notes: list[str] = []
    for page in pages:
        if not (_is_scan(page) or _is_junk(page)):
            done.append(page)
            continue
        found, why = _by_ocr(document, page, program, deadline)
        (by_ocr if found else unread).append(page.number)
        if why:
            notes.append(why)
        done.append(found or (replace(page, words=()) if _is_junk(page) else page))
    layered = tuple(
        p.number for p in pages if p.image_share > SCAN_SHARE and len(p.words) >= FEW_WORDS
    )
    return _Read(
        pages=tuple(done),
        by_ocr=tuple(by_ocr),
        layered=tuple(n for n in layered if n not in {*by_ocr, *unread}),
        unread=tuple(unread),
        junk=tuple(p.number for p in pages if _is_junk(p)),
        notes=tuple(dict.fromkeys(notes)),
    )


def _by_ocr(
    document: pdfium.PdfDocument, page: Page, program: str | None, deadline: float
) -> tuple[Page | None, str]:
    """Return the page with the words that the engine read; else None, and why if that is news."""
    if program is None:
        return None, ""
    if time.monotonic() > deadline:
        return None, "OCR ran out of time before the last pages."
    try:
        reading = _best_reading(document, page, program)
    except ocr.OcrFailed as failed:
        return None, f"Page {page.number}: {failed}."
    if not reading.words:
        return None, ""
    if reading.confidence < ocr.READABLE:
        return None, f"Page {page.number}: too poor a scan for OCR."
    return replace(page, words=reading.words, rules=(), junk_share=0.0), ""


def _best_reading(document: pdfium.PdfDocument, page: Page, program: str) -> ocr.Reading:
    image, scale = _image(document, page.number, turns=0)
    reading = ocr.read_image(image, program, 72 * scale)
    if reading.confidence >= ocr.READABLE:
        return reading
    turns = ocr.quarter_turns(image, program)
    if not turns:
        return reading
    image, scale = _image(document, page.number, turns=turns)
    return ocr.read_image(image, program, 72 * scale)


def _image(document: pdfium.PdfDocument, number: int, *, turns: int) -> tuple[ocr.Image, float]:
    """Return a page as a grey picture, and its dots a point."""
    page = document[number - 1]
    width, height = page.get_size()
    scale = min(ocr.DOTS_PER_INCH / 72, (MOST_DOTS / max(width * height, 1.0)) ** 0.5)
    bitmap = page.render(scale=scale, rotation=90 * turns, grayscale=True)
    held = bytes(bitmap.buffer)
    rows = (
        held[y * bitmap.stride : y * bitmap.stride + bitmap.width] for y in range(bitmap.height)
    )
    image = ocr.Image(width=bitmap.width, height=bitmap.height, grey=b"".join(rows))
    bitmap.close()
    page.close()
    return image, scale


def _refuse_empty(read: _Read) -> None:
    """Raise Unparsable if too little of the document could be read."""
    total, lost = len(read.pages), len(read.unread)
    if lost > MOST_MISSING * total or (lost and not any(p.words for p in read.pages)):
        raise Unparsable(_why_unread(read, total, lost))
    if not any(p.words for p in read.pages):
        raise Unparsable(f"This PDF has {total} page{'s' * (total != 1)} and no text at all.")


def _why_unread(read: _Read, total: int, lost: int) -> str:
    what = (
        f"The fonts of this PDF do not say which letters they show: {lost} of {total} pages are garbage"
        if len(read.junk) * 2 > lost
        else f"This PDF is a scan: {lost} of {total} pages have no text"
    )
    if ocr.engine() is None:
        return (
            f"{what}; install Tesseract (apt install tesseract-ocr, or brew install tesseract) and "
            "parse it again, or ask the city for the original."
        )
    said = f" ({read.notes[0].rstrip('.')})" if read.notes else ""
    return f"{what}, and OCR could not read them{said}; ask the city for the original."


def _page_notes(read: _Read) -> Iterator[str]:
    if read.unread:
        yield f"Missing: page {_ranges(read.unread)}; images without text that can be read."
    if read.by_ocr:
        yield f"Text by OCR: page {_ranges(read.by_ocr)}; letters and figures may be misread."
    if read.layered:
        yield (
            f"Page {_ranges(read.layered)}: a scan with a text layer in the file; "
            "letters and figures may be misread."
        )
    if tilted := [p.number for p in read.pages if p.tilted]:
        yield f"Page {_ranges(tilted)}: slanted words were left out."
    if hidden := [p.number for p in read.pages if p.hidden]:
        yield f"Page {_ranges(hidden)}: invisible words were left out."


def _ranges(numbers: Sequence[int]) -> str:
    """Return page numbers as people write them: "3, 7-9"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{r[0]}-{r[-1]}" if len(r) > 1 else str(r[0]) for r in runs)


# ------------------------------------------------------------------ the text


def _written(pages: Sequence[Page]) -> tuple[Written, tuple[str, ...]]:
    """Return the Markdown of read pages, and what there is to say about it."""
    # Tables first: what they repeat on each page is theirs.
    ruled = [ruled_tables(p.words, p.rules) for p in pages]
    swept = sweep([outside for _, outside in ruled], [p.height for p in pages])
    bands = [
        (*reading_order(words, tables), *aside)
        for words, (tables, _), aside in zip(swept.pages, ruled, _asides(pages), strict=True)
    ]
    stretches, parallel = _in_streams(bands)
    written = write(blocks_of(stretches), len(pages))
    notes: list[str] = []
    if swept.samples:
        shown = "; ".join(f"“{s[:60]}”" for s in swept.samples[:3])
        notes.append(f"Left out as running heads and feet: {shown}.")
    if parallel:
        notes.append(
            f"Page {_ranges(parallel)} print two texts side by side; the left one stands first, whole, "
            "and the page spans are its."
        )
    return written, tuple(notes)


def _asides(pages: Sequence[Page]) -> list[tuple[Band, ...]]:
    """Return for each page what stands on it a quarter turn off: tables laid on their side.

    A line that several pages have there is a stamp in the margin and goes.
    """
    bands = [tuple(b for words in p.aside for b in reading_order(words, ())) for p in pages]
    seen = Counter(i.text for of in bands for b in of for i in b.items if isinstance(i, Line))
    stamps = {text for text, times in seen.items() if times >= 3}
    return [
        tuple(
            Band(
                columns=(tuple(i for i in b.items if isinstance(i, Table) or i.text not in stamps),)
            )
            for b in of
        )
        for of in bands
    ]


# ------------------------------------------------------------------ two texts side by side

# A column's paragraphs begin with the numbers of the law.  Of two columns that say the same in two
# languages, most numbers stand beside their like; of two that follow one another, few do.
_LABEL = re.compile(r"(?:\(?[\dA-Za-z]{1,4}[.)]|\d+(?:\.\d+)+)(?=\s|$)")
PARALLEL_SHARE = 0.6
FEW_LABELS = 6


def _in_streams(pages: Sequence[Sequence[Band]]) -> tuple[list[Stretch], list[int]]:
    """Return the columns in reading order, and the pages that print two texts side by side.

    There, the left text is read through all its pages before the right one begins.
    """
    ours = _parallel_pages(pages)
    stretches: list[Stretch] = []
    right: list[Stretch] = []
    for number, bands in enumerate(pages, start=1):
        if number not in ours:
            stretches += right
            right = []
        for band in bands:
            columns = [Stretch(page=number, items=c) for c in band.columns]
            if number in ours and len(columns) == 2:
                stretches.append(columns[0])
                right.append(columns[1])
            else:
                stretches += columns
    return stretches + right, sorted(ours)


def _parallel_pages(pages: Sequence[Sequence[Band]]) -> set[int]:
    alike = labels = 0
    candidates: set[int] = set()
    for number, bands in enumerate(pages, start=1):
        for band in bands:
            if len(band.columns) == 2:
                pairs, count = _label_pairs(*band.columns)
                alike, labels = alike + pairs, labels + count
                candidates.add(number)
    enough = labels >= FEW_LABELS and alike >= PARALLEL_SHARE * labels
    return candidates if enough else set()


def _label_pairs(left: Sequence[Item], right: Sequence[Item]) -> tuple[int, int]:
    """Return (numbers of the left column with their like at the same height, all its numbers)."""
    there = [(m[0], li.base) for li, m in _labelled(right)]
    pairs = count = 0
    for line, match in _labelled(left):
        count += 1
        pairs += any(t == match[0] and abs(y - line.base) < 3 * line.size for t, y in there)
    return pairs, count


def _labelled(items: Sequence[Item]) -> Iterator[tuple[Line, re.Match[str]]]:
    for item in items:
        if isinstance(item, Line) and (match := _LABEL.match(item.text)):
            yield item, match
