"""A sentence-transformers model from a folder that the owner staged (E5, BGE, Arctic, MiniLM).

The prefixes of its roles are not put here but by `roles.in_roles`, from the manifest;
prompts that the folder itself configures are switched off, so that none comes twice.
Runs in the worker's environment only.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import Lock

import anyio.to_thread
import numpy as np

from appliance.clients.model_folder import FolderTokenizer, checked_folder
from appliance.clients.torch_library import (
    library,
    opening,
    refuse_untrained,
    running,
    unit,
    usable_device,
)
from appliance.errors import EncoderError
from appliance.ports import Reranker, Vectors

CARD_TEXTS = 32  # texts of a batch on a card; on a CPU each runs alone, see torch_library


class SentenceEncoder:
    """Texts to unit vectors by the pooling that the folder names; float32."""

    def __init__(
        self,
        path: Path,
        *,
        name: str,
        limit: int,
        device: str = "cpu",
        batch: int | None = None,
    ) -> None:
        """Open the folder; `batch` texts run together (None: what suits the device).

        Raises WeightsRefused or WorkerMissing.
        """
        folder = checked_folder(path, name=name)
        self.model = folder.model
        self.tokenizer = FolderTokenizer(folder, limit)
        self._batch = batch or (1 if usable_device(device) == "cpu" else CARD_TEXTS)
        sentences = library("sentence_transformers")
        with opening(str(path)):
            self._net = sentences.SentenceTransformer(
                str(path), device=device, local_files_only=True, trust_remote_code=False
            )
        refuse_untrained(self._net[0].auto_model, folder)
        self._net.max_seq_length = limit
        self._net.default_prompt_name = None
        self.reranker: Reranker | None = None
        self.dimension = int(self._net.get_embedding_dimension())
        self._turn = Lock()

    async def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Return (len(texts), dimension) unit vectors.  Raises EncoderError on an over-long text."""
        for text in texts:
            if (tokens := self.tokenizer.count(text)) > self.tokenizer.limit:
                raise EncoderError(
                    f"A text of {tokens} tokens is over the encoder's {self.tokenizer.limit}; "
                    "it must be chunked first, as it is never cut in silence."
                )
        return await anyio.to_thread.run_sync(self._encode, list(texts))

    async def encode_query(self, text: str) -> Vectors:
        """Return one unit vector; a query is cut to the limit (a question's gist comes first)."""
        vector: Vectors = (await anyio.to_thread.run_sync(self._encode, [text]))[0]
        return vector

    def _encode(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        with self._turn, running(EncoderError, f"Encoding with {self.model}"):
            vectors = self._net.encode(
                texts, batch_size=self._batch, convert_to_numpy=True, show_progress_bar=False
            )
        return unit(vectors)
