"""What a file is, by its bytes; its name is only a hint, and a server's word none.

Knows the marks by which formats are told apart, and what to say of those that are not read here.
Reads nothing but the first bytes, a zip's table of contents and, of JSON, the shape.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Mapping
from enum import StrEnum

from appliance.formats.law_xml import DC_LIBRARY, USLM
from appliance.formats.parsed import Unparsable
from appliance.formats.strict_xml import names


class Format(StrEnum):
    """What a parser can be had for."""

    HTML = "html"
    PDF = "pdf"
    DOCX = "docx"
    DOC = "doc"
    AKN = "akn"
    LAW_XML = "law-xml"
    PUBLISHER_JSON = "publisher-json"
    MARKDOWN = "markdown"
    RST = "rst"
    TEXT = "text"


_HEAD = 4096  # bytes in which a format must show itself

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# How the name of a stream stands in the directory of a Word, Excel or PowerPoint file.
_WORD_STREAM = "WordDocument".encode("utf-16-le")

# What is turned away, and what a clerk can do about it.
_REFUSED = (
    (b"{\\rtf", "is Rich Text; open it in a word processor and save it as .docx"),
    (b"\x89PNG", "is a picture; text recognition is not part of this box"),
    (b"\xff\xd8\xff", "is a picture; text recognition is not part of this box"),
    (b"GIF8", "is a picture; text recognition is not part of this box"),
    (b"II*\0", "is a picture; text recognition is not part of this box"),
    (b"MM\0*", "is a picture; text recognition is not part of this box"),
    (b"\x1f\x8b", "is compressed (gzip); unpack it first"),
    (b"\x28\xb5\x2f\xfd", "is compressed (zstandard); unpack it first"),
    (b"BZh", "is compressed (bzip2); unpack it first"),
    (b"\xfd7zXZ", "is compressed (xz); unpack it first"),
    (b"7z\xbc\xaf", "is an archive (7z); unpack it first"),
    (b"Rar!", "is an archive (rar); unpack it first"),
    (b"%!PS", "is PostScript; print it to PDF first"),
)

_ROOT = re.compile(r"<(?:(?P<prefix>[\w.-]+):)?(?P<name>[A-Za-z_][\w.-]*)(?P<rest>[^>]*)")
_PROLOGUE = re.compile(
    r"\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>\[]*(?:\[.*?\])?\s*>", re.DOTALL | re.IGNORECASE
)
_DOCTYPE_HTML = re.compile(r"<!doctype\s+html|<html[\s>]", re.IGNORECASE)
# Elements with which a page or a fragment of one may begin.
_PAGE_ELEMENTS = names(
    """a article aside b base blockquote body br center dd div dl dt em embed font footer form
    frameset h1 h2 h3 h4 h5 h6 head header hr html i iframe img li link main meta nav noscript ol p
    pre script section span strong style table tbody td th title tr u ul"""
)

_DIRECTIVE = re.compile(r"^\.\. (?:[\w-]+::|_[^:\n]+:)", re.MULTILINE)
_GRID = re.compile(r"^\s*\+(?:[-=]+\+){1,}\s*$|^={2,}(?: +={2,})+\s*$", re.MULTILINE)
_ATX = re.compile(r"^ {0,3}#{1,6}[ \t]+\S", re.MULTILINE)
_PIPES = re.compile(r"^\s*\|?[ :-]*-{3,}[ :-]*\|", re.MULTILINE)
_UNDERLINED = re.compile(r"^\S[^\n]*\n(?:={4,}|-{4,})[ \t]*$", re.MULTILINE)


def format_of(raw: bytes, name: str = "") -> Format:
    """Return the format of a file's bytes.  Raises Unparsable for those that are not read here."""
    if not raw.strip():
        raise Unparsable("the file is empty")
    for mark, why in _REFUSED:
        if raw.startswith(mark):
            raise Unparsable(f"the file {why}")
    if raw.startswith(b"PK\x03\x04"):
        return _of_zip(raw)
    if raw.startswith(_OLE):
        return _of_ole(raw)
    head = _head(raw)
    if not head.lstrip().startswith("<") and b"%PDF-" in raw[:1024]:
        return Format.PDF
    return _of_text(raw, head, name.casefold())


def is_page(raw: bytes) -> bool:
    """Tell whether the bytes are a web page, whatever they are called."""
    start = _head(raw).lstrip()
    if _DOCTYPE_HTML.search(start):
        return not raw.startswith((b"%PDF-", b"PK\x03\x04", _OLE))
    try:
        return start.startswith("<") and _of_markup(start) is Format.HTML
    except Unparsable:
        return False


