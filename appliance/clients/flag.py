"""BGE-M3 and its reranker through FlagEmbedding, from folders that the owner staged.

FlagEmbedding loads the models; the loop over texts is ours.  Its own loop cuts long
texts in silence, runs the first batch twice (to find a batch that fits the memory), and
goes on with fresh random heads where their files are missing; the numbers are the same
(tests/worker).  Runs in the worker's environment only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from pickle import UnpicklingError
from threading import Lock
from typing import Any

import anyio.to_thread
import numpy as np

from appliance.clients.model_folder import FolderTokenizer, ModelFolder, checked_folder
from appliance.clients.torch_library import (
    CARD_BATCH,
    batches,
    library,
    opening,
    padded,
    refuse_untrained,
    running,
    unit,
    usable_device,
)
from appliance.errors import EncoderError, RerankerError, WeightsRefused
from appliance.ports import Encoded, Reranker, Role, Vectors

HEADS = ("colbert_linear.pt", "sparse_linear.pt")
# What FlagEmbedding leaves out of the lexical weights.
_WORDLESS = ("cls_token_id", "eos_token_id", "pad_token_id", "unk_token_id")


class FlagM3Encoder:
    """BGE-M3: dense, lexical and multi-vector of one pass (arXiv 2402.03216).

    It wants no prefix for either role.  On a CPU it runs in float32, on a card in float16.
    """

    def __init__(
        self,
        path: Path,
        *,
        name: str = "BAAI/bge-m3",
        limit: int = 8192,
        device: str = "cpu",
        batch_tokens: int | None = None,
    ) -> None:
        """Open the folder; raises WeightsRefused or WorkerMissing.

        A batch has at most `batch_tokens` tokens, padding counted: None takes what suits the device,
        and with 0 each text runs alone.
        """
        folder = checked_folder(path, name=name, heads=HEADS)
        self.model = folder.model
        self.tokenizer = FolderTokenizer(folder, limit)
        self._device = usable_device(device)
        self._batch = _batch(device) if batch_tokens is None else batch_tokens
        for head in HEADS:
            _refuse_code(folder, head)
        flag = library("FlagEmbedding")
        with opening(str(path)):
            self._flag = flag.BGEM3FlagModel(
                str(path), devices=device, use_fp16=device != "cpu", trust_remote_code=False
            )
            self._net = self._flag.model.to(device).eval()
        refuse_untrained(self._net.model, folder)
        self.reranker: Reranker | None = None
        self.dimension = int(self._net.config.hidden_size)
        self._wordless = {getattr(self._flag.tokenizer, name) for name in _WORDLESS}
        self._turn = Lock()  # two runs at once would only share the same device

    async def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Return (len(texts), dimension) unit vectors.  Raises EncoderError on an over-long text."""
        rows = [self._whole(text) for text in texts]
        return (await anyio.to_thread.run_sync(self._encode, rows, False)).dense

    async def encode_query(self, text: str) -> Vectors:
        """Return one unit vector; a query is cut to the limit (a question's gist comes first)."""
        rows = [self._cut(text)]
        vector: Vectors = (await anyio.to_thread.run_sync(self._encode, rows, False)).dense[0]
        return vector

    async def encode_all(self, texts: Sequence[str], role: Role) -> Encoded:
        """Return dense, lexical and multi-vector of the texts, of one pass."""
        ids = self._cut if role == "query" else self._whole
        rows = [ids(text) for text in texts]
        return await anyio.to_thread.run_sync(self._encode, rows, True)

    def _whole(self, text: str) -> list[int]:
        ids = self.tokenizer.ids(text)
        if len(ids) > self.tokenizer.limit:
            raise EncoderError(
                f"A text of {len(ids)} tokens is over the encoder's {self.tokenizer.limit}; "
                "it must be chunked first, as it is never cut in silence."
            )
        return ids

    def _cut(self, text: str) -> list[int]:
        """Return the ids of a text, the middle ones gone that are over the limit."""
        ids = self.tokenizer.ids(text)
        limit = self.tokenizer.limit
        return ids if len(ids) <= limit else [*ids[: limit - 1], ids[-1]]

    def _encode(self, rows: Sequence[list[int]], everything: bool) -> Encoded:
        dense = np.zeros((len(rows), self.dimension), np.float32)
        sparse: list[Mapping[int, float]] = [{} for _ in rows]
        multi: list[Vectors] = [np.zeros((0, self.dimension), np.float32) for _ in rows]
        with self._turn, running(EncoderError, f"Encoding with {self.model}"):
            for batch in batches([len(row) for row in rows], self._batch):
                out = self._run([rows[i] for i in batch], everything)
                dense[batch] = unit(out["dense_vecs"])
                for at, i in enumerate(batch if everything else ()):
                    sparse[i] = self._weights(rows[i], out["sparse_vecs"][at])
                    # The first token's vector is the dense one and not among these.
                    multi[i] = unit(out["colbert_vecs"][at, : len(rows[i]) - 1])
        return Encoded(dense=dense, sparse=sparse, multi=multi)

    def _run(self, rows: Sequence[list[int]], everything: bool) -> dict[str, Any]:
        features = {
            "input_ids": padded(rows, self._flag.tokenizer.pad_token_id).to(self._device),
            "attention_mask": padded([[1] * len(row) for row in rows], 0).to(self._device),
        }
        with library("torch").inference_mode():
            out = self._net(
                features,
                return_dense=True,
                return_sparse=everything,
                return_colbert_vecs=everything,
            )
        return {name: tensor.float().cpu().numpy() for name, tensor in out.items()}

    def _weights(self, ids: Sequence[int], weights: Vectors) -> dict[int, float]:
        """Return the largest weight of each token that bears a word."""
        largest: dict[int, float] = {}
        for token, weight in zip(ids, weights[: len(ids), 0].tolist(), strict=True):
            if token not in self._wordless and weight > largest.get(token, 0.0):
                largest[token] = weight
        return largest


