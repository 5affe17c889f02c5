"""Ray Data on a node of this process alone, without the actors that only report or ask for nodes.

Each is a Python that imports Ray Data, two seconds of CPU, to tell a dashboard that is not there
how far a run is, to ask an autoscaler for nodes, or to know which of one node an actor is on.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator
from typing import Any
from unittest import mock

import ray


class Nobody:
    """It stands for an actor handle, forgets whatever it is told, and knows nothing."""

    def __getattr__(self, name: str) -> _Call:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Call(name)


class _Call:
    def __init__(self, name: str) -> None:
        self._name = name

    def options(self, **options: Any) -> _Call:
        return self

    def remote(self, *arguments: Any, **options: Any) -> Any:
        """An object for the few answers that somebody waits for."""
        if self._name == "gen_dataset_id":
            return ray.put(uuid.uuid4().hex)
        return ray.put({}) if self._name.startswith("get_") else None


def _all_there_is(coordinator: Any) -> dict[str, dict[str, float]]:
    """Resources by node: all of them are this process's."""
    return {node["NodeID"]: node["Resources"] for node in ray.nodes() if node["Alive"]}


def _nothing(*arguments: Any, **options: Any) -> None:
    """There is no autoscaler."""


def _replacements() -> list[tuple[Any, str, Any]]:
    """What is replaced, as Ray 2.60 has it: (holder, name, ours)."""
    from ray.data._internal import stats
    from ray.data._internal.cluster_autoscaler import default_autoscaling_coordinator
    from ray.data._internal.execution.operators import actor_pool_map_operator
    from ray.data._internal.utils import cached_ray_internals

    coordinator = default_autoscaling_coordinator.DefaultAutoscalingCoordinator
    return [
        (stats, "get_or_create_stats_actor", Nobody),
        (cached_ray_internals, "get_or_create_actor_location_tracker", Nobody),
        (actor_pool_map_operator, "get_or_create_actor_location_tracker", Nobody),
        (coordinator, "get_reserved_resources", _all_there_is),
        (coordinator, "request_resources", _nothing),
        (coordinator, "cancel_request", _nothing),
    ]


@contextlib.contextmanager
def without_reporters() -> Iterator[None]:
    """Runs of Ray Data that begin meanwhile have no actors but their workers.

    They have them all where this version of Ray keeps them elsewhere: that costs time alone.
    """
    try:
        replaced = _replacements()
        complete = all(hasattr(holder, name) for holder, name, _ in replaced)
    except (ImportError, AttributeError):
        complete = False
    with contextlib.ExitStack() as stack:
        for holder, name, ours in replaced if complete else ():
            stack.enter_context(mock.patch.object(holder, name, ours))
        yield
