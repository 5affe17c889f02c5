"""The same cores as one node and as several: what it costs to be a cluster."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.folders import REPOSITORY
from benchmarks.measure.cgroup import ControlGroup
from cass_ray.corpus.generate.program import generate
from cluster import local

_LEFT_SECONDS = 30.0


def measure(nodes: int, rows: int, folder: Path) -> dict[str, float]:
    """Seconds of a build of ``rows`` generated programs, nothing cached, by ``nodes`` raylets.

    CPU seconds are of all processes of the cluster and of the driver. Takes root.
    """
    corpus = folder / "corpus"
    corpus.mkdir()
    for number, program in enumerate(generate(rows, 5)):
        (corpus / f"p{number:04}.cu").write_text(program.source)
    os.environ["CASS_CACHE"] = str(folder / "cache")
    with ControlGroup() as group, _inside(group):
        return {"nodes": nodes, "rows": rows, **_built(_plan(nodes), corpus, folder, group)}


def _built(
    plan: list[local.NodePlan], corpus: Path, folder: Path, group: ControlGroup
) -> dict[str, float]:
    state = local.start(plan, jobs=False)
    try:
        began, cpu = time.monotonic(), group.cpu_seconds
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
        seconds, cpu = time.monotonic() - began, group.cpu_seconds - cpu
    finally:
        local.stop(state)
    return {"seconds": round(seconds, 1), "cpu s": round(cpu, 1)}


@contextmanager
def _inside(group: ControlGroup) -> Iterator[None]:
    """This process, and what it starts meanwhile, in ``group``; what it leaves ends."""
    own = str(os.getpid())
    (group.path / "cgroup.procs").write_text(own)
    try:
        yield
    finally:
        (group.path.parent / "cgroup.procs").write_text(own)
        deadline = time.monotonic() + _LEFT_SECONDS
        while group.processes() and time.monotonic() < deadline:
            time.sleep(0.2)


def _plan(nodes: int) -> list[local.NodePlan]:
    """Slots for each core and compiler, over ``nodes``: all on one, or each compiler on half."""
    cores = os.cpu_count() or 1
    if nodes == 1:
        return [local.NodePlan("head", cores, {name: float(cores) for name in local.RESOURCES})]
    each = nodes // len(local.RESOURCES)
    return local.plan_of(dict.fromkeys(local.RESOURCES, each), max(1, cores // each))
