"""What the box-class models share: libraries found late, batches, vectors out.

torch lives in the worker's environment only (compose/locks/worker.lock), so nothing here
imports a library before a model is opened, and a missing one is said in a sentence.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np

from appliance.clients.model_folder import ModelFolder
from appliance.errors import EncoderError, ModelError, WeightsRefused, WorkerMissing
from appliance.ports import Vectors

# Read by the libraries when they are imported: no hub is ever asked, and nothing is reported to one.
OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
}
# Tokens of a padded batch on a card.  On a CPU each text runs alone: without padding that is as fast
# (eval/ledger/001), and a text's vector cannot depend on its neighbours.
CARD_BATCH = 16_384


def library(name: str) -> Any:
    """Return the imported library.  Raises WorkerMissing where it is not installed."""
    os.environ.update(OFFLINE)
    try:
        return import_module(name)
    except ImportError as missing:
        raise WorkerMissing(missing.name or name) from missing


def usable_device(device: str) -> str:
    """Return the device if torch has it.  Raises WeightsRefused naming what it has."""
    torch = library("torch")
    known = ["cpu"]
    known += ["cuda"] if torch.cuda.is_available() else []
    known += ["mps"] if torch.backends.mps.is_available() else []
    if device not in known:
        raise WeightsRefused(f"torch has no device {device!r} here; it has {', '.join(known)}.")
    return device


@contextmanager
def opening(what: str) -> Iterator[None]:
    """Turn what a library raises over a folder's files into one sentence."""
    try:
        yield
    except (OSError, ValueError, RuntimeError, KeyError, IndexError, TypeError) as error:
        raise WeightsRefused(f"{what} cannot be opened: {_first_line(error)}") from error


@contextmanager
def running(kind: type[ModelError], what: str) -> Iterator[None]:
    """Turn what torch raises in a run (no memory, most of all) into one sentence of that kind."""
    try:
        yield
    except (RuntimeError, IndexError, ValueError) as error:
        raise kind(f"{what} failed: {_first_line(error)}") from error


def refuse_untrained(net: Any, folder: ModelFolder) -> None:
    """Refuse a network with weights that the folder lacks: transformers goes on with random ones.

    Names may or may not bear the network's own prefix; the pooler is used by none of our models.
    Raises WeightsRefused.
    """
    safe_open = library("safetensors").safe_open
    prefix = f"{net.base_model_prefix}."
    held: set[str] = set()
    for file in folder.weights:
        with safe_open(file, framework="pt") as tensors:
            held |= {name.removeprefix(prefix) for name in tensors.keys()}  # noqa: SIM118 - no dict
    for name, _ in net.named_parameters():
        bare = name.removeprefix(prefix)
        if bare not in held and not bare.startswith("pooler."):
            raise WeightsRefused(f"{folder.path} has no weights for {bare}: it is another model.")


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def batches(lengths: Sequence[int], most: int) -> Iterator[list[int]]:
    """Yield the places of texts, the longest first, so that no padded batch is over `most` tokens.

    A text that is over it alone still has a batch; with `most` 0 each text runs alone.
    """
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if batch and lengths[batch[0]] * (len(batch) + 1) > most:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def padded(rows: Sequence[Sequence[int]], filler: int) -> Any:
    """Return (len(rows), longest) as a tensor of integers."""
    torch = library("torch")
    width = max(len(row) for row in rows)
    return torch.tensor([[*row, *[filler] * (width - len(row))] for row in rows])


def unit(vectors: Any) -> Vectors:
    """Return the rows at unit length.  Raises EncoderError on a row without direction."""
    rows = np.asarray(vectors, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    if not np.all(np.isfinite(lengths)) or not np.all(lengths > 0):
        raise EncoderError("The encoder gave a vector without direction; its weights are bad.")
    units: Vectors = rows / lengths
    return units
