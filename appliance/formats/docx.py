"""Word's .docx to Markdown: mammoth makes it HTML, with merged cells, and that is read as any HTML is.

A .docx is a zip of XML, so that it is weighed before it is opened: a file that says it
unpacks to gigabytes, or that brings entities of its own, is refused.  Pictures, headers,
footers and comments are left out, and deletions that are only tracked.  Numbers that Word
counts itself ("Section 1.01" of an automatic list) are not in the file's text; mammoth gives
lists, whose items are counted anew.  It does not know the old .doc, nor macros.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from html import unescape
from xml.parsers.expat import ExpatError

import mammoth

from appliance.formats.html import fragment_to_markdown
from appliance.formats.parsed import Parsed, Unparsable

_DOCUMENT = "word/document.xml"
_PROPERTIES = "docProps/core.xml"
# A zoning code of 600 pages unpacks to 20 MB of XML; pictures count as they are.
_MOST_UNPACKED = 300_000_000
_MOST_XML = 100_000_000  # mammoth holds it as objects, some twenty times its size
_MOST_PARTS = 10_000
# XML shrinks to a tenth, seldom to a fiftieth; the zip format's own limit is about a thousandth.
_MOST_SHRUNK = 200
_SMALL = 5_000_000  # below this it does not matter how far a part was shrunk
_TITLE = re.compile(r"<dc:title>([^<]{1,500})</dc:title>")
_TRACKED = re.compile(rb"<w:del[\s>]")
_COUNTED = re.compile(rb"<w:numId[\s/>]")
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError)


def parse_docx(raw: bytes) -> Parsed:
    """Return a Word document as Markdown; raises Unparsable for what is none, or is a bomb."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            _weigh(archive)
            document = archive.read(_DOCUMENT)
            properties = _read_if_there(archive, _PROPERTIES)
            _refuse_entities(archive)
    except _BROKEN as e:
        raise Unparsable(
            "The file is no .docx, or a damaged one: open it in Word and save it again."
        ) from e
    html, messages = _to_html(raw)
    body = fragment_to_markdown(html)
    if not body:
        raise Unparsable("The Word document holds no text: if it is a scan, send it through OCR.")
    return Parsed(
        format="docx",
        title=_title(properties, body),
        body=body,
        notes=_notes(document, messages),
    )


def _weigh(archive: zipfile.ZipFile) -> None:
    """Refuse an archive that would unpack to more than any document of a city holds."""
    parts = archive.infolist()
    if len(parts) > _MOST_PARTS:
        raise Unparsable(
            f"The .docx has {len(parts):,} parts, more than any real one: do not trust it."
        )
    total = sum(part.file_size for part in parts)
    xml = sum(part.file_size for part in parts if part.filename.endswith((".xml", ".rels")))
    shrunk = any(part.file_size > max(_SMALL, _MOST_SHRUNK * part.compress_size) for part in parts)
    if total > _MOST_UNPACKED or xml > _MOST_XML or shrunk:
        raise Unparsable(f"The .docx would unpack to {total:,} bytes: it looks like a zip bomb.")
    if _DOCUMENT not in archive.namelist():
        raise Unparsable("The zip file holds no Word document: give a .docx.")


def _refuse_entities(archive: zipfile.ZipFile) -> None:
    """Refuse XML with a document type: Word writes none, and entities in one can grow without end."""
    for part in archive.infolist():
        if part.filename.endswith((".xml", ".rels")):
            with archive.open(part) as stream:
                if b"<!DOCTYPE" in stream.read(4096):
                    raise Unparsable(
                        "The .docx declares XML entities, as Word never does: do not trust it."
                    )


def _read_if_there(archive: zipfile.ZipFile, name: str) -> str:
    return archive.read(name).decode("utf-8", "replace") if name in archive.namelist() else ""


def _to_html(raw: bytes) -> tuple[str, list[str]]:
    """Return mammoth's HTML and its warnings; no file that the document names is opened."""
    try:
        result = mammoth.convert_to_html(
            io.BytesIO(raw),
            convert_image=mammoth.images.img_element(lambda _: {"src": ""}),
            include_embedded_style_map=False,
            external_file_access=False,
            style_map="strike => s",
        )
    except (ExpatError, LookupError, ValueError, AttributeError, RecursionError) as e:
        raise Unparsable(
            "The XML of the .docx is damaged: open it in Word and save it again."
        ) from e
    return str(result.value), sorted({str(message.message) for message in result.messages})


def _title(properties: str, body: str) -> str:
    """Return the first heading at the top, else the title that Word was told; it often was not."""
    first = next((line for line in body.splitlines() if line.strip()), "")
    if first.startswith("#"):
        return first.lstrip("#").strip()
    told = _TITLE.search(properties)
    title = unescape(told[1]).strip() if told else ""
    return "" if title.startswith("Microsoft Word") else title


def _notes(document: bytes, messages: list[str]) -> tuple[str, ...]:
    notes = []
    if _TRACKED.search(document):
        notes.append(
            "The file has tracked changes: deleted words are left out, inserted ones kept."
        )
    if _COUNTED.search(document):
        notes.append(
            "Word counts numbers of its lists itself: labels may differ from the printed ones."
        )
    unknown = sum(message.startswith("Unrecognised") for message in messages)
    if unknown:
        notes.append(
            f"{unknown} styles of the file are unknown: headings among them became paragraphs."
        )
    return tuple(notes)
