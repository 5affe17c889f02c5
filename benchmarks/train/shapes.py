"""Models of published shapes with random weights, and windows of random tokens."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import torch

from cass_ray.train.data.collate import Batch

REHEARSAL = not torch.cuda.is_available()
"""Without a GPU every part runs on toy shapes: a trial of the code, whose figures mean nothing."""

WINDOW = 128 if REHEARSAL else 16384
"""Tokens of a window."""

# Qwen2.5-Coder, from the models' config.json.
SHAPES: dict[str, dict[str, Any]] = {
    "1.5b": {
        "hidden_size": 1536,
        "intermediate_size": 8960,
        "num_hidden_layers": 28,
        "num_attention_heads": 12,
        "num_key_value_heads": 2,
        "vocab_size": 151936,
        "tie_word_embeddings": True,
    },
    "7b": {
        "hidden_size": 3584,
        "intermediate_size": 18944,
        "num_hidden_layers": 28,
        "num_attention_heads": 28,
        "num_key_value_heads": 4,
        "vocab_size": 152064,
        "tie_word_embeddings": False,
    },
    "toy": {
        "hidden_size": 256,
        "intermediate_size": 512,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "vocab_size": 1024,
        "tie_word_embeddings": True,
    },
}


def sizes_of(shape: str) -> dict[str, Any]:
    """The configuration that ``shape`` stands for here."""
    return SHAPES["toy" if REHEARSAL else shape]


def make_model(shape: str, device: torch.device, layers: int | None = None) -> Any:
    """A bf16 Qwen2 of ``shape``, its weights drawn on ``device``."""
    from transformers import AutoModelForCausalLM, Qwen2Config

    sizes = sizes_of(shape) | ({"num_hidden_layers": layers} if layers else {})
    config = Qwen2Config(
        **sizes,
        max_position_embeddings=32768,
        rope_parameters={"rope_type": "default", "rope_theta": 1e6},
        use_cache=False,
        bos_token_id=None,
        eos_token_id=None,
    )
    torch.manual_seed(0)
    with torch.device(device):
        model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    return model.to(device)


def make_batch(
    lengths: tuple[int, ...],
    vocabulary: int,
    device: torch.device,
    seed: int = 0,
    predicted: Literal["answers", "all"] = "answers",
) -> Batch:
    """Random tokens; the second half of each example is the answer.

    ``all``: every token but the first is predicted.
    """
    random = np.random.default_rng(seed)
    total = sum(lengths)
    ids = torch.from_numpy(random.integers(0, vocabulary, (1, total)))
    predictors, start = [], 0
    for length in lengths:
        first = start + length // 2 - 1 if predicted == "answers" else start
        predictors.append(np.arange(first, start + length - 1))
        start += length
    where = torch.from_numpy(np.concatenate(predictors))
    return Batch(
        input_ids=ids.to(device),
        position_ids=torch.from_numpy(np.concatenate([np.arange(n) for n in lengths]))[None].to(
            device
        ),
        lengths=lengths,
        predictors=where.to(device),
        targets=ids[0][where + 1].to(device),
        examples=(),
    )
