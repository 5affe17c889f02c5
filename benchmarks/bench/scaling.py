#!/usr/bin/env python3
"""CASS-Bench across nodes: the same run on a cluster of one node and of two, of a core each.

``python -m benchmarks.bench.scaling --task 'linear_algebra/*' --nodes 1 --nodes 2`` starts a local
cluster (a head without compilers, and the nodes, each offering one slot of ``nvidia`` and ``amd``
and bound to a core of its own) for each number, runs the rules on the tasks with nothing cached,
and writes how long the samples took. The head and the driver are on all cores: on a machine of few
they take from the nodes.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.folders import REPOSITORY
from benchmarks.folders import RESULTS as FOLDER
from benchmarks.measure.machine import this_machine
from benchmarks.pipeline.figures import Setting
from cluster import local

RESULTS = FOLDER / "bench_scaling.json"
_PROGRESS = re.compile(r"^\s*([\d.]+) s\s+(\d+)/(\d+) ", re.MULTILINE)

app = typer.Typer(add_completion=False)


@app.command()
def main(
    task: Annotated[list[str], typer.Option(help="Tasks or categories, * is a wildcard.")],
    nodes: Annotated[list[int], typer.Option(help="Nodes, a run for each number.")],
    results: Annotated[Path, typer.Option(help="JSON; Markdown goes beside it.")] = RESULTS,
) -> None:
    setting = Setting(
        command=shlex.join(["python", "-m", "benchmarks.bench.scaling", *sys.argv[1:]]),
        machine=this_machine(),
    )
    runs = [{"nodes": number, **_run(number, task)} for number in nodes]
    figures = {"setting": setting.model_dump(mode="json"), "runs": runs}
    results.write_text(json.dumps(figures, indent=1) + "\n")
    results.with_suffix(".md").write_text(_page(figures))
    typer.echo(_page(figures))


def _run(nodes: int, tasks: list[str]) -> dict[str, Any]:
    """One cluster, one run: samples, seconds from the first to the last of them, and in all."""
    plan = [local.NodePlan("head", 1, {})]
    plan += [local.NodePlan(f"node{n}", 1, {"nvidia": 1, "amd": 1}) for n in range(nodes)]
    state = local.start(plan)
    try:
        for core, node in enumerate(state.nodes[1:]):
            _bind(node.process, core % (os.cpu_count() or 1))
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, str(REPOSITORY / "jobs" / "run_bench.py")]
            command += ["--system", "rules", "--no-cache", "--out", folder]
            command += [word for name in tasks for word in ("--task", name)]
            environment = local.environment(state.token) | {"RAY_ADDRESS": state.address}
            started = time.monotonic()
            done = subprocess.run(
                command,
                env=environment,
                cwd=REPOSITORY,
                capture_output=True,
                text=True,
                check=True,
            )
            seconds = time.monotonic() - started
    finally:
        local.stop(state)
    moments = [
        (float(at), int(made)) for at, made, _ in _PROGRESS.findall(done.stdout + done.stderr)
    ]
    (first, before), (last, made) = moments[0], moments[-1]
    return {
        "samples": made,
        "seconds": round(seconds, 1),
        "samples_per_minute": round(60 * (made - before) / (last - first), 2),
    }


def _bind(process: int, core: int) -> None:
    """Every process of the group that ``process`` leads, and what they start, to one core."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            group = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[2])
            if group == process:
                for thread in (folder / "task").iterdir():
                    os.sched_setaffinity(int(thread.name), {core})
        except OSError:
            continue


def _page(figures: dict[str, Any]) -> str:
    machine, runs = figures["setting"]["machine"], figures["runs"]
    rows = "\n".join(
        f"| {run['nodes']} | {run['samples']} | {run['seconds']} | {run['samples_per_minute']} "
        f"| {run['samples_per_minute'] / runs[0]['samples_per_minute']:.2f}× |"
        for run in runs
    )
    return f"""# CASS-Bench across nodes

`{figures["setting"]["command"]}`
on {machine["cores"]} cores ({machine["processor"]}). Each node is a raylet bound to one core; head
and driver run on the same cores. Rules, source level, nothing cached.

| nodes | samples | seconds, cluster's actors started | samples a minute, first to last | |
| ---: | ---: | ---: | ---: | ---: |
{rows}
"""


if __name__ == "__main__":
    app()
