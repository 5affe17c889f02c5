"""Matrix products in FP8: e4m3 forward, e5m2 for gradients, one scale a tensor (Micikevicius et
al., 2022, arXiv:2209.05433).

Scales follow the tensors of the moment. Weights, gradients and everything between the products
stay as they are.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

_FORWARD, _BACKWARD = torch.float8_e4m3fn, torch.float8_e5m2
_MULTIPLE = 16
"""Of which both sides of a matrix have to be a multiple for the hardware's products."""


def works(device: torch.device) -> bool:
    """Whether ``device`` multiplies FP8 (Ada, Hopper and later)."""
    return device.type == "cuda" and torch.cuda.get_device_capability(device) >= (8, 9)


def use_fp8(layers: list[nn.Module]) -> int:
    """Let the products of ``layers`` be made in FP8; how many are.

    Those whose sides are no multiple of 16 and those with a bias stay as they are.
    """
    result = [
        module
        for layer in layers
        for module in layer.modules()
        if isinstance(module, nn.Linear)
        and getattr(module, "bias", None) is None
        and not (module.in_features % _MULTIPLE or module.out_features % _MULTIPLE)
    ]
    for module in result:
        module.__class__ = _Fp8Linear
    return len(result)


class _Fp8Linear(nn.Linear):
    def forward(self, input: torch.Tensor) -> torch.Tensor:
        rows = input.reshape(-1, input.shape[-1])
        result: torch.Tensor = _Product.apply(rows, self.weight)  # type: ignore[no-untyped-call]
        return result.view(*input.shape[:-1], -1)


class _Product(torch.autograd.Function):
    """``x @ weight.T``; ``x`` (rows, in), ``weight`` (out, in)."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x, weight)
        return _multiplied(_scaled(x, _FORWARD), _scaled(weight, _FORWARD), x.dtype, fast=True)

    @staticmethod
    def backward(ctx: Any, *given: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x, weight = ctx.saved_tensors
        more = -x.shape[0] % _MULTIPLE  # rows are what the second product sums over
        padded = [F.pad(item, (0, 0, 0, more)) if more else item for item in (given[0], x)]
        gradient, scale = _scaled(padded[0], _BACKWARD)
        x8, x_scale = _scaled(padded[1], _FORWARD)
        w8, w_scale = _scaled(weight, _FORWARD)
        for_x = _multiplied((gradient, scale), (w8.t().contiguous(), w_scale), x.dtype)
        left, right = gradient.t().contiguous(), x8.t().contiguous()
        for_weight = _multiplied((left, scale), (right, x_scale), weight.dtype)
        return for_x[: x.shape[0]], for_weight


_Scaled = tuple[torch.Tensor, torch.Tensor]
"""Values in FP8, and what they are multiplied with to be the tensor again."""


def _scaled(x: torch.Tensor, kind: torch.dtype) -> _Scaled:
    most = torch.finfo(kind).max
    scale = x.abs().amax().float().clamp(min=1e-12) / most
    return (x.float() / scale).clamp(-most, most).to(kind), scale


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
