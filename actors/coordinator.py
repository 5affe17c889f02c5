"""What the workers of a job have in common: who began what, so that deadly rows are found."""

from __future__ import annotations

import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from cass_ray.toolchain.errors import ToolMissing

ATTEMPTS = 2
"""A row may take its worker down this often on its own before it is rejected."""
ATTEMPTS_WITH_NODES = 8
"""The same, with the tries whose node was lost, which is hardly the row's doing."""


def living_nodes() -> set[str]:
    """Ids of the nodes that the cluster has now."""
    return {node["NodeID"] for node in ray.nodes() if node["Alive"]}


class Coordinator:
    """Lives on the driver's node. It remembers batches at work, rows that were tried alone, and why
    a worker could not begin.

    ``living`` tells which nodes there are.
    """

    def __init__(self, living: Callable[[], set[str]] = living_nodes) -> None:
        self._living = living
        self._batches: Counter[tuple[str, str]] = Counter()
        self._rows: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        self._problem: ToolMissing | None = None

    def cannot_begin(self, problem: ToolMissing) -> None:
        """Note what a worker lacks."""
        self._problem = problem

    def problem(self) -> ToolMissing | None:
        """What a worker lacked."""
        return self._problem

    def begin_batch(self, stage: str, keys: Sequence[str]) -> bool:
        """Note that a worker starts on these; True when one of them was begun before."""
        self._batches.update((stage, key) for key in keys)
        return any(self._batches[stage, key] > 1 for key in keys)

    def end_batch(self, stage: str, keys: Sequence[str]) -> None:
        """Forget what :meth:`begin_batch` noted."""
        for key in keys:
            self._batches.pop((stage, key), None)

    def begin_row(self, stage: str, row_id: str, node: str) -> bool:
        """Note a try of one row on its own, on ``node``; False when it has used up its attempts.

        A try whose node is gone by now does not count: the worker was lost with it.
        """
        tries = self._rows[stage, row_id]
        allowed = len(tries) < ATTEMPTS or (
            len(tries) < ATTEMPTS_WITH_NODES and self._counted(tries) < ATTEMPTS
        )
        tries.append(node)
        return allowed

    def _counted(self, tries: Sequence[str]) -> int:
        living = self._living()
        return sum(node in living for node in tries)

    def end_row(self, stage: str, row_id: str) -> None:
        """Forget the tries of a row that did its worker no harm."""
        self._rows.pop((stage, row_id), None)


def coordinating() -> tuple[str, Any]:
    """Start a coordinator on this node: its name, and the handle with which it lives."""
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    name = f"coordinator-{uuid.uuid4().hex}"
    options = {"num_cpus": 0, "max_concurrency": 16, "scheduling_strategy": here}
    return name, ray.remote(Coordinator).options(name=name, **options).remote()
