"""The version of whatever makes answers: code, prompts, statements, word lists, weights.

Read from the packages' own files, so that nobody has to remember to raise a number: an answer that
another version of the box made is not given again.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable

_PACKAGES = ("appliance", "models")
_KINDS = (".py", ".sql", ".toml", ".json")


def pipeline_version(encoder: str) -> str:
    """Return the digest of this box's code and data with the encoder's name, 64 hex digits."""
    return sha256(f"{_code()}|{encoder}".encode()).hexdigest()


@cache
def _code() -> str:
    """Return the digest of all files that take part, as they were when the process first asked."""
    whole = sha256()
    for package in _PACKAGES:
        for name, file in sorted(_files(files(package), package)):
            whole.update(f"{name}\n".encode() + sha256(file.read_bytes()).digest())
    return whole.hexdigest()


def _files(folder: Traversable, name: str) -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        if entry.is_dir() and entry.name != "__pycache__":
            yield from _files(entry, f"{name}/{entry.name}")
        elif entry.name.endswith(_KINDS):
            yield f"{name}/{entry.name}", entry
