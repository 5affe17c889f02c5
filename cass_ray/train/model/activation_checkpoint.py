"""What the backward pass recomputes: per layer, as little as the memory allows.

Levels, from least memory to most. Attention is the first thing worth keeping (many operations for
each number kept), then the matrix products; what is left then is elementwise and nearly free.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from functools import partial
from typing import Any

import torch
from torch.utils.checkpoint import (
    CheckpointPolicy,
    checkpoint,
    create_selective_checkpoint_contexts,
)


class Keep(IntEnum):
    """What a layer keeps for the backward pass, besides its input."""

    NOTHING = 0
    ATTENTION = 1
    PRODUCTS = 2
    """Attention and matrix products; elementwise operations are recomputed."""
    EVERYTHING = 3


def _attention_operations() -> frozenset[Any]:
    names = (
        ("aten", "_scaled_dot_product_cudnn_attention"),
        ("aten", "_scaled_dot_product_flash_attention"),
        ("aten", "_scaled_dot_product_efficient_attention"),
        ("aten", "_scaled_dot_product_flash_attention_for_cpu"),
        ("torch_attn", "_varlen_attn"),
        ("flash_attn", "_flash_attn_varlen_forward"),
        ("flash_attn_3", "fwd"),
        ("cass_ray", "flash_attention_4"),
    )
    return frozenset().union(*(_operations(namespace, name) for namespace, name in names))


def _operations(namespace: str, name: str) -> frozenset[Any]:
    packet = getattr(getattr(torch.ops, namespace), name, None)
    return (
        frozenset(getattr(packet, item) for item in packet.overloads()) if packet else frozenset()
    )


_SCALED = torch.ops.aten._scaled_mm.default
"""Of FP8 (:mod:`cass_ray.train.model.fp8`)."""
_PRODUCTS = frozenset({torch.ops.aten.mm.default, torch.ops.aten.addmm.default, _SCALED})


def _policy(keep: Keep, last_width: int) -> Callable[..., CheckpointPolicy]:
    attention = _attention_operations()

    def decide(_: Any, operation: Any, *arguments: Any, **__: Any) -> CheckpointPolicy:
        if operation in attention:
            return CheckpointPolicy.MUST_SAVE
        # The last product of a layer (the one that takes `last_width` numbers) is only added to
        # the residual: no gradient needs it. In FP8 it is a part of a function of our own, which
        # is computed again as a whole for what it keeps.
        if (
            keep >= Keep.PRODUCTS
            and operation in _PRODUCTS
            and (operation is _SCALED or arguments[-2].shape[-1] != last_width)
        ):
            return CheckpointPolicy.MUST_SAVE
        return CheckpointPolicy.PREFER_RECOMPUTE

    return decide


def apply(layers: Sequence[torch.nn.Module], keeps: Sequence[Keep], last_width: int) -> None:
    """Set what each decoder layer keeps (transformers' ``GradientCheckpointingLayer``)."""
    for layer, keep in zip(layers, keeps, strict=True):
        options: dict[str, Any] = {"use_reentrant": False}
        if keep in (Keep.ATTENTION, Keep.PRODUCTS):
            options["context_fn"] = partial(
                create_selective_checkpoint_contexts, _policy(keep, last_width)
            )
        target: Any = layer
        target.gradient_checkpointing = keep is not Keep.EVERYTHING
        target._gradient_checkpointing_func = partial(checkpoint, **options)


@contextmanager
def _measured(layers: Sequence[torch.nn.Module]) -> Iterator[list[int]]:
    """Bytes that stay allocated after each layer's forward pass."""
    kept: list[int] = []
    before: list[int] = []
    handles = []
    for layer in layers:
        handles.append(
            layer.register_forward_pre_hook(
                torch.compiler.disable(lambda *_: before.append(torch.cuda.memory_allocated())),
                prepend=True,
            )
        )
        handles.append(
            layer.register_forward_hook(
                torch.compiler.disable(
                    lambda *_: kept.append(torch.cuda.memory_allocated() - before[-1])
                )
            )
        )
    try:
        yield kept
    finally:
        for handle in handles:
            handle.remove()


def assign(
    number: int, cost: dict[Keep, int], available: int, best: Keep = Keep.EVERYTHING
) -> list[Keep]:
    """A level for each of ``number`` layers, so that their bytes fit ``available``.

    All layers reach one level before the first reaches the next; layers near the end go first,
    since what they keep is freed first. ``cost`` is bytes a layer by level.
    """
    keeps = [Keep.NOTHING] * number
    left = available - number * cost[Keep.NOTHING]
    for level in (Keep.ATTENTION, Keep.PRODUCTS, Keep.EVERYTHING):
        if level > best:
            break
        for layer in reversed(range(number)):
            more = cost[level] - cost[keeps[layer]]
            if more > left:
                return keeps
            keeps[layer], left = level, left - more
    return keeps


def choose(
    layers: Sequence[torch.nn.Module],
    last_width: int,
    run: Callable[[], torch.Tensor],
    budget: int,
    reserved: int,
) -> tuple[list[Keep], str]:
    """Measure what each level costs with ``run`` (a forward pass on a full window) and assign.

    Args:
        layers: the decoder layers.
        last_width: numbers that the last product of a layer takes (the MLP's width).
        run: forward pass; returns the loss.
        budget: bytes of GPU memory that may be used in all.
        reserved: bytes that come later: gradients and optimizer state not yet allocated.

    Returns:
        The levels, which are set already, and a line for the log.
    """
    count = len(layers)
    cost: dict[Keep, int] = {}
    apply(layers, [Keep.NOTHING] * count, last_width)
    torch.cuda.synchronize()
    resting = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    run().backward()
    gradients = max(torch.cuda.memory_allocated() - resting, 0)
    temporary = torch.cuda.max_memory_allocated() - resting - gradients
    cycle = [Keep(number % 4) for number in range(count)]
    apply(layers, cycle, last_width)
    with _measured(layers) as kept:
        loss = run()
    del loss
    for level in Keep:
        seen = [size for size, keep in zip(kept, cycle, strict=True) if keep is level]
        # A model of fewer than four layers shows some levels only: run those levels alone.
        cost[level] = (
            sorted(seen)[len(seen) // 2] if seen else _alone(layers, level, last_width, run)
        )
    # `temporary` holds every layer's input already, and one layer's recomputation.
    fixed = resting + reserved + temporary - count * cost[Keep.NOTHING] + cost[Keep.EVERYTHING] // 4
    keeps = assign(count, cost, budget - fixed)
    apply(layers, keeps, last_width)
    shares = ", ".join(
        f"{keeps.count(level)} keep {level.name.lower()} ({cost[level] / 2**20:.0f} MiB each)"
        for level in Keep
        if keeps.count(level)
    )
    return keeps, f"of {count} layers {shares}; budget {budget / 2**30:.1f} GiB"


def _alone(
    layers: Sequence[torch.nn.Module],
    level: Keep,
    last_width: int,
    run: Callable[[], torch.Tensor],
) -> int:
    apply(layers, [level] * len(layers), last_width)
    with _measured(layers) as kept:
        loss = run()
    del loss
    return max(kept)
