"""What the backward pass recomputes: nothing where that fits, else as little as it takes.

Compiled layers recompute what the compiler finds cheapest within its memory budget; without
compilation some of the layers recompute all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch.utils.checkpoint import checkpoint

SHARES = (1.0, 0.75, 0.5, 0.35, 0.2, 0.0)
"""Shares of the activations that may be kept, tried in this order."""


def recompute_layers(layers: Sequence[torch.nn.Module], number: int) -> None:
    """Let the first ``number`` decoder layers keep their input alone.

    They are transformers' ``GradientCheckpointingLayer``; what the last ones keep is freed first.
    """
    for index, layer in enumerate(layers):
        target: Any = layer
        target.gradient_checkpointing = index < number
        target._gradient_checkpointing_func = partial(checkpoint, use_reentrant=False)


def keep_share(layers: Sequence[torch.nn.Module], share: float, *, compiled: bool) -> str:
    """Let ``layers`` keep so much of their activations; returns a line for the log."""
    if not compiled:
        number = round((1.0 - share) * len(layers))
        recompute_layers(layers, number)
        return f"{number} of {len(layers)} layers recompute" if number else "nothing"
    import torch._functorch.config as compiler

    if compiler.activation_memory_budget != share:
        compiler.activation_memory_budget = share
        torch._dynamo.reset()
    return "nothing" if share == 1.0 else f"the compiler's choice, to keep {share:.0%}"


def most_bytes(run: Callable[[], torch.Tensor], reserved: int) -> float:
    """The most GPU memory that training takes, by a trial of ``run`` (a pass on a full window).

    ``reserved``: bytes that come later, gradients and optimizer state. Infinite where the trial ran
    out of memory.
    """
    torch.cuda.synchronize()
    resting = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    try:
        run().backward()
    except torch.OutOfMemoryError:
        torch.cuda.empty_cache()
        return float("inf")
    gradients = max(torch.cuda.memory_allocated() - resting, 0)
    return torch.cuda.max_memory_allocated() - gradients + reserved


def keep_what_fits(
    layers: Sequence[torch.nn.Module],
    trial: Callable[[], float],
    budget: float,
    *,
    compiled: bool,
    all_max: Callable[[float], float],
) -> str:
    """Keep as much as fits ``budget`` bytes on every worker; returns a line for the log.

    Args:
        layers: the decoder layers.
        trial: the most bytes that training takes as the layers are (:func:`most_bytes`).
        budget: bytes of GPU memory that may be used in all.
        compiled: whether ``layers`` are.
        all_max: the largest of all workers' values, so that all decide alike.
    """
    note, size = "", 0.0
    for share in SHARES:
        note = keep_share(layers, share, compiled=compiled)
        size = all_max(trial())
        if size <= budget:
            break
    used = "no trial fits" if size > budget else f"{size / 2**30:.1f}"
    return f"{note}; {used} of {budget / 2**30:.1f} GiB"
