"""The bytes of a web page to its characters: byte-order mark, declaration, then what the bytes bear out.

Pages lie about their charset, most of all those that were moved from one server
to another.  Valid UTF-8 with characters beyond ASCII hardly occurs by chance, so
that it wins over a declaration; a page that declares UTF-8 and is not is taken
for windows-1252, the commonest charset of old city sites.  It does not know the
charset of the HTTP header, and it never guesses among alphabets.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

# The declaration must be in the first 1,024 bytes by the HTML standard; old pages put it later.
_HEAD = 4096
_DECLARED = re.compile(
    rb"""<meta[^>]{0,400}?charset\s*=\s*["']?\s*([\w:.-]{2,40})|<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.-]{2,40})""",
    re.IGNORECASE,
)
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: its mark begins with that one's
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Labels that a page may declare and that Python knows.  No UTF-7: it can hide markup from a filter.
_SINGLE_BYTE = re.compile(r"(?:iso-?8859-?\d{1,2}|windows-?125\d|cp125\d|koi8-[ru]|macintosh)")
_MULTI_BYTE = frozenset({"shift_jis", "euc-jp", "iso-2022-jp", "big5", "gbk", "gb18030", "euc-kr"})
# The HTML standard reads these as windows-1252, of which they are subsets.
_LATIN = frozenset({"iso-8859-1", "iso8859-1", "latin1", "latin-1", "us-ascii", "ascii"})
# Of the characters beyond ASCII in a page declared UTF-8, the share that may be broken before the
# declaration is disbelieved: one cut character in a page is damage, half of them are another charset.
_BROKEN = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """The characters of a page, and what had to be guessed about them."""

    text: str
    note: str | None = None


def decode(raw: bytes) -> Decoded:
    """Return the characters of a page's bytes; never fails."""
    for mark, name in _MARKS:
        if raw.startswith(mark):
            return Decoded(text=raw[len(mark) :].decode(name, "replace"))
    if wide := _utf16_without_mark(raw):
        return Decoded(
            text=raw.decode(wide, "replace"), note=f"The page was read as {wide}: it says nothing."
        )
    try:
        return Decoded(text=raw.decode("utf-8"))
    except UnicodeDecodeError:
        return _not_utf8(raw)


def _not_utf8(raw: bytes) -> Decoded:
    declared = _declared(raw)
    if declared and declared != "utf-8":
        return Decoded(text=raw.decode(declared, "replace"))
    text = raw.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    beyond = sum(not c.isascii() for c in text) if declared else broken
    if broken <= _BROKEN * beyond:
        return Decoded(text=text, note=f"{broken} characters of the page are broken UTF-8.")
    said = "declares UTF-8 and is not" if declared else "does not say its charset"
    return Decoded(
        text=raw.decode("cp1252", "replace"), note=f"The page was read as windows-1252: it {said}."
    )


def _declared(raw: bytes) -> str | None:
    """Return the charset that the page declares, as Python names it, if it is one that we read."""
    match = _DECLARED.search(raw[:_HEAD])
    if match is None:
        return None
    label = (match[1] or match[2]).decode("ascii", "replace").casefold()
    if label in _LATIN:
        return "cp1252"
    if label in {"utf-8", "utf8"} or label.startswith("utf-16"):
        return "utf-8"  # bytes in which the declaration can be read are not UTF-16
    if label in _MULTI_BYTE or _SINGLE_BYTE.fullmatch(label):
        try:
            return codecs.lookup("mac-roman" if label == "macintosh" else label).name
        except LookupError:
            return None
    return None


def _utf16_without_mark(raw: bytes) -> str | None:
    """Return which UTF-16 this is, if every second one of the first bytes is zero."""
    sample = raw[:200]
    pairs = len(sample) // 2
    if pairs < 8:
        return None
    if sample[1::2].count(0) > 0.8 * pairs and sample[::2].count(0) < 0.2 * pairs:
        return "utf-16-le"
    if sample[::2].count(0) > 0.8 * pairs and sample[1::2].count(0) < 0.2 * pairs:
        return "utf-16-be"
    return None
