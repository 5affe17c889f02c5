"""A build in S3 whose nodes are killed every half minute, against one that nothing happens to.

    python -m benchmarks.pipeline.faults.losses --programs 1000

Generated programs, compiled for both sides with nothing cached. Every ``--every`` seconds a random
node is killed and another one joins. Results: ``benchmarks/results/node_losses.md``.
"""

from __future__ import annotations

import json
import shlex
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.folders import RESULTS
from benchmarks.measure.machine import this_machine
from benchmarks.pipeline.faults.actions import kill_node
from benchmarks.pipeline.faults.build import (
    PATIENCE,
    Build,
    Clusters,
    Schedule,
    run,
    variables,
)
from benchmarks.pipeline.faults.weather import Weather
from cass_ray.corpus.generate.program import generate

_NODES = (("nvidia", 2), ("amd", 1))
_SETTINGS = ("--set", "rows_per_block=4")
_POLL_SECONDS = 0.5
_SECONDS_OF_A_PROGRAM = 20.0
"""At most, on a machine that others use, what is lost with nodes included."""


class Losses:
    """An action: kills go on until the driver ends, ``every`` so many seconds by the clock.

    One that is due while a node still starts comes when that has joined.
    """

    def __init__(self, every: float) -> None:
        self._every = every
        self.killed = {"nvidia": 0, "amd": 0}
        self.seconds = 0.0
        """From the start of the driver to its end."""

    def __call__(self, build: Build) -> None:
        began = time.monotonic()
        due, latest = began + self._every, began + build.schedule.patience
        while due < latest and self._goes_on_until(due, build):
            resource = build.chance.choice(["nvidia", "nvidia", "amd"])
            self.killed[resource] += 1
            due = max(due, time.monotonic()) + self._every
            kill_node(resource, replaced=True)(build)
            typer.echo(f"{time.monotonic() - began:.0f} s, {build.committed()} blocks")
        self.seconds = time.monotonic() - began

    def _goes_on_until(self, due: float, build: Build) -> bool:
        assert build.driver is not None
        while build.driver.poll() is None:
            if time.monotonic() >= due:
                return True
            time.sleep(_POLL_SECONDS)
        return False


def main(
    programs: Annotated[int, typer.Option(help="Generated; about 1.6 CPU seconds each.")] = 1000,
    every: Annotated[float, typer.Option(help="Seconds between losses.")] = 30,
    seed: Annotated[int, typer.Option(help="Of which node is killed.")] = 1,
    results: Annotated[Path, typer.Option(help="Markdown.")] = RESULTS / "node_losses.md",
) -> None:
    """Build twice and compare to the byte."""
    folder = Path(tempfile.mkdtemp(prefix="cass-losses-"))
    corpus = folder / "corpus"
    corpus.mkdir()
    for number, program in enumerate(generate(programs, 3)):
        (corpus / f"p{number:04}.cu").write_text(program.source)
    losses, clusters = Losses(every), Clusters()
    quiet_one = Schedule(
        "nothing",
        nodes=_NODES,
        settings=_SETTINGS,
        patience=PATIENCE + _SECONDS_OF_A_PROGRAM * programs,
    )
    disturbed = replace(quiet_one, what="nodes lost", actions=((0.0, losses),), storage=Weather())
    with variables({"CASS_CACHE": str(folder / "cache")}):
        try:
            began = time.monotonic()
            lost = run(disturbed, corpus, folder / "lost", seed, clusters)
            middle = time.monotonic()
            quiet = run(quiet_one, corpus, folder / "quiet", seed, clusters)
            ended = time.monotonic()
        finally:
            clusters.end()
    equal = lost.content == quiet.content
    killed = f"{losses.killed['nvidia']} with nvcc, {losses.killed['amd']} with clang"
    machine = this_machine()
    results.write_text(f"""# Nodes lost all the time

`{shlex.join(["python", "-m", "benchmarks.pipeline.faults.losses", *sys.argv[1:]])}` · \
{machine.cores} cores, shared with other work

{programs} generated programs, compiled for sm_80 and gfx1100 with nothing cached, four rows a
block, on a local cluster of two nodes with nvcc and one with AMD's clang, two slots each.

| | quiet, in a folder | in S3, a node killed every {every:.0f} s |
|---|---:|---:|
| seconds | {ended - middle:.0f} | {middle - began:.0f} |
| nodes killed and replaced | 0 | {killed} |
| seconds from one to the next | | {losses.seconds / max(1, sum(losses.killed.values())):.0f} |
| drivers | {quiet.drivers} | {lost.drivers} |
| requests of storage | | {lost.storage.get("requests", 0):,} |
| Parquet files | {len(quiet.content)} | {len(lost.content)} |

Data sets {"are equal to the byte" if equal else "DIFFER"}.
""")
    typer.echo(json.dumps({"equal": equal, "killed": losses.killed}))
    raise typer.Exit(not equal)


if __name__ == "__main__":
    typer.run(main)
