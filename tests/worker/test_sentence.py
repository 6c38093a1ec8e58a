"""sentence-transformers behind our port, with the real MiniLM: its own numbers, and the demo encoder's."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from appliance.clients.encode import MiniLmEncoder
from appliance.clients.roles import in_roles
from appliance.clients.sentence import SentenceEncoder
from appliance.clients.torch_library import OFFLINE
from appliance.errors import EncoderError, WeightsRefused
from appliance.ports import Encoder
from models.manifest import Roles, read_manifest

NAME = "sentence-transformers/all-MiniLM-L6-v2"
TEXTS = [
    "17.20.020 Heights\nA fence in a front yard shall not be taller than forty-two inches.",
    "15.04.060 Expiration\nA permit expires if work has not begun within 180 days.",
    "| Use | Spaces |\n|---|---|\n| Shop | 4 |\n| Office | 3 |",
    "§ 9-1 “Dwelling” means 3½ rooms or more, 20° from a lot line.",
    "pools",
    "Parking of vehicles. " * 40,
]
LONG = "No person shall build without a permit. " * 60


@pytest.fixture(scope="module")
def encoder(minilm_folder: Path) -> Encoder:
    return SentenceEncoder(minilm_folder, name=NAME, limit=256)


async def test_the_demo_encoders_int8_vectors_are_those_of_the_full_weights(
    encoder: Encoder,
) -> None:
    small = MiniLmEncoder(threads=1)
    full, quantised = await encoder.encode_documents(TEXTS), await small.encode_documents(TEXTS)
    small.close()
    assert full.shape == quantised.shape == (len(TEXTS), 384)
    cosines = np.sum(full * quantised, axis=1)
    assert cosines.min() >= 0.97
    np.testing.assert_allclose(np.linalg.norm(full, axis=1), 1, atol=1e-6)


def test_both_count_the_same_tokens_and_cut_at_the_same_place(encoder: Encoder) -> None:
    small = MiniLmEncoder(threads=1)
    for text in (*TEXTS, LONG):
        assert encoder.tokenizer.count(text) == small.tokenizer.count(text)
        assert list(encoder.tokenizer.ends(text)) == list(small.tokenizer.ends(text))
        assert encoder.tokenizer.fitted(text) == small.tokenizer.fitted(text)
    small.close()


async def test_a_text_has_the_same_vector_whatever_runs_beside_it(
    encoder: Encoder, minilm_folder: Path
) -> None:
    together = await encoder.encode_documents(TEXTS)
    alone = np.concatenate([await encoder.encode_documents([t]) for t in TEXTS])
    np.testing.assert_array_equal(together, alone)
    batched = SentenceEncoder(minilm_folder, name=NAME, limit=256, batch=4)
    np.testing.assert_allclose(await batched.encode_documents(TEXTS), together, atol=1e-5)


async def test_a_passage_over_the_limit_is_refused_and_a_question_is_cut(encoder: Encoder) -> None:
    with pytest.raises(EncoderError, match=r"^A text of \d+ tokens is over the encoder's 256; "):
        await encoder.encode_documents([LONG])
    fitted = encoder.tokenizer.fitted(LONG)
    np.testing.assert_allclose(
        await encoder.encode_query(LONG), await encoder.encode_query(fitted), atol=1e-6
    )


async def test_no_texts_are_no_rows(encoder: Encoder) -> None:
    assert (await encoder.encode_documents([])).shape == (0, 384)


E5 = read_manifest().roles["intfloat/multilingual-e5-small"]


async def test_the_prefixes_of_a_role_are_put_before_its_texts(encoder: Encoder) -> None:
    prefixed = in_roles(encoder, E5)
    texts = TEXTS[:2]
    np.testing.assert_array_equal(
        await prefixed.encode_documents(texts),
        await encoder.encode_documents([f"passage: {t}" for t in texts]),
    )
    np.testing.assert_array_equal(
        await prefixed.encode_query("How high?"), await encoder.encode_query("query: How high?")
    )
    bare = await encoder.encode_query("How high?")
    assert float(bare @ await prefixed.encode_query("How high?")) < 0.999


async def test_a_chunk_that_fills_the_lowered_limit_is_taken_with_its_prefix(
    encoder: Encoder,
) -> None:
    prefixed = in_roles(encoder, E5)
    assert prefixed.tokenizer.limit == 256 - 2  # "passage" and ":"
    full = prefixed.tokenizer.fitted(LONG)
    assert prefixed.tokenizer.count(full) == prefixed.tokenizer.limit
    assert (await prefixed.encode_documents([full])).shape == (1, 384)


def test_other_prefixes_are_another_model_and_none_are_the_same_one(encoder: Encoder) -> None:
    none = read_manifest().roles["BAAI/bge-m3"]
    other = Roles(query_prefix="q: ", document_prefix="", source="", measured=False)
    assert in_roles(encoder, none) is encoder
    names = {encoder.model, in_roles(encoder, E5).model, in_roles(encoder, other).model}
    assert len(names) == 3


async def test_a_prompt_that_the_folder_configures_does_not_come_on_top(
    encoder: Encoder, minilm_folder: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(minilm_folder, tmp_path / "model")
    file = folder / "config_sentence_transformers.json"
    settings = json.loads(file.read_text()) if file.is_file() else {}
    prompts = {"prompts": {"query": "query: "}, "default_prompt_name": "query"}
    file.write_text(json.dumps({**settings, **prompts}))
    configured = SentenceEncoder(folder, name=NAME, limit=256)
    np.testing.assert_array_equal(
        await configured.encode_documents(TEXTS[:1]), await encoder.encode_documents(TEXTS[:1])
    )


def test_a_folder_whose_parts_are_code_of_its_own_is_refused(
    minilm_folder: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(minilm_folder, tmp_path / "model")
    parts = json.loads((folder / "modules.json").read_text())
    parts[0]["type"] = "custom.Transformer"
    (folder / "modules.json").write_text(json.dumps(parts))
    with pytest.raises(WeightsRefused, match=r"asks for code of its own \(custom.Transformer\)"):
        SentenceEncoder(folder, name=NAME, limit=256)


def test_a_limit_over_what_the_weights_have_places_for_is_refused(minilm_folder: Path) -> None:
    with pytest.raises(WeightsRefused, match="has places for 512 tokens, not for 8192"):
        SentenceEncoder(minilm_folder, name=NAME, limit=8192)


def test_no_hub_is_ever_asked() -> None:
    import huggingface_hub.constants

    assert {name: os.environ[name] for name in OFFLINE} == OFFLINE
    assert huggingface_hub.constants.HF_HUB_OFFLINE
