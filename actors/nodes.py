"""The nodes whose compilers a job uses: waited for, asked whether they can, and counted."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import ray
from ray.autoscaler.sdk import request_resources
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from cass_ray.pipeline.settings import BuildSettings
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_amd, find_nvidia

_MOST_THREADS = 8
_POLL_SECONDS = 1.0
_ANSWER_SECONDS = 120.0
_NODE_ID = "ray.io/node-id"


@dataclass(frozen=True)
class NodeChoice:
    """All nodes of the cluster but some: their ids, and why they are left out."""

    without: tuple[tuple[str, str], ...] = ()

    def slots_of(self, resource: str) -> int:
        """Slots of ``resource`` on all nodes together. Raises ``ToolMissing`` where there is
        none."""
        offered = sum(self._offered(resource))
        if offered < 1:
            raise ToolMissing(
                f"A node that offers the resource `{resource}`",
                "Start a cluster with `cass cluster up`, or add a node where `cass doctor` finds "
                f"the toolchain: `ray start --address=... --resources='{{\"{resource}\": 2}}'`.",
                "\n".join(why for _, why in self.without),
            )
        return offered

    def threads_of_an_actor(self, resource: str) -> int:
        """How many slots of a node one actor takes: as many as leave none of any node unused."""
        common = math.gcd(*self._offered(resource))
        return max(share for share in range(1, _MOST_THREADS + 1) if common % share == 0)

    def selector(self) -> dict[str, Any]:
        """Options of tasks and actors that keep them from the others."""
        if not self.without:
            return {}
        ids = ",".join(node for node, _ in self.without)
        return {"label_selector": {_NODE_ID: f"!in({ids})"}}

    def _offered(self, resource: str) -> list[int]:
        unable = {node for node, _ in self.without}
        return [
            int(node["Resources"].get(resource, 0))
            for node in ray.nodes()
            if node["Alive"] and node["NodeID"] not in unable
        ]


ALL_NODES = NodeChoice()


def wait_for_nodes(
    settings: BuildSettings, needed: Sequence[str], say: Callable[[str], None]
) -> NodeChoice:
    """Until nodes offer ``settings.slots`` of each of ``needed``, for which an autoscaler is asked;
    those that have the compilers that they offer.

    After ``settings.node_wait_seconds`` fewer have to do. One that is lost while it is asked is
    waited for as one that never came. Raises ``ToolMissing`` where there are none.
    """
    deadline = time.monotonic() + settings.node_wait_seconds
    while True:
        _wait(settings, needed, say, deadline)
        choice = NodeChoice(tuple(_unable(needed, settings)))
        lost = {node for node, _ in choice.without}.difference(
            node["NodeID"] for node in ray.nodes() if node["Alive"]
        )
        if not lost or time.monotonic() >= deadline:
            break
        say("a node was lost while it was asked for its compilers")
    for _, why in choice.without:
        say(f"not used: {why}")
    for name in needed:
        choice.slots_of(name)
    return choice


def _wait(
    settings: BuildSettings, needed: Sequence[str], say: Callable[[str], None], deadline: float
) -> None:
    wanted = settings.slots or 1
    if lacking := _lacking(needed, wanted):
        seconds = max(0, round(deadline - time.monotonic()))
        say(f"waiting up to {seconds} s for nodes that offer {' and '.join(lacking)}")
        request_resources(bundles=[{name: 1.0} for name in needed for _ in range(wanted)])
        while _lacking(needed, wanted) and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)


def release_nodes() -> None:
    """Let an autoscaler take away what :func:`wait_for_nodes` asked for."""
    request_resources(bundles=[])


def _lacking(resources: Sequence[str], wanted: int) -> list[str]:
    offered = ray.cluster_resources()
    return [name for name in resources if offered.get(name, 0) < wanted]


def _unable(needed: Sequence[str], settings: BuildSettings) -> list[tuple[str, str]]:
    """Nodes that lack a compiler which they offer, or do not answer, and why."""
    architectures = settings.nvidia_architectures, settings.amd_architectures
    asked = {}
    for node in ray.nodes():
        offered = [name for name in needed if node["Resources"].get(name, 0) >= 1]
        if node["Alive"] and offered:
            there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            task = ray.remote(_problem).options(num_cpus=0, scheduling_strategy=there)
            asked[task.remote(offered, *architectures)] = node
    if not asked:
        return []
    answered, _ = ray.wait(list(asked), num_returns=len(asked), timeout=_ANSWER_SECONDS)
    result = []
    for task, node in asked.items():
        problem = _answer(task) if task in answered else "it does not answer"
        if problem:
            result.append((node["NodeID"], f"node {node['NodeManagerAddress']}: {problem}"))
    return result


def _answer(task: Any) -> str:
    try:
        return str(ray.get(task))
    except ray.exceptions.RayError as error:
        return str(error)


def _problem(
    offered: Sequence[str],
    nvidia_architectures: Sequence[str],
    amd_architectures: Sequence[str],
) -> str:
    """What this node lacks of what it offers, or nothing."""
    try:
        if "nvidia" in offered:
            find_nvidia(architectures=nvidia_architectures)
        if "amd" in offered:
            find_amd(architectures=amd_architectures)
    except ToolMissing as error:
        return str(error)
    return ""
