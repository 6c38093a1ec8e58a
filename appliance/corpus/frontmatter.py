"""The YAML front matter of a Markdown corpus file, and the fields that records share.

Pure: text in, values out.  Malformed input raises FieldError, whose message says
what is wrong; the gate turns that into a rejection with the file's name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime

import yaml

_FRONT = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*\r?\n", re.DOTALL | re.MULTILINE)

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")

# Beside its own error PyYAML lets these out: the 30th of February, "!!bool x", "!!timestamp x", a list
# as a key, sixty to a great power, 1,000 brackets.
_NOT_YAML = (
    yaml.YAMLError,
    ValueError,
    KeyError,
    AttributeError,
    TypeError,
    OverflowError,
    RecursionError,
)

Fields = Mapping[str, object]


class FieldError(ValueError):
    """A field of a record is missing or cannot be used; the message names it."""


def split_front_matter(text: str) -> tuple[Fields, str]:
    """Return (fields, body) of a Markdown corpus file.

    Raises FieldError when there is no front matter, it is not closed, or it is not a YAML mapping.
    """
    match = _FRONT.match(text)
    if match is None:
        raise FieldError("no front matter: the file must begin with '---', fields, and '---'")
    try:
        fields = yaml.safe_load(match[1])
    except _NOT_YAML as error:
        where = getattr(error, "problem_mark", None)
        line = f" at line {where.line + 2}" if where is not None else ""
        raise FieldError(f"the front matter is not valid YAML{line}") from error
    if not isinstance(fields, dict) or not all(isinstance(k, str) for k in fields):
        raise FieldError("the front matter is not a list of 'field: value' lines")
    return fields, text[match.end() :]


def required_text(fields: Fields, name: str) -> str:
    """Return a field that must be a non-empty string."""
    value = fields.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        raise FieldError(f"field '{name}' is missing or empty")
    return _storable(value, name)


def optional_text(fields: Fields, name: str) -> str | None:
    """Return a field that may be absent; anything but a string is refused."""
    value = fields.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise FieldError(f"field '{name}' must be text")
    if not value.strip():
        return None
    return _storable(value, name)


def text_list(fields: Fields, name: str) -> tuple[str, ...]:
    """Return a field that is a list of strings, absent meaning empty."""
    value = fields.get(name)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise FieldError(f"field '{name}' must be a list of texts")
    return tuple(_storable(v, name) for v in value if v.strip())


def _storable(value: str, name: str) -> str:
    """Return a text that a database can keep."""
    if _UNSTORABLE.search(value):
        raise FieldError(f"field '{name}' holds NUL characters or halves of characters")
    return value


def optional_date(fields: Fields, name: str) -> date | None:
    """Return a date field; absent, empty and year 1 (a publisher's "unknown") are None."""
    value = fields.get(name)
    if isinstance(value, datetime):
        value = value.date()
    if isinstance(value, str) and value.strip():
        try:
            value = datetime.fromisoformat(value.strip()).date()
        except ValueError:
            raise FieldError(f"field '{name}' is not a date like 2026-07-01: {value!r}") from None
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if not isinstance(value, date):
        raise FieldError(f"field '{name}' is not a date like 2026-07-01")
    return value if value.year > 1 else None


def optional_moment(fields: Fields, name: str) -> datetime | None:
    """Return a moment in UTC; a bare date is midnight, absent, empty and year 1 are None."""
    value = fields.get(name)
    if isinstance(value, str) and value.strip():
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            raise FieldError(f"field '{name}' is not a time like 2026-07-01T12:00:00Z") from None
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day, tzinfo=UTC)
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if not isinstance(value, datetime):
        raise FieldError(f"field '{name}' is not a time like 2026-07-01T12:00:00Z")
    if value.year == 1:
        return None
    try:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:  # the first or last hours of the calendar
        raise FieldError(f"field '{name}' is not a time of this age") from None
