"""Texts under a key that the box does not keep: whoever cannot say the secret cannot read them.  Pure.

AES-256-GCM of `cryptography`; the key is the digest of a secret that only the asker brings (the words
of a question, a browser's token).  A wrong secret and an altered text cannot be told apart: neither
opens.
"""

from __future__ import annotations

import os
from hashlib import sha256

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_NONCE = 12  # bytes, as the mode has it; drawn at random for each text


def digest_under(purpose: str, *parts: str) -> bytes:
    """Return the 32-byte digest of some texts for one purpose; no two lists of texts share one."""
    whole = sha256(purpose.encode())
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass")
        whole.update(len(raw).to_bytes(8) + raw)
    return whole.digest()


def sealed(key: bytes, text: str, about: bytes) -> bytes:
    """Return the text under a 32-byte key; it opens only together with `about`."""
    nonce = os.urandom(_NONCE)
    return nonce + AESGCM(key).encrypt(nonce, text.encode("utf-8", "surrogatepass"), about)


def opened(key: bytes, box: bytes, about: bytes) -> str | None:
    """Return the text, or None if this key does not open it."""
    try:
        raw = AESGCM(key).decrypt(box[:_NONCE], box[_NONCE:], about)
    except (InvalidTag, ValueError):  # ValueError: too short to be anything sealed
        return None
    return raw.decode("utf-8", "surrogatepass")
