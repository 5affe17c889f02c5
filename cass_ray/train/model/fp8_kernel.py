"""Triton's kernel of :mod:`.fp8`: a matrix in FP8 and the same transposed, read once."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

_TILE = (128, 64)
"""Rows and columns that a program of the kernel converts."""


@triton.jit  # type: ignore[untyped-decorator]
def _both_ways(  # type: ignore[no-untyped-def]
    x_at,
    scale_at,
    values_at,
    turned_at,
    rows,
    columns,
    padded,
    most: tl.constexpr,
    tall: tl.constexpr,
    wide: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * tall + tl.arange(0, tall)
    column = tl.program_id(1) * wide + tl.arange(0, wide)
    here = (row[:, None] < rows) & (column[None, :] < columns)
    places = row[:, None] * columns + column[None, :]
    x = tl.load(x_at + places, mask=here, other=0.0).to(tl.float32)
    x = tl.minimum(tl.maximum(x / tl.load(scale_at), -most), most)
    narrow = x.to(values_at.dtype.element_ty)
    tl.store(values_at + places, narrow, mask=here)
    places = column[:, None].to(tl.int64) * padded + row[None, :]
    here = (column[:, None] < columns) & (row[None, :] < padded)
    tl.store(turned_at + places, tl.trans(narrow), mask=here)


def convert(
    x: torch.Tensor, scale: torch.Tensor, values: torch.Tensor, turned: torch.Tensor
) -> None:
    """Write ``x / scale`` to ``values`` (rows, columns) and ``turned`` (columns, padded rows)."""
    rows, columns = x.shape
    padded = turned.shape[1]
    most = torch.finfo(values.dtype).max
    grid = (triton.cdiv(padded, _TILE[0]), triton.cdiv(columns, _TILE[1]))
    _both_ways[grid](x, scale, values, turned, rows, columns, padded, most, *_TILE, num_warps=8)
