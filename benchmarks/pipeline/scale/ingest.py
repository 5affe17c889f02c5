"""Reading and screening by one process, or by the nodes of a local cluster."""

from __future__ import annotations

from pathlib import Path

from benchmarks.pipeline.scale import ingest_driver
from benchmarks.pipeline.scale.alone import measured
from cluster import local


def measure(rows: int, nodes: int, folder: Path) -> dict[str, float]:
    """What :func:`.ingest_driver.measure` measures beside ``nodes`` nodes of a core each.

    Call it in a process of its own.
    """
    if not nodes:
        return ingest_driver.measure(rows, nodes, folder)
    plan = [local.NodePlan(f"cpu-{number}", 1, {}) for number in range(1, nodes + 1)]
    state = local.start([local.NodePlan("head", 0, {}), *plan], jobs=False)
    try:
        environment = local.environment(state.token) | {"RAY_ADDRESS": state.address}
        return measured("ingest_driver", environment, rows=rows, nodes=nodes)
    finally:
        local.stop(state)
