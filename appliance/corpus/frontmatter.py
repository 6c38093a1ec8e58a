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
    except yaml.YAMLError as error:
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
    return value


def optional_text(fields: Fields, name: str) -> str | None:
    """Return a field that may be absent; anything but a string is refused."""
    value = fields.get(name)
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise FieldError(f"field '{name}' must be text")
    return value


def text_list(fields: Fields, name: str) -> tuple[str, ...]:
    """Return a field that is a list of strings, absent meaning empty."""
    value = fields.get(name)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise FieldError(f"field '{name}' must be a list of texts")
    return tuple(v for v in value if v.strip())


def optional_date(fields: Fields, name: str) -> date | None:
    """Return a date field; absent, empty and year 1 (a publisher's "unknown") are None."""
    value = fields.get(name)
    if isinstance(value, datetime):
        value = value.date()
    if isinstance(value, str) and value.strip():
        try:
            value = datetime.fromisoformat(value.strip().replace("Z", "+00:00")).date()
        except ValueError:
            raise FieldError(f"field '{name}' is not a date like 2026-07-01: {value!r}") from None
    if value is None or value == "":
        return None
    if not isinstance(value, date):
        raise FieldError(f"field '{name}' is not a date like 2026-07-01")
    return value if value.year > 1 else None


def optional_moment(fields: Fields, name: str) -> datetime | None:
    """Return a moment in UTC; a bare date is midnight."""
    value = fields.get(name)
    if isinstance(value, str) and value.strip():
        try:
            value = datetime.fromisoformat(value.strip().replace("Z", "+00:00"))
        except ValueError:
            raise FieldError(f"field '{name}' is not a time like 2026-07-01T12:00:00Z") from None
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if not isinstance(value, datetime):
        return None
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
