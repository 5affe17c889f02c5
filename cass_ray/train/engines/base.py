"""How gradients, optimizer state and weights are spread over workers.

:class:`cass_ray.train.engines.replicated.ReplicatedEngine` is ZeRO 0,
:class:`cass_ray.train.engines.deepspeed.DeepSpeedEngine` ZeRO 1, 2 and 3. Both show their fp32
weights and moments as :class:`ParameterShard`s, pieces of parameters, which is what checkpoints are
made of: they are read back by any engine on any number of workers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import torch

from cass_ray.train.data.collate import Batch
from cass_ray.train.model.build import AnswerModel


@dataclass(frozen=True)
class ParameterShard:
    """Elements ``start`` to ``start + size`` of the parameter ``name``, held in a flat tensor."""

    name: str
    start: int
    size: int
    flat: torch.Tensor
    """What the optimizer updates; this shard is a part of it."""
    offset: int
    """Where in ``flat`` the shard begins."""
    group_index: tuple[int, int]
    """Group and number of ``flat`` in the optimizer."""


class TrainingEngine(Protocol):
    """How one worker computes gradients and updates what it holds of the model."""

    model: AnswerModel
    optimizer: torch.optim.Optimizer

    def accumulate(self, batch: Batch, scale: float, last: bool) -> torch.Tensor:
        """Forward and backward; gradients of ``scale`` times the summed loss are added up.

        Returns the summed loss. ``scale`` is for the sum over all workers. ``last`` marks the
        step's last call.
        """
        ...

    def update(self, learning_rate: float) -> float:
        """Sum gradients over the workers, clip, step. Returns the norm before clipping."""
        ...

    def zero_grad(self) -> None:
        """Forget the gradients of this step."""
        ...

    def shards_to_save(self) -> list[ParameterShard]:
        """What this worker is to save, disjoint from every other worker's."""
        ...

    def held_shards(self) -> list[ParameterShard]:
        """What this worker holds, and so must be given when a checkpoint is loaded."""
        ...

    def after_load(self) -> None:
        """Called when the tensors of :meth:`held_shards` have been overwritten."""
        ...

    def full_weights(self) -> Iterator[tuple[str, torch.Tensor]]:
        """Every trained weight, whole, on the CPU of the first worker (others get nothing)."""
        ...
