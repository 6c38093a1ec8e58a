"""Without torch: the box-class clients load, and say in one sentence what is missing."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from appliance.clients.torch_library import batches, library
from appliance.errors import WorkerMissing

CLIENTS = "appliance.clients.flag", "appliance.clients.sentence"


def test_the_clients_load_without_their_libraries() -> None:
    heavy = "torch", "FlagEmbedding", "sentence_transformers", "transformers"
    code = f"import sys, {', '.join(CLIENTS)}; print(sorted(set({heavy}) & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_a_missing_library_is_said_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", dict(os.environ))
    with pytest.raises(WorkerMissing) as caught:
        library("flag_of_nowhere")
    assert str(caught.value) == (
        "flag_of_nowhere is not in this environment: box-class models run in that of "
        "compose/locks/worker.lock, which `make setup-worker` makes in .venv-worker."
    )


@pytest.mark.parametrize(
    ("lengths", "most", "expected"),
    [
        ([], 100, []),
        ([3, 9, 5], 0, [[1], [2], [0]]),
        ([3, 9, 5], 18, [[1, 2], [0]]),
        ([3, 9, 5], 27, [[1, 2, 0]]),
        ([50, 2, 2], 10, [[0], [1, 2]]),
        ([4, 4, 4], 8, [[0, 1], [2]]),
    ],
)
def test_batches_keep_to_their_tokens_and_lose_no_text(
    lengths: list[int], most: int, expected: list[list[int]]
) -> None:
    assert list(batches(lengths, most)) == expected
