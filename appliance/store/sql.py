"""The statements of the .sql files beside this, by name; identifiers are put in safely.  No connection."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from psycopg import sql

_NAME = re.compile(r"^-- name: (\w+)[^\n]*\n", re.MULTILINE)


@cache
def _texts() -> dict[str, str]:
    texts: dict[str, str] = {}
    for file in files("appliance.store").iterdir():
        if file.name.endswith(".sql"):
            parts = _NAME.split(file.read_text("utf-8"))
            named = zip(parts[1::2], (p.strip().rstrip(";") for p in parts[2::2]), strict=True)
            for name, text in named:
                assert name not in texts, f"two statements are called {name}"
                texts[name] = text
    return texts


def statement(name: str, **identifiers: str) -> sql.Composed:
    """Return a statement; each `{x}` becomes the quoted identifier given for it.

    Raises KeyError for a name that no file has.
    """
    names: dict[str, sql.Composable] = {k: sql.Identifier(v) for k, v in identifiers.items()}
    text = _texts()[name]
    if "{section_columns}" in text:
        names["section_columns"] = sql.SQL(_without_comments(_texts()["section_columns"]))
    return sql.SQL(text).format(**names)  # our own file, not user text


def _without_comments(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("--"))


@cache
def migrations() -> tuple[tuple[int, str, str], ...]:
    """Return (number, name, text) of every migration, ascending."""
    folder = files("appliance.store").joinpath("migrations")
    found = [(f.name, f.read_text("utf-8")) for f in folder.iterdir() if f.name.endswith(".sql")]
    return tuple(sorted((int(name.split("_", 1)[0]), name, text) for name, text in found))
