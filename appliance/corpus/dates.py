"""Days as laws state them: "120 days after it becomes law", "on January 1, 2022", "immediately".

Pure: words and the day on which the law became law in, a day out.  What a law leaves to an event
that its own words do not date ("on the same date that another law takes effect") stays without a day,
and the reason is given.
"""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import date, timedelta

from appliance.corpus.number_words import TENS, UNITS

_SMALL = "|".join(
    [*(f"{t}(?:[- ](?:{'|'.join(UNITS[1:10])}))?" for t in TENS), *reversed(UNITS[1:])]
)
NUMBER = rf"(?:(?:(?:{'|'.join(UNITS[1:10])})\s+hundred(?:\s+(?:and\s+)?(?:{_SMALL}))?)|(?:{_SMALL})|\d+)"
_ORDINALS = re.compile(
    rf"\b(?P<first>{NUMBER})\b(?:\s*(?:through|to|-|–)\s*(?P<last>{NUMBER})\b)?", re.IGNORECASE
)
# More sections than any law has: a range beyond is a misreading.
_MOST_SECTIONS = 2000


def number_of(words: str) -> int:
    """Return "one hundred and three", "twenty-seven" or "103" as a number.  Raises ValueError."""
    text = words.casefold().strip()
    if text.isdigit():
        return int(text)
    total = 0
    for word in re.split(r"[\s-]+", text):
        if word in UNITS:
            total += UNITS.index(word)
        elif word in TENS:
            total += 10 * (TENS.index(word) + 2)
        elif word == "hundred":
            total *= 100
        elif word != "and":
            raise ValueError(f"not a number: {words!r}")
    return total


def ordinals(text: str) -> set[int]:
    """Return the numbers of a list like "one through three, 7 and twenty-seven"."""
    found: set[int] = set()
    for match in _ORDINALS.finditer(text):
        first = number_of(match["first"])
        last = number_of(match["last"]) if match["last"] else first
        if first <= last <= _MOST_SECTIONS:
            found.update(range(first, last + 1))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """When something applies: a day, or the reason why there is none."""

    day: date | None
    unknown: str | None  # None if there is a day
    length: int  # code points of the words that say it


_MONTH = "|".join(m for m in calendar.month_name if m)
_DAY = re.compile(
    rf"\s*,?\s*(?:on(?:\s+and\s+after)?\s+|from\s+and\s+after\s+|as\s+of\s+)?"
    rf"(?P<month>{_MONTH})\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>\d{{4}})",
    re.IGNORECASE,
)
_BECOMING_LAW = (
    r"(?:it|they|this\s+\w+(?:\s+law)?)\s+becomes?\s+(?:a\s+)?law|becoming\s+(?:a\s+)?law"
    r"|(?:the\s+date\s+of\s+)?(?:its|their|the)?\s*(?:final\s+)?"
    r"(?:enactment|adoption|passage|approval|signing|signature)\b(?!\s+and\s+publication)"
)
_TERM = re.compile(
    rf"\s*,?\s*(?:on\s+the\s+|in\s+)?(?P<count>{NUMBER})(?:st|nd|rd|th)?\s*(?:\(\d+\)\s*)?(?:calendar\s+)?"
    rf"(?P<unit>days?|weeks?|months?|years?)(?:\s+(?:from\s+and\s+)?(?:after|following|from)\s+"
    rf"(?P<event>{_BECOMING_LAW}))?",
    re.IGNORECASE,
)
_AT_ONCE = re.compile(
    rf"\s*,?\s*(?:immediately\b|(?:upon|on|from(?:\s+and\s+after)?)\s+(?:{_BECOMING_LAW}))",
    re.IGNORECASE,
)
_WITH_ANOTHER = re.compile(
    r"\s*,?\s*(?:on|as\s+of)\s+the\s+(?:same\s+)?(?:date|day)\b", re.IGNORECASE
)
_AFTER_ELSE = re.compile(r"\s+(?:from\s+and\s+)?(?:after|following|from)\b", re.IGNORECASE)

NO_DAY_OF_LAW = "the day on which it became law is not known"
WITH_ANOTHER = "it takes effect on the day of another event"
NO_DAY = "its clause gives no day"


def moment_of(words: str, *, enacted: date | None) -> Moment:
    """Return the day that the words behind "takes effect" give, counted from the day of the law."""
    if match := _DAY.match(words):
        return _on_day(match)
    if match := _TERM.match(words):
        if match["event"] is None and _AFTER_ELSE.match(words, match.end()):
            return Moment(day=None, unknown=WITH_ANOTHER, length=match.end())
        return _counted(enacted, number_of(match["count"]), match["unit"], match.end())
    if match := _AT_ONCE.match(words):
        return _counted(enacted, 0, "days", match.end())
    if match := _WITH_ANOTHER.match(words):
        return Moment(day=None, unknown=WITH_ANOTHER, length=match.end())
    return Moment(day=None, unknown=NO_DAY, length=0)


def _on_day(match: re.Match[str]) -> Moment:
    month = [m.casefold() for m in calendar.month_name].index(match["month"].casefold())
    try:
        day = date(int(match["year"]), month, int(match["day"]))
    except ValueError:  # the 31st of June
        return Moment(day=None, unknown=NO_DAY, length=match.end())
    return Moment(day=day, unknown=None, length=match.end())


def _counted(enacted: date | None, count: int, unit: str, length: int) -> Moment:
    if enacted is None:
        return Moment(day=None, unknown=NO_DAY_OF_LAW, length=length)
    try:
        day = _later(enacted, count, unit.casefold().rstrip("s"))
    except (ValueError, OverflowError):  # beyond the calendar
        return Moment(day=None, unknown=NO_DAY, length=length)
    return Moment(day=day, unknown=None, length=length)


def _later(start: date, count: int, unit: str) -> date:
    """Return the day so many days, weeks, months or years on; a month has no 31st if it is short."""
    if unit in ("day", "week"):
        return start + timedelta(days=count * (7 if unit == "week" else 1))
    months = start.month - 1 + count * (12 if unit == "year" else 1)
    year, month = start.year + months // 12, months % 12 + 1
    return date(year, month, min(start.day, calendar.monthrange(year, month)[1]))
