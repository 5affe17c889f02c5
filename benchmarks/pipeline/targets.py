"""What a further AMD architecture costs a data set: CPU seconds of the same rows with and without.

``python -m benchmarks.pipeline.targets [--every N] [--execute]`` sends every N-th shipped program
through the stages of a build, in this process, with nothing cached, for gfx1100 and then for
gfx1100 and gfx942. References are the stored ones.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
from collections import Counter
from pathlib import Path

from cass_ray.corpus.reading.trees import StoredTrees
from cass_ray.corpus.sources.registry import parse_source
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.pipeline.stages.base import Row
from cass_ray.pipeline.stages.order import (
    Pool,
    StageContext,
    make_stages,
    run_stages,
    wanted_stages,
)
from cass_ray.pipeline.workspace import Workspace
from cass_ray.storage.store import Store

POOLS = tuple(pool for pool in Pool if pool is not Pool.NVIDIA_EXECUTOR)


def cpu_seconds() -> float:
    """Of this process and of all that it has started and seen the end of."""
    parts = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(part.ru_utime + part.ru_stime for part in parts)


def build(rows: list[Row], settings: BuildSettings, store: StoredTrees) -> list[Row]:
    """``rows`` through the stages, one by one."""
    context = StageContext(settings, Workspace(store.get))
    stages = make_stages(wanted_stages(settings, POOLS), context)
    return [run_stages(stages, [row])[0] for row in rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--every", type=int, default=4)
    parser.add_argument("--execute", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store = StoredTrees(Store(folder / "trees"))
        programs = list(parse_source("shipped").iterate(folder / "work", store))
        rows = [program.to_row() for program in programs][:: given.every]
        taken = []
        for targets in (["gfx1100"], ["gfx1100"], ["gfx1100", "gfx942"]):
            settings = BuildSettings(
                sources=["shipped"],
                out=folder,
                amd_architectures=targets,
                execute=given.execute,
                cache=False,
            )
            started = cpu_seconds()
            done = build([dict(row) for row in rows], settings, store)
            taken.append(cpu_seconds() - started)
            print(f"{', '.join(targets)}: {taken[-1]:.1f} CPU s, {len(rows)} rows", flush=True)
        states = Counter((row.get("verified"), row.get("portable")) for row in done)
        print(f"further target: {taken[2] / taken[1] - 1:.1%} of the build; {dict(states)}")


if __name__ == "__main__":
    main()
