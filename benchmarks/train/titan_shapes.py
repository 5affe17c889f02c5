"""Shapes of Qwen2.5-Coder for torchtitan's Qwen3; torchtitan imports this (``custom_import``)."""

from __future__ import annotations

from torchtitan.models.qwen3 import Qwen3ModelArgs, qwen3_args

from benchmarks.train.shapes import SHAPES, WINDOW

for _name, _sizes in SHAPES.items():
    qwen3_args[_name] = Qwen3ModelArgs(
        vocab_size=_sizes["vocab_size"],
        max_seq_len=WINDOW,
        head_dim=_sizes["hidden_size"] // _sizes["num_attention_heads"],
        dim=_sizes["hidden_size"],
        n_layers=_sizes["num_hidden_layers"],
        n_heads=_sizes["num_attention_heads"],
        n_kv_heads=_sizes["num_key_value_heads"],
        qk_norm=False,
        hidden_dim=_sizes["intermediate_size"],
        rope_theta=1e6,
        enable_weight_tying=_sizes["tie_word_embeddings"],
    )
