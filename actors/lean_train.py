"""Ray Train on a node of this process alone, without the actors that watch over a cluster.

Each is a Python that imports Ray Train, two to three seconds of CPU. One frees the workers' places
should the controller die, which end with this node anyway; it asks a dashboard that is not there,
for which the end of a run waits up to a dozen seconds. One hands out data sets, of which our
trainers have none. One looks whether a cloud wants the node back.
"""

from __future__ import annotations

import os
from typing import Any

from ray.train.torch import TorchTrainer

_PREEMPTION_WATCHER = "RAY_TRAIN_ENABLE_PREEMPTION_WATCHER"
_LEFT_OUT = frozenset({"PlacementGroupCleanerCallback", "DatasetsCallback"})


class LeanTrainer(TorchTrainer):  # type: ignore[misc]  # Ray has no types here
    """A trainer without data sets, whose run has its controller and workers alone.

    Ray has no setting for two of them. A version of Ray that asks for its callbacks otherwise, or
    gives them other names, has them all, which costs time alone.
    """

    def fit(self) -> Any:
        os.environ.setdefault(_PREEMPTION_WATCHER, "0")
        return super().fit()

    def _create_default_callbacks(self) -> list[Any]:
        result: list[Any] = super()._create_default_callbacks()
        return [each for each in result if type(each).__name__ not in _LEFT_OUT]
