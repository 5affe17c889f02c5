"""Models whose weights are random: speed does not depend on them."""

from __future__ import annotations

from typing import Any

import torch
from transformers import AutoModelForCausalLM, Qwen2Config

from benchmarks.serve.shapes import SHAPES, VOCABULARY


def qwen2_config(name: str, longest: int) -> Qwen2Config:
    """The configuration of a shape for up to ``longest`` tokens."""
    shape = SHAPES[name]
    return Qwen2Config(
        vocab_size=shape.get("words", VOCABULARY),
        hidden_size=shape["hidden"],
        num_hidden_layers=shape["layers"],
        num_attention_heads=shape["heads"],
        num_key_value_heads=shape["kv"],
        intermediate_size=shape["intermediate"],
        max_position_embeddings=longest,
        tie_word_embeddings=name == "1.5b",
    )


def random_model(name: str, longest: int, device: torch.device) -> Any:
    """A Qwen2 of a shape with random weights for up to ``longest`` tokens, in bfloat16 on a GPU."""
    config = qwen2_config(name, longest)
    torch.manual_seed(0)
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    with device:
        return AutoModelForCausalLM.from_config(config, dtype=dtype).eval()
