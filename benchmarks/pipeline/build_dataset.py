#!/usr/bin/env python3
"""What building the data set costs, beside the paper's way, in one run.

``python benchmarks/pipeline/build_dataset.py --corpus shipped --sm sm_80 --sm sm_89`` compares CPU
seconds per kept pair: the paper's way, our first build (empty cache: probes and precompiled headers
are made inside the measured run) and our second on the same input. ``--ray-overhead`` and
``--memory`` measure those instead. Results are merged into ``--out`` and the Markdown page beside
it.

Run it as root on an otherwise idle machine: an exact sum of CPU time needs a control group, and
the table by tool needs the kernel's exit records.
"""

from __future__ import annotations

import shlex
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

if __package__ in (None, ""):  # run as a script: the packages are beside this folder
    sys.path[0] = str(Path(__file__).resolve().parents[2])

from benchmarks.measure.machine import this_machine
from benchmarks.pipeline import measurements
from benchmarks.pipeline.figures import Setting
from benchmarks.pipeline.results_files import load, save

RESULTS = Path(__file__).resolve().parents[1] / "results" / "build_dataset.json"

app = typer.Typer(add_completion=False)


@app.command()
def main(
    corpus: Annotated[
        str, typer.Option(help="shipped, a file or folder, or a source such as repository:URL.")
    ] = "shipped",
    sm: Annotated[list[str] | None, typer.Option(help="Nvidia architectures, together.")] = None,
    runs: Annotated[int, typer.Option(min=1, help="Measure so often; the median counts.")] = 1,
    ray_overhead: Annotated[bool, typer.Option("--ray-overhead", help="Ray's own cost.")] = False,
    memory: Annotated[bool, typer.Option("--memory", help="Driver and object store.")] = False,
    ours: Annotated[
        bool, typer.Option("--ours", help="Ours alone; the paper's way as it is in the results.")
    ] = False,
    rows: Annotated[int | None, typer.Option(help="Rows of these two: 500, 2000.")] = None,
    variants: Annotated[
        int | None, typer.Option(help="Ours on so many variants of each shipped program.")
    ] = None,
    out: Annotated[Path, typer.Option(help="JSON; Markdown goes beside it.")] = RESULTS,
) -> None:
    """Measure what building the data set costs."""
    results = load(out)
    words = ["python", "benchmarks/pipeline/build_dataset.py", *sys.argv[1:]]
    setting = Setting(command=shlex.join(words), machine=this_machine())
    with tempfile.TemporaryDirectory(prefix="cass-benchmark-") as folder:
        work = Path(folder)
        if ray_overhead:
            figure = measurements.ray_overhead(corpus, rows or 500, work, setting)
            results = results.model_copy(update={"ray_overhead": figure})
        elif memory:
            use = measurements.memory_use(rows or 2000, work, setting)
            results = results.model_copy(update={"memory": use})
        elif variants:
            comparison = measurements.compare_variants(variants, sm or ["sm_80"], work, setting)
            results = results.with_comparison(comparison)
        else:
            architectures = sm or ["sm_80"]
            before = results.comparison(corpus, architectures) if ours else None
            comparison = measurements.compare(corpus, architectures, work, runs, setting, before)
            results = results.with_comparison(comparison)
    save(results, out)
    print(out.with_suffix(".md").read_text())


if __name__ == "__main__":
    app()
