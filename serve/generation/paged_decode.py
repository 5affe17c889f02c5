"""Attention of one new token of each sequence to a paged KV cache, as Triton kernels.

Each sequence is split over several programs, whose partial results are merged by their log-sum-exp
("flash decoding", Dao, Haziza, Massa and Sizov 2023). How many is decided by the shapes alone and
lengths are read on the device, so that calls can be captured in a CUDA graph.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import torch
import triton
import triton.language as tl

_PROGRAMS_A_PROCESSOR = 4
_MOST_SPLITS = 64
_MOST_TILE = 64
_WARPS = 4
_STAGES = 3
_LEAST_ROWS = 16
"""Of a matrix that tensor cores multiply."""


@triton.jit  # type: ignore[untyped-decorator]
def _append(  # type: ignore[no-untyped-def]
    new, cache, table, lengths, table_stride, page_stride, token_stride,
    HEADS: tl.constexpr, PAGE: tl.constexpr, SIZE: tl.constexpr,
):  # fmt: skip
    """Write the new key or value of a sequence and head behind what is in the cache."""
    sequence, head = tl.program_id(0), tl.program_id(1)
    length = tl.load(lengths + sequence)
    if length >= 0:
        page = tl.load(table + sequence * table_stride + length // PAGE).to(tl.int64)
        place = page * page_stride + (length % PAGE) * token_stride + head * SIZE
        lanes = tl.arange(0, SIZE)
        tl.store(cache + place + lanes, tl.load(new + (sequence * HEADS + head) * SIZE + lanes))


@triton.jit  # type: ignore[untyped-decorator]
def _attend(  # type: ignore[no-untyped-def]
    query, keys, values, table, lengths, partial, exponents, scale,
    table_stride, page_stride, token_stride,
    HEADS: tl.constexpr, GROUP: tl.constexpr, ROWS: tl.constexpr, PAGE: tl.constexpr,
    SIZE: tl.constexpr, TILE: tl.constexpr, SPLITS: tl.constexpr,
):  # fmt: skip
    """One split of a sequence, for the query heads that share a key head."""
    sequence, head, split = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    length = tl.load(lengths + sequence) + 1
    span = tl.cdiv(tl.cdiv(length, TILE), SPLITS) * TILE
    first = split * span
    last = tl.minimum(first + span, length)
    rows, lanes, columns = tl.arange(0, ROWS), tl.arange(0, SIZE), tl.arange(0, TILE)
    row = (sequence * HEADS + head) * GROUP + rows
    mine = rows < GROUP
    asked = tl.load(query + row[:, None] * SIZE + lanes[None, :], mask=mine[:, None], other=0.0)
    top = tl.full([ROWS], float("-inf"), tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    sums = tl.zeros([ROWS, SIZE], tl.float32)
    for start in range(first, last, TILE):
        page = tl.load(table + sequence * table_stride + start // PAGE).to(tl.int64)
        place = page * page_stride + (start % PAGE) * token_stride + head * SIZE
        inside = start + columns < last
        offsets = place + columns[:, None] * token_stride + lanes[None, :]
        key = tl.load(keys + offsets, mask=inside[:, None], other=0.0)
        scores = tl.dot(asked, tl.trans(key)) * scale
        scores = tl.where(inside[None, :], scores, float("-inf"))
        highest = tl.maximum(top, tl.max(scores, 1))
        factor = tl.exp2(top - highest)
        weights = tl.exp2(scores - highest[:, None])
        value = tl.load(values + offsets, mask=inside[:, None], other=0.0)
        sums = sums * factor[:, None] + tl.dot(weights.to(value.dtype), value)
        total = total * factor + tl.sum(weights, 1)
        top = highest
    held = tl.where(total > 0, total, 1.0)
    slot = row * SPLITS + split
    tl.store(
        partial + slot[:, None] * SIZE + lanes[None, :], sums / held[:, None], mask=mine[:, None]
    )
    tl.store(exponents + slot, tl.where(total > 0, top + tl.log2(held), float("-inf")), mask=mine)


@triton.jit  # type: ignore[untyped-decorator]
def _merge(  # type: ignore[no-untyped-def]
    partial, exponents, merged, SIZE: tl.constexpr, SPLITS: tl.constexpr
):
    """The splits of one sequence and query head."""
    row = tl.program_id(0)
    splits, lanes = tl.arange(0, SPLITS), tl.arange(0, SIZE)
    slots = row * SPLITS + splits
    exponent = tl.load(exponents + slots)
    top = tl.max(exponent, 0)
    weights = tl.exp2(exponent - tl.where(top > float("-inf"), top, 0.0))
    parts = tl.load(partial + slots[:, None] * SIZE + lanes[None, :])
    total = tl.maximum(tl.sum(weights, 0), 1e-30)
    made = tl.sum(parts * weights[:, None], 0) / total
    tl.store(merged + row * SIZE + lanes, made.to(merged.dtype.element_ty))


def supports(head_size: int, block_size: int) -> bool:
    """Whether the kernels take heads and pages of these sizes."""
    return head_size >= 16 and head_size.bit_count() == 1 and block_size % _LEAST_ROWS == 0


def flash_attn_with_kvcache(
    q: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    cache_seqlens: torch.Tensor,
    block_table: torch.Tensor,
    softmax_scale: float | None = None,
    causal: bool = True,
) -> torch.Tensor:
    """Append ``k`` and ``v`` to the cache and attend to all of it, as flash-attn's function does.

    Shapes: ``q`` (sequences, 1, heads, size), ``k`` and ``v`` (sequences, 1, key heads, size), both
    caches (pages, tokens of a page, key heads, size), ``block_table`` (sequences, pages of one).
    ``cache_seqlens`` counts the tokens before the new one; a sequence with -1 is padding.
    """
    del causal  # the new token is the last: it sees all
    sequences, _, heads, size = q.shape
    page, key_heads = k_cache.shape[1:3]
    group = heads // key_heads
    splits = _splits(sequences * key_heads, q.device.index)
    strides = (block_table.stride(0), k_cache.stride(0), k_cache.stride(1))
    lengths = cache_seqlens
    for new, cache in ((k, k_cache), (v, v_cache)):
        _append[(sequences, key_heads)](
            new.contiguous(), cache, block_table, lengths, *strides,
            HEADS=key_heads, PAGE=page, SIZE=size,
        )  # fmt: skip
    partial = torch.empty((sequences, heads, splits, size), dtype=torch.float32, device=q.device)
    exponents = torch.empty((sequences, heads, splits), dtype=torch.float32, device=q.device)
    scale = (size**-0.5 if softmax_scale is None else softmax_scale) * math.log2(math.e)
    _attend[(sequences, key_heads, splits)](
        q.contiguous(), k_cache, v_cache, block_table, lengths, partial, exponents, scale, *strides,
        HEADS=key_heads, GROUP=group, ROWS=max(_LEAST_ROWS, triton.next_power_of_2(group)),
        PAGE=page, SIZE=size, TILE=min(_MOST_TILE, page & -page), SPLITS=splits,
        num_warps=_WARPS, num_stages=_STAGES,
    )  # fmt: skip
    merged = torch.empty_like(q, memory_format=torch.contiguous_format)
    _merge[(sequences * heads,)](partial, exponents, merged, SIZE=size, SPLITS=splits)
    return merged


def _splits(programs: int, device: int | None) -> int:
    """A power of two that gives every multiprocessor some programs."""
    wanted = _PROGRAMS_A_PROCESSOR * _processors(device) / programs
    splits: int = triton.next_power_of_2(max(1, math.ceil(wanted)))
    return min(_MOST_SPLITS, splits)


@functools.cache
def _processors(device: int | None) -> int:
    if not torch.cuda.is_available():
        return 1
    properties: Any = torch.cuda.get_device_properties(device)
    return int(properties.multi_processor_count)
