"""The day whose law a question asks for: "what applied in March 2019?", "as of 2020-05-01".  Pure.

Years stand in questions for other reasons ("my house was built in 1965"), so that a day counts only
beside words that ask for the law of that time.
"""

from __future__ import annotations

import calendar
import re
from datetime import date

_MONTHS = {name.casefold(): n for n, name in enumerate(calendar.month_name) if name}
_MONTHS |= {name.casefold(): n for n, name in enumerate(calendar.month_abbr) if name}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DAY = (
    r"(?:(?P<iso>(?:19|20)\d\d-\d\d-\d\d)"
    rf"|(?:(?P<month>{_MONTH})\.?\s+(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?:of\s+)?)?(?P<year>(?:19|20)\d\d))"
    rf"|(?:(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month2>{_MONTH})\.?,?\s+(?P<year2>(?:19|20)\d\d))"
    r"|(?P<alone>(?:19|20)\d\d))(?![\w-])"
)
_AS_OF = re.compile(rf"\bas\s+(?:of|at)\s+{_DAY}", re.IGNORECASE)
_THEN = re.compile(rf"\b(?:back\s+in|in|on|during|at)\s+{_DAY}", re.IGNORECASE)
# Words before the day that ask for the law of that time …
_LAW_THEN = re.compile(
    r"\b(?:appl(?:y|ied|ies|icable)|in\s+(?:force|effect)|(?:law|laws|rules?|code|limit|fee|requirement)s?\s+"
    r"(?:was|were|be|been)|(?:was|were|did|had)\b.{0,60}\b(?:required?|allowed|legal|permitted|need(?:ed)?|"
    r"limit|maximum|minimum|fee|law|rules?|have|say))\b",
    re.IGNORECASE,
)
# … and those that make it the day of something else.
_OF_ELSE = re.compile(
    r"\b(?:built|build|constructed|erected|installed|bought|purchased|sold|moved|added|made|dug|poured|issued"
    r"|filed|expired|completed|finished|started|began|opened|converted|enacted|adopted|passed|since)\b[^,;?]*\Z",
    re.IGNORECASE,
)


def asked_day(question: str) -> date | None:
    """Return the day whose law the question asks for; of a month or a year the first one; or None."""
    if found := _AS_OF.search(question):
        return _date(found)
    for found in _THEN.finditer(question):
        before = question[max(0, found.start() - 120) : found.start()]
        if _LAW_THEN.search(before) and not _OF_ELSE.search(before):
            return _date(found)
    return None


def _date(found: re.Match[str]) -> date | None:
    try:
        if found["iso"]:
            return date.fromisoformat(found["iso"])
        year = int(found["year"] or found["year2"] or found["alone"])
        month = _MONTHS[(found["month"] or found["month2"] or "january").casefold()]
        return date(year, month, int(found["day"] or found["day2"] or 1))
    except ValueError:
        return None
