"""The files of the models: which are here, are they what the manifest means, and how they get here.

A box fetches nothing.  Files come from a stick into HOME/models, whole or not at all, and a folder is
used only if its configuration has the shape that the manifest states, its weights are safetensors of
about the size that follows from it, and nothing in it could run as code.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from appliance.errors import WeightsRefused
from appliance.settings import Settings
from models.manifest import FolderWeights, Profile
from models.shapes import GIB, Shape

# Files that run when a library loads them, or that may hold what does.
DANGEROUS = (
    ".bin",
    ".pt",
    ".pth",
    ".pkl",
    ".pickle",
    ".ckpt",
    ".py",
    ".so",
    ".dll",
    ".h5",
    ".msgpack",
)
# Norms, biases and the header: what the sum of a shape leaves out.
SIZE_BAND = (0.93, 1.10)
_PIECE = 8 << 20
_LONGEST_HEADER = 100 << 20  # of a safetensors file, as its own library has it

# config.json's name of each number of a shape.
_NAMES = {
    "num_hidden_layers": "layers",
    "hidden_size": "hidden",
    "num_attention_heads": "heads",
    "num_key_value_heads": "kv_heads",
    "intermediate_size": "intermediate",
    "vocab_size": "vocabulary",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Copying:
    """How far a copy is."""

    file: str
    done: int  # bytes of all files
    total: int


Tell = Callable[[Copying], None]


def folder_of(settings: Settings, profile: Profile) -> Path:
    """Return where a profile's language model belongs."""
    return settings.models_dir / profile.llm.weights.folder


def verify(folder: Path, shape: Shape) -> list[str]:
    """Return what is wrong with a folder of weights; nothing if a server may be given it."""
    if not folder.is_dir():
        return [f"{folder} is not a folder"]
    names = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())
    wrong = [f"{n} could run as code; take the safetensors release" for n in names if _runs(n)]
    wrong += [f"{n} is a link" for n in names if (folder / n).is_symlink()]
    wrong += _of_config(folder, shape)
    weights = [folder / n for n in names if n.endswith((".safetensors", ".gguf"))]
    if not weights:
        return [*wrong, "it has no .safetensors and no .gguf file"]
    wrong += [w for path in weights for w in _of_file(path)]
    return wrong + list(_of_size(weights, shape))


def _runs(name: str) -> bool:
    return name.casefold().endswith(DANGEROUS)


def _of_config(folder: Path, shape: Shape) -> Iterator[str]:
    if any(folder.glob("*.gguf")):
        return  # its one file says all of this itself
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
    except (OSError, ValueError):
        yield "config.json is missing or no JSON"
        return
    if not isinstance(config, dict):
        yield "config.json is no object"
        return
    if "auto_map" in config:
        yield "config.json asks for code of its own (auto_map)"
    for name, ours in _NAMES.items():
        wanted = getattr(shape, ours)
        if name in config and wanted and config[name] != wanted:
            yield f"config.json: {name} is {config[name]}, and the manifest's model has {wanted}"


def _of_file(path: Path) -> Iterator[str]:
    """Yield what is wrong with one file of weights: cut, or not what its name says."""
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(8)
        if path.suffix == ".gguf":
            if head[:4] != b"GGUF":
                yield f"{path.name} is no GGUF file"
            return
        length = struct.unpack("<Q", head)[0] if len(head) == 8 else 0
        if not 2 <= length <= min(_LONGEST_HEADER, size):
            yield f"{path.name} is no safetensors file, or cut"
            return
        try:
            header: dict[str, Any] = json.loads(file.read(length))
            ends = [v["data_offsets"][1] for k, v in header.items() if k != "__metadata__"]
        except (ValueError, KeyError, TypeError, AttributeError, IndexError):
            yield f"{path.name} is no safetensors file, or cut"
            return
    if 8 + length + max(ends, default=0) != size:
        yield f"{path.name} is cut: {size:,} bytes of {8 + length + max(ends, default=0):,}"


def _of_size(weights: list[Path], shape: Shape) -> Iterator[str]:
    size, expected = sum(p.stat().st_size for p in weights), shape.weight_bytes
    if weights[0].suffix == ".gguf":
        return  # its mixtures of widths are no formula
    if not SIZE_BAND[0] * expected <= size <= SIZE_BAND[1] * expected:
        yield f"its weights have {size / GIB:.2f} GiB, and about {expected / GIB:.2f} are expected"


# ------------------------------------------------------------------ from a stick


def bring_in(settings: Settings, profile: Profile, source: Path, tell: Tell) -> Path:
    """Copy a folder of weights to where the profile's server looks; return that place.

    Verified before a byte is copied and digested while copying: each file is read back and compared.
    It takes its name only when it is whole.  Raises WeightsRefused with all that is wrong.
    """
    if not isinstance(profile.llm.weights, FolderWeights):
        raise WeightsRefused(
            f"Profile {profile.name} takes its model from a Python package; `permitbox up` installs it."
        )
    if wrong := verify(source, profile.llm.shape):
        raise WeightsRefused(f"{source} is not taken: {'; '.join(wrong[:5])}.")
    target = folder_of(settings, profile)
    beside = target.with_name(f".{target.name}.partial")
    files = sorted(p for p in source.rglob("*") if p.is_file())
    _check_room(settings, files)
    shutil.rmtree(beside, ignore_errors=True)
    done, total = 0, sum(p.stat().st_size for p in files)
    for path in files:
        tell(Copying(file=path.name, done=done, total=total))
        _copy(path, beside / path.relative_to(source))
        done += path.stat().st_size
    tell(Copying(file="", done=total, total=total))
    if wrong := verify(beside, profile.llm.shape):
        raise WeightsRefused(f"The copy of {source} is not what was read: {'; '.join(wrong[:5])}.")
    _swap(beside, target)
    return target


def _check_room(settings: Settings, files: list[Path]) -> None:
    settings.models_dir.mkdir(parents=True, exist_ok=True)
    needed, free = sum(p.stat().st_size for p in files), shutil.disk_usage(settings.models_dir).free
    if free < needed:
        raise WeightsRefused(
            f"{needed / GIB:.1f} GiB are needed and {settings.models_dir} has {free / GIB:.1f} free."
        )


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with source.open("rb") as reading, target.open("wb") as writing:
        while piece := reading.read(_PIECE):
            digest.update(piece)
            writing.write(piece)
        writing.flush()
        os.fsync(writing.fileno())
    if _digest(target) != digest.hexdigest():
        raise WeightsRefused(
            f"{target.name} reads back otherwise than it was written; check the disk."
        )


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _swap(beside: Path, target: Path) -> None:
    """Put a whole folder in the place of another; after a kill in between, another import does it."""
    old = target.with_name(f".{target.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if target.exists():
        target.rename(old)
    beside.rename(target)
    shutil.rmtree(old, ignore_errors=True)
