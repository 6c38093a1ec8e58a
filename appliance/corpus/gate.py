"""The gate: what no body of law may hold.  Pure; returns reasons, never edits."""

from __future__ import annotations

import re

# The longest real record known is 0.2 M code points, the longest whole code 5 M; beyond this a file
# is something else.
LONGEST = 30_000_000

_SCRIPT = re.compile(r"\A\s*<(?:script|!doctype|html)\b", re.IGNORECASE)
_SURROGATE = re.compile("[\ud800-\udfff]")


def objections(body: str, *, stub_allowed: bool = False, dead: bool = False) -> tuple[str, ...]:
    """Return the reasons to turn a body away; an empty tuple lets it pass.

    Section records may be empty stubs ("[Repealed]" in the heading, no text): `stub_allowed`.  Of a
    `dead` one, repealed or reserved, only the number counts, which the registry must know: a
    publisher's error page in place of its text does no harm, as it is never searched or cited.
    """
    reasons = []
    if "\0" in body:
        reasons.append("the text holds NUL characters: the file is binary or damaged")
    if _SURROGATE.search(body):
        reasons.append("the text holds halves of characters (surrogates): it was decoded wrongly")
    if len(body) > LONGEST:
        reasons.append(f"the text is longer than {LONGEST:,} characters")
    if not dead and _SCRIPT.match(body):
        reasons.append("the text is a web page or script, not law text")
    if not stub_allowed and not body.strip():
        reasons.append("the text is empty")
    return tuple(reasons)
