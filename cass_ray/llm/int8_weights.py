"""A copy of a model whose matrices are int8 with one scale a row: half of bf16, a quarter of fp32.

    python -m cass_ray.llm.int8_weights MODEL COPY
    cass translate program.cu --engine model:COPY

The copy is a folder as transformers writes it, but for its weights, which are in ``INT8_FILE``:
the integers under the name of the matrix, its scales under that name and ``SCALES``. On a CPU the
products are made in int8 as well; elsewhere the matrices are restored.
"""

from __future__ import annotations

import argparse
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
    weights: dict[str, torch.Tensor] = {}
    for file in files:
        for name, tensor in load_file(file).items():
            if tensor.ndim == 2:
                weights[name], weights[name + SCALES] = quantized(tensor)
            else:
                weights[name] = tensor
    out.mkdir(parents=True, exist_ok=True)
    for path in source.iterdir():
        if path.is_file() and path not in files:
            shutil.copy2(path, out)
    save_file(weights, out / INT8_FILE)


class Int8Linear(torch.nn.Module):
    """A product with int8 weights on a CPU.

    Each row that comes in is quantized in its turn, so that what comes out of it does not depend on
    the rows beside it.
    """

    integers: torch.Tensor
    scales: torch.Tensor
    bias: torch.Tensor | None

    def __init__(
        self, integers: torch.Tensor, scales: torch.Tensor, bias: torch.Tensor | None = None
    ) -> None:
        super().__init__()
        self.out_features, self.in_features = integers.shape
        self.register_buffer("integers", integers, persistent=False)
        self.register_buffer("scales", scales, persistent=False)
        self.register_buffer("bias", bias, persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """``x`` (…, ``in_features``), fp32."""
        rows, steps = quantized(x.reshape(-1, self.in_features))
        result = torch._int_mm(rows, self.integers.t()).float()
        result.mul_(steps[:, None]).mul_(self.scales)
        if self.bias is not None:
            result.add_(self.bias)
        return result.view(*x.shape[:-1], self.out_features)


def load_int8_copy(folder: Path, config: Any, device: str) -> Any:
    """The model of ``folder``: with :class:`Int8Linear` on a CPU, elsewhere in bf16.

    Raises ``ModelError`` where the weights are not those of ``config``.
    """
    on_cpu = device.startswith("cpu")
    dtype = torch.float32 if on_cpu else torch.bfloat16
    stored = _stored(folder)
    model = _restored_model(folder, stored, config, dtype)
    if on_cpu:
        head = model.get_output_embeddings()
        tied = model.get_input_embeddings().weight is head.weight
        for name, module in list(model.named_modules()):
            if isinstance(module, torch.nn.Linear):
                source = "model.embed_tokens" if module is head and tied else name
                weight = f"{source}.weight"
                bias = None if module.bias is None else module.bias.detach()
                product = Int8Linear(stored[weight], stored[weight + SCALES], bias)
                model.set_submodule(name, product)
    return model.to(device)


def _stored(folder: Path) -> dict[str, torch.Tensor]:
    from safetensors.torch import load_file

    stored: dict[str, torch.Tensor] = load_file(folder / INT8_FILE)
    return stored


def _restored_model(
    folder: Path, stored: dict[str, torch.Tensor], config: Any, dtype: torch.dtype
) -> Any:
    from transformers import MODEL_FOR_CAUSAL_LM_MAPPING

    weights = {
        name: restored(tensor, stored[name + SCALES], dtype)
        if name + SCALES in stored
        else tensor.to(dtype)
        for name, tensor in stored.items()
        if not name.endswith(SCALES)
    }
    # Not `from_config`: it draws random weights first, which takes longer than all else here.
    kind = MODEL_FOR_CAUSAL_LM_MAPPING[type(config)]
    model, told = kind.from_pretrained(
        None, config=config, state_dict=weights, dtype=dtype, output_loading_info=True
    )
    if strangers := sorted({*told["unexpected_keys"], *told["missing_keys"]}):
        names = ", ".join(strangers[:3])
        raise ModelError(f"{folder / INT8_FILE} is of another model than its config.json: {names}")
    return model


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("copy", type=Path)
    given = parser.parse_args()
    write_int8_copy(given.model, given.copy)
