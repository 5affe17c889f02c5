"""Attention of one new token a row over a cache, in Triton: each row reads just what it has.

A product over the whole cache reads every row to the length of the longest, and with three queries
a key it runs far below the memory's speed. Here the tokens of a row are split over programs
(Flash-Decoding, Dao et al., 2023), whose parts are put together afterwards.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

_PART = 512
"""Tokens of a part."""
_BLOCK = 64
"""Tokens that a program holds at once."""
_PARTS_AT_ONCE = 16
_QUERIES = 16
"""Rows of a tile of queries: the least that the matrix units take."""


@triton.jit  # type: ignore[untyped-decorator]
def _parts(  # type: ignore[no-untyped-def]
    query, keys, values, place, sums, greatest, weight,
    scale, stride,
    shared: tl.constexpr, width: tl.constexpr, queries: tl.constexpr,
    part: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    row, group, number = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    groups, parts = tl.num_programs(1), tl.num_programs(2)
    pair = row * groups + group
    seen = tl.load(place + row).to(tl.int32) + 1
    head = tl.arange(0, queries)
    across = tl.arange(0, width)
    q = tl.load(
        query + (pair * shared + head)[:, None] * width + across[None, :],
        mask=head[:, None] < shared,
        other=0.0,
    )
    cache = pair.to(tl.int64) * stride * width
    most = tl.full([queries], -1e30, tl.float32)
    total = tl.zeros([queries], tl.float32)
    out = tl.zeros([queries, width], tl.float32)
    start = number * part
    stop = tl.minimum(start + part, seen)
    for first in range(start, stop, block):
        token = first + tl.arange(0, block)
        there = token < stop
        where = cache + token[:, None] * width + across[None, :]
        k = tl.load(keys + where, mask=there[:, None], other=0.0)
        v = tl.load(values + where, mask=there[:, None], other=0.0)
        score = tl.dot(q, tl.trans(k)).to(tl.float32) * scale
        score = tl.where(there[None, :], score, -1e30)
        higher = tl.maximum(most, tl.max(score, 1))
        power = tl.exp(score - higher[:, None])
        shrink = tl.exp(most - higher)
        total = total * shrink + tl.sum(power, 1)
        out = out * shrink[:, None] + tl.dot(power.to(v.dtype), v).to(tl.float32)
        most = higher
    place_of = (pair * shared + head) * parts + number
    tl.store(greatest + place_of, most, mask=head < shared)
    tl.store(weight + place_of, total, mask=head < shared)
    tl.store(sums + place_of[:, None] * width + across[None, :], out, mask=head[:, None] < shared)


@triton.jit  # type: ignore[untyped-decorator]
def _whole(  # type: ignore[no-untyped-def]
    sums, greatest, weight, out, parts, width: tl.constexpr, block: tl.constexpr
):
    head = tl.program_id(0).to(tl.int64)
    across = tl.arange(0, width)
    most = tl.max(tl.full([block], -1e30, tl.float32), 0)
    total = most * 0.0
    whole = tl.zeros([width], tl.float32)
    for first in range(0, parts, block):
        number = first + tl.arange(0, block)
        there = number < parts
        place = head * parts + number
        high = tl.load(greatest + place, mask=there, other=-1e30)
        higher = tl.maximum(most, tl.max(high, 0))
        share, shrink = tl.exp(high - higher), tl.exp(most - higher)
        total = total * shrink + tl.sum(share * tl.load(weight + place, mask=there, other=0.0), 0)
        where = place[:, None] * width + across[None, :]
        part = tl.load(sums + where, mask=there[:, None], other=0.0)
        whole = whole * shrink + tl.sum(share[:, None] * part, 0)
        most = higher
    tl.store(out + head * width + across, (whole / total).to(out.dtype.element_ty))


def attend_cached(
    query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, place: torch.Tensor
) -> torch.Tensor:
    """Attention of each row's token at ``place`` over the tokens up to it.

    Args:
        query: (rows, groups, queries a group, width), at most 16 queries a group; width is a power
            of two of at least 16.
        keys: (rows, groups, longest, width), contiguous; ``values`` likewise.
        values: see ``keys``.
        place: int64, (rows,): the place of the row's token in the cache.

    Returns:
        The shape of ``query``.
    """
    rows, groups, shared, width = query.shape
    longest = keys.shape[2]
    parts = -(-longest // _PART)
    sums = query.new_empty((rows, groups, shared, parts, width), dtype=torch.float32)
    greatest, weight = sums.new_empty((2, rows, groups, shared, parts)).unbind(0)
    _parts[(rows, groups, parts)](
        query.contiguous(), keys, values, place, sums, greatest, weight,
        width**-0.5, longest,
        shared=shared, width=width, queries=_QUERIES, part=_PART, block=_BLOCK,
    )  # fmt: skip
    out = torch.empty_like(query, memory_format=torch.contiguous_format)
    _whole[(rows * groups * shared,)](
        sums, greatest, weight, out, parts, width=width, block=_PARTS_AT_ONCE
    )
    return out
