"""The cross-encoder behind our port: a number a text, which no neighbour changes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from appliance.clients.flag import FlagCrossEncoder
from appliance.errors import RerankerError, WeightsRefused
from appliance.ports import Reranker

QUESTION = "How high may my fence be?"
TEXTS = [
    "A fence in a front yard shall not be taller than forty-two inches.",
    "pools",
    "Permits expire after one hundred eighty days.",
    "Section 17.20.020 applies to dwellings, sheds, pools, signs and parking. " * 9,
    "",
]

# Padding changes the order of float32 sums, and wide random weights swell that rounding; the numbers of
# different texts are farther apart by orders.
ROUGHLY = 1e-4


@pytest.fixture(scope="module")
def reranker(reranker_folder: Path) -> Reranker:
    return FlagCrossEncoder(reranker_folder, limit=64)


async def test_each_text_has_one_number_and_different_texts_differ(reranker: Reranker) -> None:
    scores = await reranker.scores(QUESTION, TEXTS)
    assert len(scores) == len(TEXTS) == len({round(s, 3) for s in scores})
    assert await reranker.scores(QUESTION, []) == []
    assert reranker.model.startswith("BAAI/bge-reranker-v2-m3@")


async def test_the_numbers_are_those_of_flagembeddings_own_loop(
    reranker: Reranker, reranker_folder: Path
) -> None:
    from FlagEmbedding import FlagReranker

    theirs = FlagReranker(str(reranker_folder), devices="cpu", use_fp16=False, max_length=64)
    for question in (QUESTION, TEXTS[3]):  # the second is cut, and leaves room for the texts
        expected = theirs.compute_score([(question, text) for text in TEXTS])
        assert await reranker.scores(question, TEXTS) == pytest.approx(expected, abs=ROUGHLY)


async def test_alone_a_text_has_the_very_same_number_whatever_else_is_judged(
    reranker: Reranker,
) -> None:
    together = await reranker.scores(QUESTION, TEXTS)
    assert (await reranker.scores(QUESTION, TEXTS[::-1]))[::-1] == together
    assert [(await reranker.scores(QUESTION, [t]))[0] for t in TEXTS] == together


@pytest.mark.parametrize("tokens", [70, 150, 10_000])
async def test_in_a_padded_batch_the_numbers_are_the_same_but_for_rounding(
    reranker: Reranker, reranker_folder: Path, tokens: int
) -> None:
    batched = FlagCrossEncoder(reranker_folder, limit=64, batch_tokens=tokens)
    one, many = await reranker.scores(QUESTION, TEXTS), await batched.scores(QUESTION, TEXTS)
    assert many == pytest.approx(one, abs=ROUGHLY)


async def test_a_long_text_is_judged_by_its_beginning(reranker: Reranker) -> None:
    changed = [TEXTS[3] + "And something else.", "Signs. " + TEXTS[3]]
    same, other = await reranker.scores(QUESTION, changed)
    (whole,) = await reranker.scores(QUESTION, [TEXTS[3]])
    assert same == whole != other


def test_a_classifier_of_two_labels_is_no_reranker(reranker_folder: Path, tmp_path: Path) -> None:
    from transformers import XLMRobertaForSequenceClassification

    folder = shutil.copytree(reranker_folder, tmp_path / "two")
    net = XLMRobertaForSequenceClassification.from_pretrained(
        reranker_folder, num_labels=2, ignore_mismatched_sizes=True
    )
    net.save_pretrained(folder)
    with pytest.raises(WeightsRefused, match="a classifier of 2 labels; a reranker has one"):
        FlagCrossEncoder(folder, limit=64)


async def test_weights_that_give_no_number_are_an_error_and_not_a_score(
    reranker_folder: Path, tmp_path: Path
) -> None:
    from safetensors.torch import load_file, save_file

    folder = shutil.copytree(reranker_folder, tmp_path / "bad")
    weights = load_file(folder / "model.safetensors")
    weights["classifier.out_proj.bias"].fill_(float("nan"))
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(RerankerError, match="a score that is no number"):
        await FlagCrossEncoder(folder, limit=64).scores(QUESTION, TEXTS)


def test_a_folder_without_the_judging_layer_is_refused_and_not_filled_up_at_random(
    m3_folder: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(m3_folder, tmp_path / "no-judge")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "num_labels": 1}))
    with pytest.raises(WeightsRefused, match=r"has no weights for classifier\.dense\."):
        FlagCrossEncoder(folder, limit=64)
