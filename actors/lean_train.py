"""Ray Train on a node of this process alone, without the actors that watch over a cluster.

Each is a Python that imports Ray Train, two to three seconds of CPU. One frees the workers' places
should the controller die, which end with this node anyway; it asks a dashboard that is not there,
for which the end of a run waits up to a dozen seconds. One hands out data sets, of which our
trainers have none. One looks whether a cloud wants the node back.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any
from unittest import mock

_WATCHER = "RAY_TRAIN_ENABLE_PREEMPTION_WATCHER"
_LEFT_OUT = ("PlacementGroupCleanerCallback", "DatasetsCallback")


def _nothing(*arguments: Any, **options: Any) -> Any:
    """A callback of Ray Train that wants to hear of nothing."""
    from ray.train.v2._internal.execution.callback import RayTrainCallback

    return RayTrainCallback()


@contextlib.contextmanager
def without_watchers() -> Iterator[None]:
    """Trainers without data sets that are run meanwhile have their controller and workers alone.

    They have them all where this version of Ray keeps them elsewhere: that costs time alone.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.dict(os.environ, {_WATCHER: "0"}))
        with contextlib.suppress(ImportError):
            from ray.train.v2.api import data_parallel_trainer

            for name in _LEFT_OUT:
                if hasattr(data_parallel_trainer, name):
                    stack.enter_context(mock.patch.object(data_parallel_trainer, name, _nothing))
        yield
