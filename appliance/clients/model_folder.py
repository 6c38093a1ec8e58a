"""A folder with a model's weights, looked at before any library opens it.

What runs is what the owner put there, and nothing of it is code: weights are
safetensors, and a folder that asks for code of its own is refused.  Nothing is ever
fetched.  Needs no torch, so that a wrong folder is named in any environment.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer as FastTokenizer

from appliance.errors import WeightsRefused

CONVERT = "python -m models.convert_pickles FOLDER"
# Position embeddings of this family begin after the padding's own index.
_ROBERTA = ("roberta", "xlm-roberta", "camembert")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFolder:
    """A folder that may be opened."""

    path: Path
    model: str  # the model's name and a digest of every file that its numbers depend on
    positions: int  # most tokens of one input that the weights have a place for

    @property
    def weights(self) -> tuple[Path, ...]:
        """Return the files of the model's weights."""
        return tuple(_weights(self.path))


def checked_folder(path: Path, *, name: str, heads: Sequence[str] = ()) -> ModelFolder:
    """Return the folder if it holds a model in safetensors and asks for no code of its own.

    `heads` are further files that must be there.  Raises WeightsRefused.
    """
    config = _json(path, "config.json")
    for file in ("tokenizer.json", *heads):
        if not (path / file).is_file():
            raise WeightsRefused(f"{path / file} is missing; the whole folder of {name} is needed.")
    for file in ("config.json", "tokenizer_config.json"):
        if (path / file).is_file() and "auto_map" in _json(path, file):
            raise WeightsRefused(f"{path / file} asks for code of its own, which is never run.")
    for folder in (path, *_modules(path)):
        _refuse_pickles(folder)
    if not _weights(path):
        raise WeightsRefused(f"{path} holds no model.safetensors; the whole folder is needed.")
    return ModelFolder(
        path=path, model=f"{name}@{_digest(path, heads)[:12]}", positions=_positions(path, config)
    )


def _json(path: Path, file: str) -> dict[str, Any]:
    try:
        read = json.loads((path / file).read_text("utf-8"))
    except FileNotFoundError:
        raise WeightsRefused(f"{path / file} is missing; the folder holds no model.") from None
    except (OSError, ValueError) as error:
        raise WeightsRefused(f"{path / file} cannot be read: {error}.") from error
    if not isinstance(read, dict):
        raise WeightsRefused(f"{path / file} is not a JSON object.")
    return read


def _modules(path: Path) -> Iterator[Path]:
    """Yield the folders of the parts that sentence-transformers puts together."""
    file = path / "modules.json"
    if not file.is_file():
        return
    try:
        parts = [(str(m["type"]), str(m["path"])) for m in json.loads(file.read_text("utf-8"))]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WeightsRefused(f"{file} cannot be read: {error}.") from error
    for kind, folder in parts:
        if not kind.startswith("sentence_transformers."):
            raise WeightsRefused(f"{file} asks for code of its own ({kind}), which is never run.")
        yield path / folder


def _refuse_pickles(folder: Path) -> None:
    pickles = [*folder.glob("pytorch_model*.bin")]
    if pickles and not _weights(folder):
        raise WeightsRefused(
            f"{pickles[0]} is a pickle, which can hold code; `{CONVERT}` makes safetensors of it."
        )


def _weights(folder: Path) -> list[Path]:
    return sorted(folder.glob("model*.safetensors"))


def _digest(path: Path, heads: Sequence[str]) -> str:
    """Return one digest over weights, heads, tokenizer and configuration, in a fixed order."""
    modules = [folder / "config.json" for folder in _modules(path) if folder != path]
    shards = [w for folder in dict.fromkeys((path, *_modules(path))) for w in _weights(folder)]
    files = [path / "config.json", path / "tokenizer.json", *modules, *shards]
    files += [path / head for head in heads]
    whole = sha256()
    for file in files:
        if file.is_file():
            with file.open("rb") as stream:
                whole.update(file_digest(stream, "sha256").digest())
    return whole.hexdigest()


def _positions(path: Path, config: dict[str, Any]) -> int:
    positions, padding = config.get("max_position_embeddings"), config.get("pad_token_id", 1)
    if not isinstance(positions, int) or not isinstance(padding, int):
        raise WeightsRefused(
            f"{path / 'config.json'} does not say how many tokens the model takes."
        )
    return positions - padding - 1 if config.get("model_type") in _ROBERTA else positions


class FolderTokenizer:
    """The tokenizer of a model's folder, counting and cutting; it never truncates by itself."""

    def __init__(self, folder: ModelFolder, limit: int) -> None:
        """Take at most `limit` tokens, special ones included.  Raises WeightsRefused."""
        if limit > folder.positions:
            raise WeightsRefused(
                f"{folder.path} has places for {folder.positions} tokens, not for {limit}."
            )
        self.limit = limit
        self._fast = FastTokenizer.from_file(str(folder.path / "tokenizer.json"))
        self._fast.no_truncation()
        self._fast.no_padding()

    def count(self, text: str) -> int:
        """Return the tokens of `text`, special tokens included."""
        return len(self.ids(text))

    def ends(self, text: str) -> Sequence[int]:
        """Return the end offset (code points) of each token of `text`, without special tokens."""
        encoding = self._fast.encode(text, add_special_tokens=False)
        return [end for _, end in encoding.offsets]

    def fitted(self, text: str) -> str:
        """Return the beginning of `text` within the limit, cut after a token.

        A word that is cut can fall into more pieces than before, so that what is left is counted.
        """
        if self.count(text) <= self.limit:
            return text
        for end in reversed(self.ends(text)[: self.limit]):
            if self.count(text[:end]) <= self.limit:
                return text[:end]
        return ""

    def ids(self, text: str) -> list[int]:
        """Return the token ids of `text`, special tokens included."""
        ids: list[int] = self._fast.encode(text).ids
        return ids
