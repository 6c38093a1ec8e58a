"""Pickled weights to safetensors, once, in the worker's environment: `python -m models.convert_pickles FOLDER`.

Some models (BGE-M3 among them, as it was published) come as pytorch_model.bin only.  A
pickle can hold code, so the box does not open one; here it is read as a table of numbers
and nothing else (`weights_only`), written beside as model.safetensors, and left in place.
"""

from __future__ import annotations

import sys
from pathlib import Path

PICKLE = "pytorch_model.bin"
SAFE = "model.safetensors"


def convert(folder: Path) -> Path:
    """Write model.safetensors from pytorch_model.bin and return its path.

    Raises FileNotFoundError without that file, and pickle.UnpicklingError if it holds anything but
    tensors.
    """
    import torch
    from safetensors.torch import save_file

    weights = torch.load(folder / PICKLE, map_location="cpu", weights_only=True)
    # Tensors that share memory are written as their own: the format knows no sharing.
    copies = {name: tensor.contiguous().clone() for name, tensor in weights.items()}
    partial = folder / f"{SAFE}.partial"
    save_file(copies, partial, metadata={"format": "pt"})
    return partial.rename(folder / SAFE)


if __name__ == "__main__":
    print(convert(Path(sys.argv[1])))
