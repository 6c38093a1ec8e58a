"""The collected text of an element to words: white space as a browser shows it, raised digits apart.

It does not know elements: line breaks and raised text come as control characters, of which
`markup.read_markup` lets none of a page through.
"""

from __future__ import annotations

import re

BREAK, RAISED, LOWERED = "\x1e", "\x1d", "\x1c"

# "ft<sup>2</sup>": a power, not a note.
_UNIT = re.compile(r"\b(?:ft|feet|foot|in|inch|inches|yd|yds|mi|mm|cm|m|km)\.?$", re.IGNORECASE)
_POWERS = {"2": "²", "3": "³"}
_ORDINAL = re.compile(r"(?:st|nd|rd|th)\b", re.IGNORECASE)
# Invisible characters: soft hyphens, zero-width spaces and joiners, marks that turn the direction of
# writing (they can make a text read otherwise than it is stored), byte-order marks inside.
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\x1f]")


def tidy(text: str) -> str:
    """Return text with white space made single and lines only where the page breaks them."""
    if RAISED in text:
        text = _set_apart(text)
    if not text.isascii():
        text = _INVISIBLE.sub("", text)
    if BREAK not in text:
        return " ".join(text.split())
    lines = (" ".join(line.split()) for line in text.split(BREAK))
    return "\n".join(line for line in lines if line)


def one_line(text: str) -> str:
    """Return text as a table cell or a heading holds it."""
    return " ".join(tidy(text).split())


def _set_apart(text: str) -> str:
    """Put raised text apart from what it is raised over, but for ordinals and powers of a unit."""
    parts: list[str] = []
    pieces = text.split(RAISED)
    parts.append(pieces[0])
    for piece in pieces[1:]:
        raised, _, rest = piece.partition(LOWERED)
        before = parts[-1][-12:]
        word = raised.strip()
        if word in _POWERS and _UNIT.search(before):
            parts.append(_POWERS[word])
        elif _ORDINAL.fullmatch(word) or not word or not before[-1:].strip():
            parts.append(raised)
        else:
            parts.append(f" {raised}")
        parts.append(rest)
    return "".join(p for p in parts).replace(LOWERED, "")
