"""Old Word files (.doc of 1997 to 2003) to Markdown, by way of .docx.

Knows that the converter wants files; the caller's process has a folder of its own to write in.  The
piece table, fields, lists and tables of the binary form are the converter's business, headings and
pipe tables the .docx parser's.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from doc2docx import convert
from doc2docx.errors import Doc2DocxError

from appliance.formats.docx import parse_docx
from appliance.formats.parsed import Parsed, Unparsable


def parse_word97(raw: bytes) -> Parsed:
    """Return an old Word document as Markdown.  Raises Unparsable."""
    with tempfile.TemporaryDirectory(prefix="permitbox-doc-") as folder:
        old, new = Path(folder) / "file.doc", Path(folder) / "file.docx"
        old.write_bytes(raw)
        try:
            convert(old, new)
        except Doc2DocxError as error:
            raise Unparsable(f"the Word file cannot be read ({error})") from None
        return replace(parse_docx(new.read_bytes()), format="doc")
