"""The secret of the home's own user, in a file that only this user can read.

Whoever asks on the command line owns what was asked there; another account has another home.
"""

from __future__ import annotations

import os
from pathlib import Path

from appliance.answers.ownership import Owner


def owner_of_home(home: Path) -> Owner:
    """Return the owner of a home, made at the first call.

    A home that cannot be written has none: its answers belong to somebody whom nobody is again.
    """
    path = home / "owner"
    try:
        return Owner.of(path.read_text("ascii").strip()) or _made(path)
    except FileNotFoundError:
        return _made(path)
    except OSError:
        return Owner.new()


def _made(path: Path) -> Owner:
    """Write a new secret; of two processes at once, the first one's stays."""
    owner = Owner.new()
    fresh = path.with_name(f"owner.{os.getpid()}")
    try:
        path.parent.mkdir(exist_ok=True)
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(owner.token)
        try:
            os.link(fresh, path)
        except FileExistsError:
            return Owner.of(path.read_text("ascii").strip()) or owner
        finally:
            fresh.unlink()
    except OSError:
        pass
    return owner
