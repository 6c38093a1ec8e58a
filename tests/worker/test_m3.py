"""BGE-M3 behind our port: three kinds of vectors, the same whatever runs beside a text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from appliance.clients.flag import HEADS, FlagM3Encoder
from appliance.errors import EncoderError, WeightsRefused
from appliance.ports import MultiEncoder

TEXTS = [
    "How high may my fence be?",
    "Permits expire after one hundred eighty days.",
    "No person shall build, alter or move a structure without a permit.",
    "pools",
    "Section 17.20.020 applies to dwellings, sheds and signs.",
]
LONG = " ".join(TEXTS * 9)
# Padding changes the order of float32 sums, and nothing else; wide random weights swell that rounding.
# A vector that saw its neighbours would be off by far more.
NEARLY = 1e-5
ROUGHLY = 1e-4


@pytest.fixture(scope="module")
def encoder(m3_folder: Path) -> MultiEncoder:
    return FlagM3Encoder(m3_folder, limit=64)


async def test_documents_become_unit_vectors_of_the_models_size(encoder: MultiEncoder) -> None:
    vectors = await encoder.encode_documents(TEXTS)
    assert vectors.shape == (len(TEXTS), encoder.dimension) == (len(TEXTS), 64)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert np.abs(vectors @ vectors.T - np.eye(len(TEXTS))).max() > 1e-3


async def test_no_texts_are_no_rows(encoder: MultiEncoder) -> None:
    assert (await encoder.encode_documents([])).shape == (0, 64)
    nothing = await encoder.encode_all([], "query")
    assert (len(nothing.dense), nothing.sparse, nothing.multi) == (0, [], [])


async def test_one_pass_gives_dense_lexical_and_multi_vector(encoder: MultiEncoder) -> None:
    encoded = await encoder.encode_all(TEXTS, "document")
    np.testing.assert_array_equal(encoded.dense, await encoder.encode_documents(TEXTS))
    for text, sparse, multi in zip(TEXTS, encoded.sparse, encoded.multi, strict=True):
        assert multi.shape == (encoder.tokenizer.count(text) - 1, 64)
        np.testing.assert_allclose(np.linalg.norm(multi, axis=1), 1, atol=1e-5)
        assert all(weight > 0 for weight in sparse.values())
        assert not {0, 1, 2, 3} & set(sparse), "special tokens bear no word"
    assert any(encoded.sparse)


async def test_the_numbers_are_those_of_flagembeddings_own_loop(
    encoder: MultiEncoder, m3_folder: Path
) -> None:
    from FlagEmbedding import BGEM3FlagModel

    theirs = BGEM3FlagModel(str(m3_folder), devices="cpu", use_fp16=False).encode(
        TEXTS, max_length=64, return_sparse=True, return_colbert_vecs=True
    )
    ours = await encoder.encode_all(TEXTS, "document")
    np.testing.assert_allclose(ours.dense, theirs["dense_vecs"], atol=NEARLY)
    for mine, other in zip(ours.sparse, theirs["lexical_weights"], strict=True):
        assert mine == pytest.approx({int(k): float(v) for k, v in other.items()}, abs=ROUGHLY)
    for mine, other in zip(ours.multi, theirs["colbert_vecs"], strict=True):
        np.testing.assert_allclose(mine, other, atol=ROUGHLY)


async def test_a_question_runs_the_network_once_where_flagembeddings_own_loop_does_twice(
    m3_folder: Path,
) -> None:
    from FlagEmbedding import BGEM3FlagModel

    theirs = BGEM3FlagModel(str(m3_folder), devices="cpu", use_fp16=False)
    ours = FlagM3Encoder(m3_folder, limit=64)
    runs = []
    for net in (theirs.model, ours._net):
        net.register_forward_pre_hook(lambda of, _: runs.append(of))
    theirs.encode_queries([TEXTS[0]])
    assert len(runs) == 2, "its loop tries a batch for memory and throws the result away"
    runs.clear()
    await ours.encode_query(TEXTS[0])
    assert len(runs) == 1


async def test_alone_a_text_has_the_very_same_vector_whatever_else_is_asked(
    encoder: MultiEncoder,
) -> None:
    together = await encoder.encode_documents(TEXTS)
    backwards = (await encoder.encode_documents(TEXTS[::-1]))[::-1]
    alone = np.concatenate([await encoder.encode_documents([t]) for t in TEXTS])
    np.testing.assert_array_equal(together, backwards)
    np.testing.assert_array_equal(together, alone)


@pytest.mark.parametrize("tokens", [40, 100, 10_000])
async def test_in_a_padded_batch_a_text_has_its_vector_but_for_rounding(
    encoder: MultiEncoder, m3_folder: Path, tokens: int
) -> None:
    batched = FlagM3Encoder(m3_folder, limit=64, batch_tokens=tokens)
    one, many = await encoder.encode_all(TEXTS, "query"), await batched.encode_all(TEXTS, "query")
    np.testing.assert_allclose(many.dense, one.dense, atol=NEARLY)
    for i in range(len(TEXTS)):
        assert many.sparse[i] == pytest.approx(one.sparse[i], abs=ROUGHLY)
        np.testing.assert_allclose(many.multi[i], one.multi[i], atol=ROUGHLY)


async def test_a_passage_over_the_limit_is_refused_and_a_question_is_cut(
    encoder: MultiEncoder,
) -> None:
    with pytest.raises(EncoderError, match=r"^A text of \d+ tokens is over the encoder's 64; "):
        await encoder.encode_documents([TEXTS[0], LONG])
    with pytest.raises(EncoderError):
        await encoder.encode_all([LONG], "document")
    fitted = encoder.tokenizer.fitted(LONG)
    assert LONG.startswith(fitted)
    assert 48 <= encoder.tokenizer.count(fitted) <= 64
    cut = await encoder.encode_all([LONG], "query")
    assert cut.multi[0].shape[0] == 63
    np.testing.assert_array_equal(cut.dense[0], await encoder.encode_query(LONG))


def test_the_model_is_named_with_a_digest_of_all_its_files(
    encoder: MultiEncoder, altered: Callable[..., Path], torch: Any
) -> None:
    folder = altered()
    assert FlagM3Encoder(folder, limit=64).model == encoder.model
    torch.save(torch.nn.Linear(64, 1).state_dict(), folder / "sparse_linear.pt")
    other = FlagM3Encoder(folder, limit=64).model
    assert other.startswith("BAAI/bge-m3@")
    assert other != encoder.model


@pytest.mark.parametrize(
    ("without", "values", "complaint"),
    [
        (("config.json",), {}, "config.json is missing; the folder holds no model"),
        (("tokenizer.json",), {}, "tokenizer.json is missing"),
        # FlagEmbedding would go on with random heads.
        (("sparse_linear.pt",), {}, "sparse_linear.pt is missing"),
        (("model.safetensors",), {}, "holds no model.safetensors"),
        ((), {"config": {"auto_map": {"AutoModel": "x.Y"}}}, "asks for code of its own"),
        ((), {"tokenizer_config": {"auto_map": {}}}, "asks for code of its own"),
        ((), {"config": {"max_position_embeddings": 40}}, "has places for 38 tokens, not for 64"),
        ((), {"config": {"hidden_size": 65}}, "cannot be opened: "),
        ((), {"config": {"model_type": "unheard-of"}}, "cannot be opened: "),
    ],
)
def test_a_folder_that_is_not_right_is_refused_in_a_sentence(
    altered: Callable[..., Path],
    without: tuple[str, ...],
    values: dict[str, dict[str, Any]],
    complaint: str,
) -> None:
    with pytest.raises(WeightsRefused, match=complaint) as caught:
        FlagM3Encoder(altered(without=without, **values), limit=64)
    assert "\n" not in str(caught.value)


def test_a_device_that_is_not_there_is_refused(m3_folder: Path) -> None:
    with pytest.raises(WeightsRefused, match="torch has no device 'abacus' here; it has cpu"):
        FlagM3Encoder(m3_folder, limit=64, device="abacus")


class _Trap:
    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.mark,)


@pytest.mark.parametrize("head", HEADS)
def test_code_in_a_pickled_head_is_refused_and_never_run(
    altered: Callable[..., Path], head: str, tmp_path_factory: pytest.TempPathFactory, torch: Any
) -> None:
    folder, mark = altered(), tmp_path_factory.mktemp("trap") / "sprung"
    torch.save(_Trap(mark), folder / head)
    with pytest.raises(WeightsRefused, match="is not a plain table of weights"):
        FlagM3Encoder(folder, limit=64)
    assert not mark.exists()
    torch.load(folder / head, weights_only=False)
    assert mark.exists(), "the trap itself works"


async def test_pickled_weights_are_refused_until_they_are_converted(
    encoder: MultiEncoder, altered: Callable[..., Path], torch: Any
) -> None:
    from safetensors.torch import load_file

    from models.convert_pickles import convert

    folder = altered()
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    with pytest.raises(WeightsRefused, match=r"pytorch_model.bin is a pickle.*convert_pickles"):
        FlagM3Encoder(folder, limit=64)
    convert(folder)
    converted = FlagM3Encoder(folder, limit=64)
    np.testing.assert_array_equal(
        await converted.encode_documents(TEXTS), await encoder.encode_documents(TEXTS)
    )


async def test_weights_that_give_no_direction_are_an_error_and_not_a_vector(
    altered: Callable[..., Path], torch: Any
) -> None:
    from safetensors.torch import load_file, save_file

    folder = altered()
    weights = load_file(folder / "model.safetensors")
    weights["encoder.layer.1.output.LayerNorm.weight"].fill_(float("nan"))
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(EncoderError, match="a vector without direction"):
        await FlagM3Encoder(folder, limit=64).encode_documents(TEXTS)
