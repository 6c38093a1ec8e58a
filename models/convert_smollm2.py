"""GGUF file to a folder that vLLM loads: `python convert_smollm2.py OUTPUT_FOLDER GGUF_FILE`.

Run by the model server's Python, not by ours: it has torch and transformers and
nothing of this project, so this file imports nothing of it either.  The folder
appears under its name only when it is whole, so a kill leaves no half model.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig


def convert(output: Path, gguf: Path) -> None:
    """Write the model in `gguf` to the folder `output` as bfloat16 safetensors."""
    half_made = output.with_name(output.name + ".part")
    shutil.rmtree(half_made, ignore_errors=True)
    source = {"pretrained_model_name_or_path": str(gguf.parent), "gguf_file": gguf.name}
    # transformers keeps GGUF weights packed and cannot save those: unpack them while loading.
    model = AutoModelForCausalLM.from_pretrained(
        **source, dtype=torch.bfloat16, quantization_config=GgufConfig(dequantize=True)
    )
    model.save_pretrained(half_made)
    AutoTokenizer.from_pretrained(**source).save_pretrained(half_made)
    half_made.rename(output)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    convert(Path(sys.argv[1]), Path(sys.argv[2]))
