"""Reading and screening by one process, or by the nodes of a local cluster."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from benchmarks.pipeline.scale import ingest_driver
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
        done = subprocess.run(
            [
                *(sys.executable, "-m", "benchmarks.pipeline.scale", "measure", "ingest_driver"),
                json.dumps({"rows": rows, "nodes": nodes}),
            ],
            env=local.environment(state.token) | {"RAY_ADDRESS": state.address},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    finally:
        local.stop(state)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found