def _head(raw: bytes) -> str:
    """Return the first characters, enough to read marks in ASCII."""
    sample = raw[:_HEAD]
    if sample.startswith((b"\xff\xfe", b"\xfe\xff")):
        return sample.decode("utf-16", "replace").removeprefix("\ufeff")
    if sample[1:20:2].count(0) > 8 or sample[:20:2].count(0) > 8:  # UTF-16 without its mark
        return sample.replace(b"\0", b"").decode("latin-1")
    return sample.removeprefix(b"\xef\xbb\xbf").decode("latin-1")


# ------------------------------------------------------------------ containers


def _of_zip(raw: bytes) -> Format:
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as packed:
            names = frozenset(packed.namelist())
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        raise Unparsable("the file begins as a zip archive and is damaged or cut off") from None
    if "word/document.xml" in names:
        return Format.DOCX
    if "mimetype" in names and "content.xml" in names:
        raise Unparsable("the file is OpenDocument; save it as .docx")
    if any(n.startswith("xl/") for n in names):
        raise Unparsable("the file is a spreadsheet; save its sheets as tables in a .docx or .html")
    if any(n.startswith("ppt/") for n in names):
        raise Unparsable("the file is a set of slides; print it to PDF")
    if any(n.startswith("word/") for n in names):
        return Format.DOCX  # whose main part has another name
    raise Unparsable("the file is a zip archive; unpack it and parse what is inside")


def _of_ole(raw: bytes) -> Format:
    if _WORD_STREAM in raw:
        return Format.DOC
    raise Unparsable("the file is an old Office file, but not of Word; save it as PDF or .docx")


# ------------------------------------------------------------------ text


def _of_text(raw: bytes, head: str, name: str) -> Format:
    start = head.lstrip()
    if start.startswith("<"):
        return _of_markup(start)
    if start[:1] in ("{", "["):
        found = _of_json(raw)
        if found is not None:
            return found
    if _DOCTYPE_HTML.search(head):
        return Format.HTML  # behind a line of junk
    return _of_prose(start, name)


def _of_prose(start: str, name: str) -> Format:
    if name.endswith(".rst") or _DIRECTIVE.search(start) or _GRID.search(start):
        return Format.RST
    if name.endswith((".md", ".markdown")) or start.startswith("---\n"):
        return Format.MARKDOWN
    marked = any(p.search(start) for p in (_ATX, _PIPES, _UNDERLINED))
    return Format.MARKDOWN if marked else Format.TEXT


def _of_markup(start: str) -> Format:
    rest = start
    while match := _PROLOGUE.match(rest):
        rest = rest[match.end() :]
    root = _ROOT.match(rest)
    name = root["name"] if root else ""
    if name == "akomaNtoso":
        return Format.AKN
    if root and any(
        f'"{n}' in root["rest"] or f"'{n}" in root["rest"] for n in (DC_LIBRARY, *USLM)
    ):
        return Format.LAW_XML
    if _DOCTYPE_HTML.search(start) or name.casefold() in _PAGE_ELEMENTS:
        return Format.HTML
    if start.startswith("<?xml") or (root and "xmlns" in root["rest"]):
        raise Unparsable(f"the file is XML of a kind that is not read here (<{name[:40]}>)")
    return Format.HTML  # the parser and the gate will say what it is worth


def _of_json(raw: bytes) -> Format | None:
    """Return what a JSON file is; None if it is a text that only begins like one."""
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        first = raw.split(b"\n", 1)[0]
        try:
            json.loads(first)
        except (ValueError, RecursionError):
            return None
        raise Unparsable(
            "the file is JSON lines; `permitbox ingest` reads those of the corpus form"
        ) from None
    if is_publisher_json(value):
        return Format.PUBLISHER_JSON
    raise Unparsable("the file is JSON without law text (no answer of a publisher that is known)")


def is_publisher_json(value: object) -> bool:
    """Tell whether a JSON value is a publisher's answer that holds the text of sections."""
    if isinstance(value, list):
        return bool(value) and all(_is_municode_section(v) for v in value)
    if not isinstance(value, Mapping):
        return False
    if isinstance(docs := value.get("Docs"), list):
        return bool(docs) and all(_is_municode_section(d) for d in docs)
    return (
        _is_municode_section(value)
        or (isinstance(value.get("html"), str) and isinstance(value.get("title"), str))
        or (isinstance(value.get("Text"), str) and "Success" in value)
    )


def _is_municode_section(value: object) -> bool:
    return isinstance(value, Mapping) and {"Title", "Content", "NodeDepth"} <= value.keys()
