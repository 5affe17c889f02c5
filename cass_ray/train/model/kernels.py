"""Fused kernels: the loss on answer tokens alone, and Liger's where there is a GPU."""

from __future__ import annotations

from importlib import import_module
from types import MethodType
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812

from cass_ray.train.model import linear_loss

_LOGITS = 1 << 30
"""Elements of logits that the fused kernel may hold at once. Its own choice keeps logits as small
as the hidden states, which for a vocabulary of 152,000 means products of 128 rows: each reads all
the weights again, and they are as slow as memory."""


def _liger_loss(hidden: torch.Tensor, head: torch.nn.Linear, targets: torch.Tensor) -> torch.Tensor:
    from liger_kernel.transformers.functional import liger_fused_linear_cross_entropy

    loss: torch.Tensor = liger_fused_linear_cross_entropy(
        hidden,
        head.weight,
        targets,
        bias=head.bias,
        reduction="sum",
        chunk_mem_const=logits_budget(len(targets), hidden.shape[-1], head.weight.shape[0]),
    )
    return loss


def logits_budget(predictions: int, width: int, vocabulary: int) -> int:
    """Liger's ``chunk_mem_const``: logits at once, in multiples of the hidden states' size.

    Liger takes ``2^ceil(log2(predictions * budget * width / vocabulary))`` rows at once; this is
    the largest budget whose rows stay within ``_LOGITS`` (never less than 1, Liger's default).
    """
    rows = 1 << max((_LOGITS // vocabulary).bit_length() - 1, 0)
    return max(1, rows * vocabulary // max(predictions * width, 1))


def add_loss_to_head(head: torch.nn.Linear, fused: bool) -> None:
    """Let ``head(hidden, targets, weights)`` return the summed cross entropy.

    All logits are never held at once, and each target counts its weight (None: 1).

    It stays a call of the module, so that ZeRO-3 gathers the weights for it.
    """

    plain = getattr(head, "bias", None) is not None

    def forward(
        self: torch.nn.Linear,
        hidden: torch.Tensor,
        targets: torch.Tensor | None = None,
        weights: torch.Tensor | None = None,
    ) -> torch.Tensor:
        if targets is None:
            return F.linear(hidden, self.weight, self.bias)
        if fused and hidden.is_cuda and weights is None:
            return _liger_loss(hidden, self, targets)
        if plain or not torch.is_grad_enabled():
            return linear_loss.plain_loss(hidden, self, targets, weights)
        return linear_loss.linear_loss(hidden, self, targets, weights)

    head.forward = MethodType(forward, head)  # type: ignore[method-assign]


def apply_liger(model: Any, *, elementwise: bool = True) -> str:
    """Patch RMSNorm, RoPE and SwiGLU of ``model`` with Liger's kernels; returns what was done.

    Not ``elementwise``: they are left as they are, for ``torch.compile`` to fuse.
    """
    try:
        from liger_kernel.transformers import monkey_patch
        from liger_kernel.transformers.rope import liger_rotary_pos_emb
    except ImportError as error:
        return f"no Liger kernels: {error}"
    if not elementwise:
        return "Liger: linear cross entropy (the rest is compiled)"
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
