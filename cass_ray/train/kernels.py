"""Fused kernels: the loss on answer tokens alone, and Liger's where there is a GPU."""

from __future__ import annotations

from importlib import import_module
from types import MethodType
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812

_CHUNK = 4096
"""Predictions whose logits are held at once where there is no fused kernel."""


def _plain_loss(hidden: torch.Tensor, head: torch.nn.Linear, targets: torch.Tensor) -> torch.Tensor:
    total = hidden.new_zeros((), dtype=torch.float32)
    for start in range(0, len(targets), _CHUNK):
        logits = F.linear(hidden[start : start + _CHUNK], head.weight, head.bias)
        total = total + F.cross_entropy(
            logits.float(), targets[start : start + _CHUNK], reduction="sum"
        )
    return total


def _liger_loss(hidden: torch.Tensor, head: torch.nn.Linear, targets: torch.Tensor) -> torch.Tensor:
    from liger_kernel.transformers.functional import liger_fused_linear_cross_entropy

    loss: torch.Tensor = liger_fused_linear_cross_entropy(
        hidden, head.weight, targets, bias=head.bias, reduction="sum"
    )
    return loss


def add_loss_to_head(head: torch.nn.Linear, fused: bool) -> None:
    """Let ``head(hidden, targets)`` return the summed cross entropy, without keeping logits.

    It stays a call of the module, so that ZeRO-3 gathers the weights for it.
    """

    def forward(
        self: torch.nn.Linear, hidden: torch.Tensor, targets: torch.Tensor | None = None
    ) -> torch.Tensor:
        if targets is None:
            return F.linear(hidden, self.weight, self.bias)
        if fused and hidden.is_cuda:
            return _liger_loss(hidden, self, targets)
        return _plain_loss(hidden, self, targets)

    head.forward = MethodType(forward, head)  # type: ignore[method-assign]


def apply_liger(model: Any) -> str:
    """Patch RMSNorm, RoPE and SwiGLU of ``model`` with Liger's kernels; returns what was done."""
    try:
        from liger_kernel.transformers import monkey_patch
        from liger_kernel.transformers.rope import liger_rotary_pos_emb
    except ImportError as error:
        return f"no Liger kernels: {error}"
    kind = model.config.model_type
    patch = monkey_patch.MODEL_TYPE_TO_APPLY_LIGER_FN.get(kind)
    if patch is None:
        return f"no Liger kernels for {kind}"
    # Liger's RoPE writes into its arguments, which selective recomputation has kept: copy first.
    patch(rope=False, fused_linear_cross_entropy=False, cross_entropy=False, model=model)
    module: Any = import_module(type(model).__module__)
    if hasattr(module, "apply_rotary_pos_emb"):

        def rotary(q: torch.Tensor, k: torch.Tensor, *rest: Any, **options: Any) -> Any:
            return liger_rotary_pos_emb(q.clone(), k.clone(), *rest, **options)

        module.apply_rotary_pos_emb = rotary
    return "Liger: RMSNorm, RoPE, SwiGLU, linear cross entropy"
