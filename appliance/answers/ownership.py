"""Whose an answer is: a secret of the asker's own, of which the box keeps a digest only.  Pure.

The secret lies where the asker is (a browser's cookie, a file of the home's user).  It names the rows
that are theirs and opens what is sealed in them; without it nobody can, whoever runs the box included.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field

from appliance.answers.sealing import digest_under, opened, sealed

_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")  # 32 bytes, as `token_urlsafe` writes them


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """Somebody who asks."""

    token: str = field(repr=False)

    @classmethod
    def new(cls) -> Owner:
        """Return an owner whom nobody else can be."""
        return cls(token=secrets.token_urlsafe(32))

    @classmethod
    def of(cls, token: str | None) -> Owner | None:
        """Return the owner who brings this token, or None if it is none of ours."""
        return cls(token=token) if token and _TOKEN.fullmatch(token) else None

    @property
    def name(self) -> bytes:
        """Return the digest under which the store knows the owner."""
        return digest_under("owner", self.token)

    def seal(self, text: str) -> bytes:
        """Return a text as only this owner can read it."""
        return sealed(digest_under("owner's key", self.token), text, self.name)

    def open(self, box: bytes) -> str | None:
        """Return a text that was sealed for this owner, or None."""
        return opened(digest_under("owner's key", self.token), box, self.name)
