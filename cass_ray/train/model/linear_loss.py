"""Output head and cross entropy together: logits are held a piece at a time, and read once.

The gradient of a piece's logits is made beside its loss, so that neither the logits nor their
probabilities are kept for the backward pass (as in Liger's kernel, which knows no weights).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812

PIECE = 16384
"""Predictions whose logits are held at once."""


def _piece(
    logits: torch.Tensor, targets: torch.Tensor, weights: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The weighted loss of each row, fp32, and its gradient in the logits' precision."""
    wide = logits.float()
    total = wide.logsumexp(-1, keepdim=True)
    wanted = torch.arange(wide.shape[-1], device=wide.device)[None] == targets[:, None]
    losses = total[:, 0] - torch.where(wanted, wide, 0.0).sum(-1)
    gradient = ((wide - total).exp() - wanted.float()) * weights[:, None]
    return losses * weights, gradient.to(logits.dtype)


@lru_cache(maxsize=1)
def _compiled() -> Any:
    return torch.compile(_piece, dynamic=True)


class _LinearLoss(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        hidden: torch.Tensor,
        head: torch.Tensor,
        targets: torch.Tensor,
        weights: torch.Tensor,
    ) -> torch.Tensor:
        piece = _compiled() if hidden.is_cuda else _piece
        loss = hidden.new_zeros((), dtype=torch.float32)
        for_hidden = torch.empty_like(hidden)
        for_head = torch.zeros_like(head, dtype=torch.float32)
        for start in range(0, len(targets), PIECE):
            part = slice(start, start + PIECE)
            logits = hidden[part] @ head.t()
            losses, gradient = piece(logits, targets[part], weights[part])
            loss += losses.sum()
            torch.mm(gradient, head, out=for_hidden[part])
            for_head += gradient.t() @ hidden[part]
        ctx.save_for_backward(for_hidden, for_head.to(head.dtype))
        return loss

    @staticmethod
    def backward(ctx: Any, *given: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        for_hidden, for_head = ctx.saved_tensors
        scale = given[0]
        return for_hidden * scale.to(for_hidden), for_head * scale.to(for_head), None, None


def linear_loss(
    hidden: torch.Tensor,
    head: torch.nn.Linear,
    targets: torch.Tensor,
    weights: torch.Tensor | None = None,
) -> torch.Tensor:
    """Summed cross entropy of ``head`` over ``hidden``, fp32.

    Args:
        hidden: (predictions, width).
        head: has no bias.
        targets: (predictions,).
        weights: (predictions,), fp32: what each target counts; None: 1.
    """
    if weights is None:
        weights = torch.ones(len(targets), device=hidden.device)
    result: torch.Tensor = _LinearLoss.apply(hidden, head.weight, targets, weights)  # type: ignore[no-untyped-call]
    return result


def plain_loss(
    hidden: torch.Tensor,
    head: torch.nn.Linear,
    targets: torch.Tensor,
    weights: torch.Tensor | None = None,
) -> torch.Tensor:
    """The same for measuring, and for heads with a bias."""
    total = hidden.new_zeros((), dtype=torch.float32)
    for start in range(0, len(targets), PIECE):
        part = slice(start, start + PIECE)
        logits = F.linear(hidden[part], head.weight, head.bias).float()
        losses = F.cross_entropy(logits, targets[part], reduction="none")
        total = total + (losses.sum() if weights is None else torch.dot(losses, weights[part]))
    return total
