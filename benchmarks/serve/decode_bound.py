"""How fast a decoder could write if it did nothing but read what each token needs from memory.

A step writes a token for each of the requests at once. It reads every weight but the embedding's
rows once (the head once, tied or not), and of each request the keys and values of all tokens so
far. Products take less: 2 operations a weight and token are far from the 200 for a byte that an
H200 can do. So

    tokens/s <= requests * bandwidth / (weights + requests * context * keys and values of a token)
"""

from __future__ import annotations

from collections.abc import Mapping

BYTES = 2
"""Of a number in bfloat16."""
HEAD_WIDTH = 128
BANDWIDTHS = {"NVIDIA H200": 4.8e12, "NVIDIA H100 80GB HBM3": 3.35e12}
"""Bytes/s, from the vendor's data sheets: the upper end of what a program reads."""


def weight_bytes(shape: Mapping[str, int], vocabulary: int) -> int:
    """Bytes of the weights that a step reads; norms and biases are left out (under 0.1%)."""
    hidden, heads, kv = shape["hidden"], shape["heads"], shape["kv"]
    attention = 2 * hidden * heads * HEAD_WIDTH + 2 * hidden * kv * HEAD_WIDTH
    mlp = 3 * hidden * shape["intermediate"]
    return BYTES * (shape["layers"] * (attention + mlp) + vocabulary * hidden)


def cache_bytes(shape: Mapping[str, int]) -> int:
    """Bytes of the keys and values of one token."""
    return BYTES * 2 * shape["layers"] * shape["kv"] * HEAD_WIDTH


def tokens_per_second(
    shape: Mapping[str, int], vocabulary: int, requests: int, context: float, bandwidth: float
) -> float:
    """The bound for so many requests at once whose context has so many tokens."""
    read = weight_bytes(shape, vocabulary) + requests * context * cache_bytes(shape)
    return requests * bandwidth / read
