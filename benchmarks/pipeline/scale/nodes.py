"""The same cores as one node and as several: what it costs to be a cluster."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.folders import REPOSITORY
from cass_ray.corpus.generate.program import generate
from cluster import local


def measure(nodes: int, rows: int, folder: Path) -> dict[str, float]:
    """Seconds of a build of ``rows`` generated programs, nothing cached, by ``nodes`` raylets."""
    corpus = folder / "corpus"
    corpus.mkdir()
    for number, program in enumerate(generate(rows, 5)):
        (corpus / f"p{number:04}.cu").write_text(program.source)
    os.environ["CASS_CACHE"] = str(folder / "cache")
    state = local.start(_plan(nodes), jobs=False)
    try:
        began = time.monotonic()
        subprocess.run(
            [
                *(sys.executable, str(REPOSITORY / "jobs/build_dataset.py")),
                *("--source", f"local:{corpus}", "--out", str(folder / "out")),
                *("--set", "cache=false"),
            ],
            env=local.environment(state.token) | {"RAY_ADDRESS": state.address},
            check=True,
            stdout=subprocess.DEVNULL,
        )
        seconds = time.monotonic() - began
    finally:
        local.stop(state)
    return {"nodes": nodes, "rows": rows, "seconds": round(seconds, 1)}


def _plan(nodes: int) -> list[local.NodePlan]:
    """Slots for each core and compiler, over ``nodes``: all on one, or each compiler on half."""
    cores = os.cpu_count() or 1
    if nodes == 1:
        return [local.NodePlan("head", cores, {name: float(cores) for name in local.RESOURCES})]
    each = nodes // len(local.RESOURCES)
    return local.plan_of(dict.fromkeys(local.RESOURCES, each), max(1, cores // each))
