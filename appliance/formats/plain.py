"""Markdown and plain text: what is already text is kept as it stands.

Knows front matter, encodings and line ends.  Guesses no structure in a plain text but the headings
that its own numbering makes evident, and says what it found.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from appliance.corpus.frontmatter import (
    FieldError,
    Fields,
    optional_date,
    optional_text,
    split_front_matter,
)
from appliance.formats.numbered_lines import BY_NUMBER, with_headings
from appliance.formats.parsed import Parsed, Unparsable

_BYTE_ORDER_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(\S[^\n]*)$", re.MULTILINE)
# "Title" with a line of "=" or "-" below it; the heading tree knows "#" only.
_UNDERLINED = re.compile(
    r"(?:(?<=\A)|(?<=\n\n))(?P<text>[^\s#>|+*-][^\n|]*)\n(?P<line>={3,}|-{3,})[ \t]*(?=\n|\Z)"
)
_CONTROLS = re.compile(r"[\x01-\x08\x0b\x0e-\x1f\x7f]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A file's text, and what had to be assumed to read it."""

    text: str
    notes: tuple[str, ...] = ()


def decoded(raw: bytes) -> Text:
    """Return the text of bytes that are UTF-8, UTF-16 with its mark, or else Windows-1252.

    Raises Unparsable for bytes that are no text.
    """
    for mark, encoding in _BYTE_ORDER_MARKS:
        if raw.startswith(mark):
            return _as(raw[len(mark) :], encoding)
    if b"\0" in raw:
        raise Unparsable("the file is neither text nor of a format that is read here")
    try:
        return Text(text=_with_plain_line_ends(raw.decode("utf-8")))
    except UnicodeDecodeError:
        pass
    # The five bytes that Windows-1252 leaves free say that it is not that either.
    try:
        text = raw.decode("cp1252")
    except UnicodeDecodeError as error:
        raise Unparsable(
            f"the text is neither UTF-8 nor Windows-1252 (byte {error.start:,})"
        ) from None
    return Text(
        text=_with_plain_line_ends(text),
        notes=("The text is not UTF-8; it was read as Windows-1252.",),
    )


def _as(raw: bytes, encoding: str) -> Text:
    try:
        return Text(text=_with_plain_line_ends(raw.decode(encoding)))
    except UnicodeDecodeError as error:
        raise Unparsable(f"the text is not {encoding} as it says ({error.reason})") from None


def _with_plain_line_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n")


def parse_markdown_file(raw: bytes) -> Parsed:
    """Return a Markdown file; its front matter, if there is one, gives title, dates and address.

    Raises Unparsable when there is front matter that cannot be read.
    """
    read = decoded(raw)
    fields: Fields = {}
    body = read.text
    if body.startswith("---\n"):
        fields, body = _front_matter(body)
    body = _UNDERLINED.sub(_with_marks, body.lstrip("\n"))
    try:
        return Parsed(
            format="markdown",
            title=optional_text(fields, "title") or _first_heading(body),
            body=body,
            notes=read.notes,
            url=optional_text(fields, "source_url"),
            effective_from=optional_date(fields, "effective_from"),
            effective_until=optional_date(fields, "effective_until"),
        )
    except FieldError as error:
        raise Unparsable(str(error)) from None


def _front_matter(text: str) -> tuple[Fields, str]:
    """Return (fields, body); a first line of dashes that opens no front matter is a rule."""
    try:
        return split_front_matter(text)
    except FieldError as error:
        if str(error).startswith("no front matter"):
            return {}, text
        raise Unparsable(str(error)) from None


def _with_marks(match: re.Match[str]) -> str:
    marks = "#" if match["line"].startswith("=") else "##"
    return f"{marks} {match['text'].strip()}"


def _first_heading(body: str) -> str:
    match = _HEADING.search(body)
    return match[1].strip().rstrip("#").strip() if match else ""


def parse_text(raw: bytes) -> Parsed:
    """Return a plain text; its first line, if it is short, is the title."""
    read = decoded(raw)
    text = _CONTROLS.sub("", read.text)
    body = with_headings(text)
    found = body != text
    notes = (*read.notes, BY_NUMBER if found else "No line is evidently a heading: one section.")
    if text != read.text:
        notes += ("Control characters were left out.",)
    return Parsed(format="text", title=_first_line(text), body=body, notes=notes)


_LONGEST_TITLE = 120  # code points; a longer first line is a sentence of the text


def _first_line(body: str) -> str:
    line = next((s for s in map(str.strip, body.split("\n")) if s), "")
    return line if len(line) <= _LONGEST_TITLE else ""
