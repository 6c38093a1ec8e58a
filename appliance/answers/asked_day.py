"""The day whose law a question asks for: "what applied in March 2019?", "as of 2020-05-01".  Pure.

Years stand in questions for other reasons ("my house was built in 1965"), so that a day counts only
beside words that ask for the law of that time.
"""

from __future__ import annotations

import re
from datetime import date

from appliance.corpus.figures import Figure, figures

_NEAR = 120  # code points before a day that may say what it is the day of
_AS_OF = re.compile(r"\bas\s+(?:of|at)\s+\Z", re.IGNORECASE)
_THEN = re.compile(r"\b(?:back\s+in|in|on|during|at)\s+\Z", re.IGNORECASE)
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
    for figure in figures(question):
        if question[figure.span.end : figure.span.end + 1] in ("-", "/"):
            continue  # a part of what is no date
        before = question[max(0, figure.span.start - _NEAR) : figure.span.start]
        then = _THEN.search(before) and _LAW_THEN.search(before) and not _OF_ELSE.search(before)
        if (_AS_OF.search(before) or then) and (day := _day(figure)):
            return day
    return None


def _day(figure: Figure) -> date | None:
    """Return the day of a date, or the first of a month or of a year."""
    value = int(figure.value)
    if figure.unit == "month of year":
        value = value * 100 + 1
    elif not figure.unit and re.fullmatch(r"(?:19|20)\d\d", figure.text):
        value = value * 10_000 + 101
    elif figure.unit != "date":
        return None
    try:
        return date(value // 10_000, value // 100 % 100, value % 100)
    except ValueError:
        return None
