#!/usr/bin/env python3
"""A data set from a settings file, measured as it is built: pairs, time, CPU, memory.

``python -m benchmarks.pipeline.mixed --config jobs/configs/mixed.yaml --out out/mixed --cache
/tmp/empty`` runs the job as ``cass build-dataset`` does. ``--clone URL=PATH`` reads a repository
from a clone on disk, for machines without a network. The data set stays in ``--out``.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import pyarrow.dataset as pads
import typer

from benchmarks.folders import RESULTS as FOLDER
from benchmarks.measure.machine import this_machine
from benchmarks.measure.memory import MemoryWatch, growth_per_row
from benchmarks.pipeline import contenders
from benchmarks.pipeline.figures import Setting
from cass_ray.config import load
from cass_ray.pipeline.settings import BuildSettings

RESULTS = FOLDER / "mixed.json"
_MIB = 1 << 20
_PROJECTED_ROWS = 10_000

app = typer.Typer(add_completion=False)


@app.command()
def main(
    config: Annotated[Path, typer.Option(help="Settings of the job.")],
    out: Annotated[Path, typer.Option(help="The data set.")],
    cache: Annotated[Path, typer.Option(help="Cache folder; an empty one for a first build.")],
    clone: Annotated[list[str] | None, typer.Option(help="URL=PATH, may be repeated.")] = None,
    results: Annotated[Path, typer.Option(help="JSON; Markdown goes beside it.")] = RESULTS,
) -> None:
    settings = _with_clones(load(BuildSettings, config, {"out": str(out)}), clone or [])
    setting = Setting(
        command=shlex.join(["python", "-m", "benchmarks.pipeline.mixed", *sys.argv[1:]]),
        machine=this_machine(),
    )
    cache.mkdir(parents=True, exist_ok=True)
    watch = MemoryWatch("build_dataset.py")
    built = contenders.build_ours(settings, cache, watch=watch)
    report = json.loads((out / "report.json").read_text())
    figures = {
        "setting": setting.model_dump(mode="json"),
        "rows": built.rows,
        "pairs": len(built.kept),
        "wall_seconds": round(built.cost.wall_seconds, 1),
        "cpu_seconds": round(built.cost.cpu_seconds, 1),
        "pairs_by_origin": _origins(out),
        "rejects": {
            f"{each['stage']}: {each['reason']}": each["rows"] for each in report["rejects"]
        },
        "duplicates": report["duplicates"],
        "memory": _memory(watch, built.rows),
    }
    results.write_text(json.dumps(figures, indent=1) + "\n")
    results.with_suffix(".md").write_text(_page(figures))
    print(results.with_suffix(".md").read_text())


def _with_clones(settings: BuildSettings, clones: list[str]) -> BuildSettings:
    sources = list(settings.sources)
    for each in clones:
        url, _, path = each.partition("=")
        sources = [source.replace(url, path) for source in sources]
    return settings.model_copy(update={"sources": sources})


def _origins(out: Path) -> dict[str, int]:
    column = pads.dataset(out / "pairs").to_table(columns=["origin"]).column("origin")
    return dict(Counter(column.to_pylist()).most_common())


def _memory(watch: MemoryWatch, rows: int) -> dict[str, float]:
    peak = max(sample.total for sample in watch.samples)
    growth = max(0.0, growth_per_row(watch.samples, rows))
    return {
        "peak_mib": round(peak / _MIB, 1),
        "peak_driver_mib": round(max(each.driver for each in watch.samples) / _MIB, 1),
        "peak_object_store_mib": round(max(each.object_store for each in watch.samples) / _MIB, 1),
        "growth_bytes_per_row": round(growth, 1),
        "projected_mib_at_10000_rows": round(
            (peak + growth * max(0, _PROJECTED_ROWS - rows)) / _MIB, 1
        ),
    }


def _page(figures: dict[str, Any]) -> str:
    machine, memory = figures["setting"]["machine"], figures["memory"]
    rejects = ", ".join(f"{count} {name}" for name, count in figures["rejects"].items())
    duplicates = ", ".join(f"{count} {name}" for name, count in figures["duplicates"].items())
    origins = ", ".join(f"{count} {name}" for name, count in figures["pairs_by_origin"].items())
    return f"""# A mixed data set from one settings file

`{figures["setting"]["command"]}` on {machine["cores"]} cores ({machine["processor"]}).

{figures["rows"]} rows in, **{figures["pairs"]} pairs** ({origins}) in
**{figures["wall_seconds"] / 60:.1f} minutes**, {figures["cpu_seconds"] / 60:.1f} minutes of CPU,
starting with what was in the cache folder. Rejects: {rejects}. Duplicates:
{duplicates}.

Driver and object store together took at most {memory["peak_mib"]:.0f} MiB (driver
{memory["peak_driver_mib"]:.0f}, object store {memory["peak_object_store_mib"]:.0f}); every further
row adds {memory["growth_bytes_per_row"]:.0f} bytes, so that 10,000 rows take about
{memory["projected_mib_at_10000_rows"]:.0f} MiB.
"""


if __name__ == "__main__":
    app()
