"""The demo reranker: late interaction over the token vectors of all-MiniLM-L6-v2.

MaxSim (Khattab and Zaharia, ColBERT, 2020, eq. 3): for each token of the question the
most similar token of the text, summed.  The weights are those that the box has open
anyway; they were not trained for this, and what it brings is not shown, so that it is
off (eval/ledger/017-ranker.md).
"""

from __future__ import annotations

from collections.abc import Sequence

import anyio.to_thread
import numpy as np

from appliance.clients.encode import MiniLmEncoder
from appliance.ports import Vectors


class LateReranker:
    """Scores by token; about as dear as encoding the texts anew."""

    def __init__(self, encoder: MiniLmEncoder) -> None:
        self._encoder = encoder
        self.model = f"maxsim of {encoder.model}"

    async def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return the mean MaxSim of the query's tokens for each text, -1 to 1."""
        return await anyio.to_thread.run_sync(self.scores_now, query, list(texts))

    def scores_now(self, query: str, texts: Sequence[str]) -> list[float]:
        """Do what `scores` does in the calling thread."""
        (asked,) = self._encoder.token_vectors([query])
        return [max_sim(asked, read) for read in self._encoder.token_vectors(texts)]


def max_sim(asked: Vectors, read: Vectors) -> float:
    """Return the mean over the rows of (m, d) unit vectors of their best cosine with (n, d) others."""
    return float(np.mean(np.max(asked @ read.T, axis=1)))
