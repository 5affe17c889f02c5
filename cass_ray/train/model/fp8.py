"""Matrix products in FP8: e4m3 forward, e5m2 for gradients, one scale a tensor (Micikevicius et
al., 2022, arXiv:2209.05433).

Scales follow the tensors of the moment. Weights, gradients and everything between the products
stay as they are. Meant to be compiled: the largest value of a tensor is then found by the kernel
that computes it, where that is possible.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

_FORWARD, _BACKWARD = torch.float8_e4m3fn, torch.float8_e5m2
_MULTIPLE = 16
"""Both sides of a matrix have to be a multiple of it for the hardware's products."""


def works(device: torch.device) -> bool:
    """Whether ``device`` multiplies FP8 (Ada, Hopper and later)."""
    return device.type == "cuda" and torch.cuda.get_device_capability(device) >= (8, 9)


def use_fp8(layers: list[nn.Module]) -> int:
    """Let the products of ``layers`` be made in FP8; how many are.

    Those whose sides are no multiple of 16 stay as they are.
    """
    result = [
        module
        for layer in layers
        for module in layer.modules()
        if type(module) is nn.Linear
        and not (module.in_features % _MULTIPLE or module.out_features % _MULTIPLE)
    ]
    for module in result:
        module.__class__ = _Fp8Linear
    return len(result)


class _Fp8Linear(nn.Linear):
    def forward(self, input: torch.Tensor) -> torch.Tensor:
        rows = input.flatten(0, -2)
        product: torch.Tensor = _Product.apply(rows, self.weight)  # type: ignore[no-untyped-call]
        product = product.view(*input.shape[:-1], -1)
        return product if self.bias is None else product + self.bias


class _Product(torch.autograd.Function):
    """``x @ weight.T``; ``x`` (rows, in), ``weight`` (out, in)."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        x_scale, w_scale = _scale(x, _FORWARD), _scale(weight, _FORWARD)
        x8, x8_turned = _both_ways(x, x_scale, _FORWARD)
        w8, w8_turned = _both_ways(weight, w_scale, _FORWARD)
        ctx.save_for_backward(x8_turned, x_scale, w8_turned, w_scale)
        ctx.dtypes = x.dtype, weight.dtype
        return _multiplied((x8, x_scale), (w8, w_scale), x.dtype, fast=True)

    @staticmethod
    def backward(ctx: Any, *given: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x8, x_scale, w8, w_scale = ctx.saved_tensors
        scale = _scale(given[0], _BACKWARD)
        gradient, turned = _both_ways(given[0], scale, _BACKWARD)
        for_x = _multiplied((gradient, scale), (w8, w_scale), ctx.dtypes[0])
        return for_x, _multiplied((turned, scale), (x8, x_scale), ctx.dtypes[1])


def _scale(x: torch.Tensor, kind: torch.dtype) -> torch.Tensor:
    """What the values of ``x`` are divided by in FP8."""
    # By rows first, which the kernel that computes them can do on its way.
    return x.abs().amax(-1).amax().float().clamp(min=1e-12) / torch.finfo(kind).max


@torch.library.custom_op("cass_ray::fp8_both_ways", mutates_args=())
def _both_ways(
    x: torch.Tensor, scale: torch.Tensor, kind: torch.dtype
) -> tuple[torch.Tensor, torch.Tensor]:
    """``x / scale`` in FP8, and transposed, with zeros up to a multiple of 16 rows of ``x``."""
    most = torch.finfo(kind).max
    if not x.is_cuda:
        values = (x.float() / scale).clamp(-most, most).to(kind)
        more = F.pad(values.view(torch.uint8), (0, 0, 0, -x.shape[0] % _MULTIPLE))
        return values, more.t().contiguous().view(kind)
    from cass_ray.train.model.fp8_kernel import convert  # needs Triton

    padded = -(-x.shape[0] // _MULTIPLE) * _MULTIPLE
    values = torch.empty(x.shape, dtype=kind, device=x.device)
    turned = torch.empty((x.shape[1], padded), dtype=kind, device=x.device)
    convert(x.contiguous(), scale, values, turned)
    return values, turned


@_both_ways.register_fake
def _both_shapes(
    x: torch.Tensor, scale: torch.Tensor, kind: torch.dtype
) -> tuple[torch.Tensor, torch.Tensor]:
    rows, columns = x.shape
    padded = (rows + _MULTIPLE - 1) // _MULTIPLE * _MULTIPLE
    return x.new_empty((rows, columns), dtype=kind), x.new_empty((columns, padded), dtype=kind)


_Scaled = tuple[torch.Tensor, torch.Tensor]
"""Values in FP8, and what they are multiplied with to be the tensor again."""


def _multiplied(
    left: _Scaled, right: _Scaled, dtype: torch.dtype, *, fast: bool = False
) -> torch.Tensor:
    """``left @ right.T``, both (rows, inner). ``fast``: sums lose bits, as is usual forward."""
    return torch._scaled_mm(
        left[0],
        right[0].t(),
        scale_a=left[1],
        scale_b=right[1],
        out_dtype=dtype,
        use_fast_accum=fast,
    )