class FlagCrossEncoder:
    """bge-reranker-v2-m3 or another encoder-only cross-encoder: question and text read together.

    The numbers are raw logits: 0 is even odds.  A text is cut to what the question leaves of the
    limit, and a question to three quarters of it.
    """

    def __init__(
        self,
        path: Path,
        *,
        name: str = "BAAI/bge-reranker-v2-m3",
        limit: int = 512,
        device: str = "cpu",
        batch_tokens: int | None = None,
    ) -> None:
        """Open the folder as `FlagM3Encoder` does; raises WeightsRefused or WorkerMissing."""
        folder = checked_folder(path, name=name)
        self.model = folder.model
        self._limit = FolderTokenizer(folder, limit).limit
        self._device = usable_device(device)
        self._batch = _batch(device) if batch_tokens is None else batch_tokens
        flag = library("FlagEmbedding")
        with opening(str(path)):
            self._flag = flag.FlagReranker(
                str(path), devices=device, use_fp16=device != "cpu", trust_remote_code=False
            )
            net = self._flag.model.to(device).eval()
            self._net = net if device == "cpu" else net.half()
        if self._net.config.num_labels != 1:
            raise WeightsRefused(
                f"{path} is a classifier of {self._net.config.num_labels} labels; a reranker has one."
            )
        refuse_untrained(self._net, folder)
        self._turn = Lock()

    async def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return one logit a text; a text over the limit is cut from its end.

        Raises RerankerError.
        """
        return await anyio.to_thread.run_sync(self._scores, query, list(texts))

    def _scores(self, query: str, texts: Sequence[str]) -> list[float]:
        scores = [0.0] * len(texts)
        with self._turn, running(RerankerError, f"Reranking with {self.model}"):
            pairs = self._pairs(query, texts)
            for batch in batches([len(p["input_ids"]) for p in pairs], self._batch):
                for i, score in zip(batch, self._run([pairs[i] for i in batch]), strict=True):
                    scores[i] = score
        if not all(map(math.isfinite, scores)):
            raise RerankerError("The reranker gave a score that is no number; its weights are bad.")
        return scores

    def _pairs(self, query: str, texts: Sequence[str]) -> list[dict[str, list[int]]]:
        tokenizer = self._flag.tokenizer
        words = tokenizer(query, add_special_tokens=False)["input_ids"][: self._limit * 3 // 4]
        return [
            dict(
                tokenizer.prepare_for_model(
                    words,
                    tokenizer(text, add_special_tokens=False)["input_ids"],
                    truncation="only_second",
                    max_length=self._limit,
                )
            )
            for text in texts
        ]

    def _run(self, pairs: Sequence[dict[str, list[int]]]) -> list[float]:
        fillers = {"input_ids": self._flag.tokenizer.pad_token_id}
        features = {
            name: padded([pair[name] for pair in pairs], fillers.get(name, 0)).to(self._device)
            for name in pairs[0]
        }
        with library("torch").inference_mode():
            logits = self._net(**features, return_dict=True).logits
        scores: list[float] = logits.view(-1).float().cpu().tolist()
        return scores


def _batch(device: str) -> int:
    return 0 if device == "cpu" else CARD_BATCH


def _refuse_code(folder: ModelFolder, head: str) -> None:
    """Open a head as a table of numbers: anything else in a pickle is refused and never run."""
    torch = library("torch")
    try:
        torch.load(folder.path / head, map_location="cpu", weights_only=True)
    except (UnpicklingError, RuntimeError, OSError, EOFError, ValueError) as error:
        raise WeightsRefused(
            f"{folder.path / head} is not a plain table of weights, and nothing else is opened."
        ) from error
