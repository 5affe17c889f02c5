"""The loss on answer tokens alone, and Liger's kernels where there is a GPU."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from types import MethodType
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch.utils.checkpoint import checkpoint

LOGITS = 1 << 31
"""Elements of logits that are held at once, 4 GiB in bf16. Up to here they are made as a whole,
which is the fastest; beyond by Liger's kernel or in pieces that the backward pass makes again."""

_LIGER_LOGITS = 1 << 30
"""Of these, what Liger's kernel may hold at once. Its own choice keeps logits as small as the
hidden states, which for a vocabulary of 152,000 means products of 128 rows: each reads all the
weights again, and they are as slow as memory."""


def liger_loss(hidden: torch.Tensor, head: torch.nn.Linear, targets: torch.Tensor) -> torch.Tensor:
    """Summed cross entropy by Liger's kernel, which holds a part of the logits at a time."""
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
    the largest budget whose rows stay within ``_LIGER_LOGITS`` (never less than 1, its default).
    """
    rows = 1 << max((_LIGER_LOGITS // vocabulary).bit_length() - 1, 0)
    return max(1, rows * vocabulary // max(predictions * width, 1))


def _cross_entropy(
    logits: torch.Tensor, targets: torch.Tensor, weights: torch.Tensor | None
) -> torch.Tensor:
    losses = F.cross_entropy(logits.float(), targets, reduction="none")
    return (losses if weights is None else losses * weights).sum()


@lru_cache(maxsize=1)
def _compiled() -> Any:
    return torch.compile(_cross_entropy)


def plain_loss(
    hidden: torch.Tensor,
    head: torch.nn.Linear,
    targets: torch.Tensor,
    weights: torch.Tensor | None = None,
) -> torch.Tensor:
    """Summed cross entropy of ``head`` over ``hidden``, fp32.

    Args:
        hidden: (predictions, width).
        head: the output layer.
        targets: (predictions,).
        weights: (predictions,), fp32: what each target counts; None: 1.
    """

    def piece(part: slice) -> torch.Tensor:
        logits = F.linear(hidden[part], head.weight, head.bias)
        loss = _compiled() if hidden.is_cuda else _cross_entropy
        counted = None if weights is None else weights[part]
        result: torch.Tensor = loss(logits, targets[part], counted)
        return result

    rows = max(LOGITS // head.weight.shape[0], 1)
    if len(targets) <= rows:
        return piece(slice(None))
    total = hidden.new_zeros((), dtype=torch.float32)
    for start in range(0, len(targets), rows):
        part: Any = slice(start, start + rows)
        total = total + checkpoint(piece, part, use_reentrant=False)
    return total


def add_loss_to_head(head: torch.nn.Linear, fused: bool) -> None:
    """Let ``head(hidden, targets, weights)`` return the summed cross entropy.

    Each target counts its weight (None: 1). ``fused``: by Liger's kernel, where logits are large.

    It stays a call of the module, so that ZeRO-3 gathers the weights for it.
    """

    def forward(
        self: torch.nn.Linear,
        hidden: torch.Tensor,
        targets: torch.Tensor | None = None,
        weights: torch.Tensor | None = None,
    ) -> torch.Tensor:
        if targets is None:
            return F.linear(hidden, self.weight, self.bias)
        if fused and len(targets) * self.weight.shape[0] > LOGITS and weights is None:
            return liger_loss(hidden, self, targets)
        return plain_loss(hidden, self, targets, weights)

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
        return "Liger: linear cross entropy of large logits (the rest is compiled)"
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
