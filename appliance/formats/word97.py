"""Old Word files (.doc of 1997 to 2003) to Markdown, by way of .docx.

Knows that the converter wants files; the caller's process has a folder of its own to write in.  The
piece table, fields, lists and tables of the binary form are the converter's business, headings and
pipe tables the .docx parser's.  Where styles mark no heading, as in most old files, the numbers do.
"""

from __future__ import annotations

import re
import tempfile
from dataclasses import replace
from pathlib import Path

from doc2docx import convert
from doc2docx.errors import Doc2DocxError

from appliance.formats.docx import parse_docx
from appliance.formats.numbered_lines import BY_NUMBER, with_headings
from appliance.formats.parsed import Parsed, Unparsable

_HEADING = re.compile(r"^#{1,6} (?P<text>.*)$", re.MULTILINE)


def parse_word97(raw: bytes) -> Parsed:
    """Return an old Word document as Markdown.  Raises Unparsable."""
    with tempfile.TemporaryDirectory(prefix="permitbox-doc-") as folder:
        old, new = Path(folder) / "file.doc", Path(folder) / "file.docx"
        old.write_bytes(raw)
        try:
            convert(old, new)
        except Doc2DocxError as error:
            raise Unparsable(f"the Word file cannot be read ({error})") from None
        parsed = parse_docx(new.read_bytes())
    body = parsed.body if _HEADING.search(parsed.body) else with_headings(parsed.body)
    notes = parsed.notes if body == parsed.body else (*parsed.notes, BY_NUMBER)
    return replace(parsed, format="doc", title=_title(parsed, body), body=body, notes=notes)


def _title(parsed: Parsed, body: str) -> str:
    """Return the title; of a file whose first heading was recognised by its number, that one."""
    first = _HEADING.match(body)
    return first["text"].strip() if first and body != parsed.body else parsed.title
