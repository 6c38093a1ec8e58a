"""Does a section still say anything?  Repealed, reserved and expired stubs, from how codes mark them."""

from __future__ import annotations

import re

from appliance.domain import Standing

_WORDS = {
    "repealed": Standing.REPEALED,
    "rescinded": Standing.REPEALED,
    "deleted": Standing.REPEALED,
    "vacated": Standing.REPEALED,
    "superseded": Standing.REPEALED,
    "expired": Standing.EXPIRED,
    "not funded": Standing.EXPIRED,
    "reserved": Standing.RESERVED,
    "omitted": Standing.OMITTED,
    "transferred": Standing.TRANSFERRED,
    "recodified": Standing.TRANSFERRED,
    "redesignated": Standing.TRANSFERRED,
    "renumbered": Standing.TRANSFERRED,
}
_ANY = "|".join(_WORDS)
# "Licensing of towing cars. [Repealed]", "(Reserved)", "Repealed 07-16-2024 Special Agreements": the
# mark stands in brackets or alone at an end.  "Effect of repealers." and "… regulations repealed." as
# the end of a sentence are headings of living law.
# "Reserved parking spaces" and "Expired permits" are living law, too: there the word must stand for
# itself, while "Repealed Master Planned Development" is how some codes mark what they strike.
_ALONE = (
    r"(?=\s*(?:$|[^\w\s]|\d|(?:for\s+future|by|as|at|to|in\s+its\s+entirety|effective|pursuant"
    r"|former(?:ly)?|under)\b))"
)
_HEADING = re.compile(
    rf"[\[(]\s*({_ANY})\b[^\])]{{0,400}}[\])]|^\W*(?:(repealed|rescinded|deleted)\b|({_ANY})\b{_ALONE})"
    rf"|[–—-]\s*({_ANY})\.?$|^(?:secs?\.|sections?|§{{1,2}})?[\s\d.–—-]*\s({_ANY})\W{{0,9}}$",
    re.IGNORECASE,
)
# The whole text, or its first line, is the mark: "Repealed.", "[Reserved]", "Expired\nExpired."
_TEXT = re.compile(rf"^\W*({_ANY})\b(?:{_ALONE}|(?=\n))", re.IGNORECASE)
_STUB = 300  # code points; a living section that begins with such a word is longer than its mark


def standing_of(heading: str, text: str, status: str | None) -> Standing:
    """Return the standing from the record's own status, else its heading, else a stub's text."""
    if status:
        return _WORDS.get(status.strip().casefold(), Standing.IN_FORCE)
    if match := _HEADING.search(heading.strip()):
        return _WORDS[next(g for g in match.groups() if g).casefold()]
    first_line = text.strip().split("\n", 1)[0]
    if (match := _TEXT.match(first_line)) and (len(text) < _STUB or len(first_line) < 40):
        return _WORDS[match.group(1).casefold()]
    return Standing.IN_FORCE
