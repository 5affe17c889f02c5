"""A learner of several workers: the first one leads, the others do what it does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.distributed as dist

from cass_ray.train.distributed import DistributedContext
from cass_ray.train.rl.learner import JudgedGroup, Learner

_STEP, _WEIGHTS, _END = "step", "weights", "end"


class LeadingLearner:
    """The learner of the first worker; the others are in :func:`follow` until :meth:`end`."""

    def __init__(self, learner: Learner, distributed: DistributedContext) -> None:
        self._learner, self._distributed = learner, distributed

    @property
    def steps(self) -> int:
        """Optimizer steps so far."""
        return self._learner.steps

    def step(self, groups: Sequence[JudgedGroup]) -> dict[str, float]:
        """See :meth:`cass_ray.train.rl.learner.Learner.step`."""
        self._tell(_STEP, groups)
        return self._learner.step(groups)

    def weights(self) -> dict[str, torch.Tensor]:
        """See :meth:`cass_ray.train.rl.learner.Learner.weights`."""
        self._tell(_WEIGHTS)
        return self._learner.weights()

    def end(self) -> None:
        """Let the others go."""
        self._tell(_END)

    def _tell(self, what: str, content: Any = None) -> None:
        if self._distributed.world_size > 1:
            dist.broadcast_object_list([what, content], src=0)


def follow(learner: Learner) -> None:
    """Do as the first worker does, until it ends."""
    while True:
        box: list[Any] = [None, None]
        dist.broadcast_object_list(box, src=0)
        if box[0] == _END:
            return
        if box[0] == _STEP:
            learner.step(box[1])
        else:
            learner.weights()
