"""A copy of a model whose matrices are int8 with one scale a row: half of bf16, a quarter of fp32.

The copy is a folder as transformers writes it, but for its weights, which are in ``INT8_FILE``:
the integers under the name of the matrix, its scales under that name and ``SCALES``.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import torch

from cass_ray.llm.pretrained import ModelError

INT8_FILE = "model.int8.safetensors"
SCALES = ".scales"
_LARGEST = 127


def quantized(matrix: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Integers and the scales (fp32) that each row is to be multiplied by."""
    values = matrix.float()
    scales = values.abs().amax(dim=1).clamp_min(1e-12) / _LARGEST
    return (values / scales[:, None]).round().to(torch.int8), scales


def restored(integers: torch.Tensor, scales: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The matrix of what :func:`quantized` returned."""
    return (integers.float() * scales[:, None]).to(dtype)


def write_int8_copy(source: Path, out: Path) -> None:
    """Write the int8 copy of the model in ``source`` as the folder ``out``.

    Raises ``ModelError`` where ``source`` holds no weights in safetensors.
    """
    from safetensors.torch import load_file, save_file

    files = sorted(source.glob("model*.safetensors"))
    if not files or source / INT8_FILE in files:
        raise ModelError(f"{source} holds no weights that could be quantized: model*.safetensors")
    made: dict[str, torch.Tensor] = {}
    for file in files:
        for name, tensor in load_file(file).items():
            if tensor.ndim == 2:
                made[name], made[name + SCALES] = quantized(tensor)
            else:
                made[name] = tensor
    out.mkdir(parents=True, exist_ok=True)
    for path in source.iterdir():
        if path.is_file() and path not in files:
            shutil.copy2(path, out)
    save_file(made, out / INT8_FILE)


def load_int8_copy(folder: Path, config: Any, dtype: torch.dtype) -> Any:
    """The model of ``folder``, its matrices restored in ``dtype``.

    Raises ``ModelError`` where the weights are not those of ``config``.
    """
    from safetensors.torch import load_file
    from transformers import AutoModelForCausalLM

    stored = load_file(folder / INT8_FILE)
    weights = {
        name: restored(tensor, stored[name + SCALES], dtype)
        if name + SCALES in stored
        else tensor.to(dtype)
        for name, tensor in stored.items()
        if not name.endswith(SCALES)
    }
    model = AutoModelForCausalLM.from_config(config, dtype=dtype)
    missing, unknown = model.load_state_dict(weights, strict=False)
    tied = set(getattr(model, "all_tied_weights_keys", None) or ())
    if unknown or set(missing) - tied:
        names = ", ".join([*unknown, *sorted(set(missing) - tied)][:3])
        raise ModelError(f"{folder / INT8_FILE} is of another model than its config.json: {names}")
    model.tie_weights()
    return model
