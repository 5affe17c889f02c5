"""FlashAttention's packages 3 and 4, for Hopper and later; version 2 is in PyTorch itself.

All have one function for several examples of different lengths, which takes tensors by token, as
models make them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from typing import Any

import torch

_MODULES = {3: "flash_attn_interface", 4: "flash_attn.cute"}
"""Modules by version, the fastest first."""


@dataclass(frozen=True)
class FlashPackage:
    """One that is installed."""

    version: int
    several: Callable[..., Any]
    """``flash_attn_varlen_func`` or what has its arguments."""

    def attend(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        lengths: tuple[int, ...],
        scale: float | None,
    ) -> torch.Tensor:
        """Causal attention within each example: (1, tokens, heads, width) in and out."""
        bounds, longest = example_bounds(lengths, query.device), max(lengths)
        made = self.several(
            query[0],
            key[0],
            value[0],
            cu_seqlens_q=bounds,
            cu_seqlens_k=bounds,
            max_seqlen_q=longest,
            max_seqlen_k=longest,
            softmax_scale=scale,
            causal=True,
        )
        result: torch.Tensor = made[0] if isinstance(made, tuple) else made
        return result[None]


@lru_cache(maxsize=1)
def flash_package() -> FlashPackage | None:
    """The best package that is installed; None where none is."""
    for version, module in _MODULES.items():
        try:
            function = import_module(module).flash_attn_varlen_func
            return FlashPackage(version, _version_4() if version == 4 else function)
        except (ImportError, AttributeError, OSError, RuntimeError):
            continue
    return None


@lru_cache(maxsize=256)
def example_bounds(lengths: tuple[int, ...], device: torch.device) -> torch.Tensor:
    """Where examples begin and the last ends: (examples + 1,), int32."""
    ends = torch.tensor([0, *lengths], dtype=torch.int32).cumsum(0, dtype=torch.int32)
    return ends.to(device, non_blocking=True)


@cache
def _version_4() -> Callable[..., torch.Tensor]:
    """Version 4 as an operation of torch, which activation checkpoints can tell from others.

    The package has its kernels in an ``autograd.Function`` of its own, which they cannot see.
    """
    kernels = import_module("flash_attn.cute.interface")

    @torch.library.custom_op(
        "cass_ray::flash_attention_4",
        mutates_args=(),
        schema="(Tensor q, Tensor k, Tensor v, Tensor? bounds, int longest, float scale)"
        " -> (Tensor, Tensor)",
    )
    def forward(
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        bounds: torch.Tensor | None,
        longest: int,
        scale: float,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        out, logsumexp, *_ = kernels._flash_attn_fwd(
            q, k, v, **_packed(bounds, longest), softmax_scale=scale, causal=True, return_lse=True
        )
        return out, logsumexp

    @torch.library.custom_op(
        "cass_ray::flash_attention_4_backward",
        mutates_args=(),
        schema="(Tensor q, Tensor k, Tensor v, Tensor out, Tensor given, Tensor logsumexp, "
        "Tensor? bounds, int longest, float scale) -> (Tensor, Tensor, Tensor)",
    )
    def backward(
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        out: torch.Tensor,
        given: torch.Tensor,
        logsumexp: torch.Tensor,
        bounds: torch.Tensor | None,
        longest: int,
        scale: float,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        gradients = kernels._flash_attn_bwd(
            q,
            k,
            v,
            out,
            given.contiguous(),
            logsumexp,
            softmax_scale=scale,
            causal=True,
            **_packed(bounds, longest),
        )
        return gradients[0], gradients[1], gradients[2]

    def keep(ctx: Any, inputs: tuple[Any, ...], output: tuple[torch.Tensor, ...]) -> None:
        q, k, v, bounds, ctx.longest, ctx.scale = inputs
        ctx.save_for_backward(q, k, v, *output, bounds)

    def differentiate(ctx: Any, *given: torch.Tensor) -> tuple[Any, ...]:
        q, k, v, out, logsumexp, bounds = ctx.saved_tensors
        gradients = backward(q, k, v, out, given[0], logsumexp, bounds, ctx.longest, ctx.scale)
        return (*gradients, None, None, None)

    forward.register_autograd(differentiate, setup_context=keep)

    def attend(
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        *,
        cu_seqlens_q: torch.Tensor,
        max_seqlen_q: int,
        softmax_scale: float | None,
        **_: Any,
    ) -> torch.Tensor:
        scale = q.shape[-1] ** -0.5 if softmax_scale is None else softmax_scale
        if cu_seqlens_q.shape[0] > 2:
            made: torch.Tensor = forward(q, k, v, cu_seqlens_q, max_seqlen_q, scale)[0]
            return made
        # One example: the kernel that knows no bounds is 2% faster.
        alone: torch.Tensor = forward(q[None], k[None], v[None], None, max_seqlen_q, scale)[0]
        return alone[0]

    return attend


def _packed(bounds: torch.Tensor | None, longest: int) -> dict[str, Any]:
    if bounds is None:
        return {}
    return {
        "cu_seqlens_q": bounds,
        "cu_seqlens_k": bounds,
        "max_seqlen_q": longest,
        "max_seqlen_k": longest,
    }
