"""The real command with a quick encoder: run as a script by the tests that kill it.

The vectors are made of a digest of the text, so that they are the same in every process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from hashlib import sha256

import numpy as np

from appliance import cli, wiring
from appliance.clients.encode import MiniLmEncoder
from appliance.ports import Vectors
from appliance.settings import Settings

SECONDS_A_TEXT = 0.001  # so that a kill meets the encoding, too


class QuickEncoder(MiniLmEncoder):
    """A twin of the encoder with its tokenizer, which makes up its vectors."""

    model = "quick"

    async def encode_documents(self, texts: Sequence[str]) -> Vectors:
        await asyncio.sleep(SECONDS_A_TEXT * len(texts))
        return np.stack([_vector(text) for text in texts])


def _vector(text: str) -> Vectors:
    seed = int.from_bytes(sha256(text.encode()).digest()[:8])
    vector = np.random.default_rng(seed).standard_normal(QuickEncoder.dimension)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def _quick(settings: Settings) -> QuickEncoder:
    return QuickEncoder(threads=1)


if __name__ == "__main__":
    wiring._encoder = _quick
    cli.main()
