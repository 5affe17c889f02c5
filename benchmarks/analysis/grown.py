"""``cass analyze`` over a data set grown to any size: time, CPU and memory.

``python -m benchmarks.analysis.grown --dataset out/mixed --rows 100000 --work /tmp/grown`` writes
the pairs of a real data set again and again, each copy under an id of its own, until there are so
many rows, and measures the command over them. Every row is read, parsed and counted as it would be
in a data set of different programs; only the table of duplicates is one that no such set has.
"""

from __future__ import annotations

import hashlib
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import psutil
import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.parquet as pq
import typer
from pydantic import BaseModel

from benchmarks.folders import REPOSITORY
from benchmarks.folders import RESULTS as FOLDER
from benchmarks.measure.machine import MeasuredMachine, this_machine
from cass_ray.dataset.parquet import ROWS_PER_PART

RESULTS = FOLDER / "analysis.json"
_ROWS_A_GROUP = 50
_SAMPLE_SECONDS = 0.5
_GIB = 1 << 30

app = typer.Typer(add_completion=False)


class Figures(BaseModel):
    """One measured run; ``peak_gib`` is of all its processes together, shared pages once."""

    command: str
    machine: MeasuredMachine
    dataset_rows: int
    rows: int
    text_gib: float
    seconds: float
    cpu_seconds: float
    peak_gib: float
    page_mib: float


@app.command()
def main(
    dataset: Annotated[Path, typer.Option(help="A data set of cass build-dataset.")],
    work: Annotated[Path, typer.Option(help="Folder for the grown data set and its report.")],
    rows: Annotated[int, typer.Option(min=1)] = 100_000,
    results: Annotated[Path, typer.Option(help="JSON; Markdown goes beside it.")] = RESULTS,
) -> None:
    grown, report = work / "dataset", work / "report"
    shutil.rmtree(report, ignore_errors=True)
    shutil.rmtree(grown, ignore_errors=True)
    read, text = _grow(dataset, grown, rows)
    command = [sys.executable, "jobs/analyze.py", str(grown), "--out", str(report)]
    started = time.monotonic()
    process = psutil.Popen(command, cwd=REPOSITORY)
    peak, cpu = _watch(process)
    seconds = time.monotonic() - started
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command)
    figures = Figures(
        command=shlex.join(["python", "-m", "benchmarks.analysis.grown", *sys.argv[1:]]),
        machine=this_machine(),
        dataset_rows=read,
        rows=rows,
        text_gib=round(text / _GIB, 2),
        seconds=round(seconds, 1),
        cpu_seconds=round(cpu, 1),
        peak_gib=round(peak / _GIB, 2),
        page_mib=round((report / "report.html").stat().st_size / (1 << 20), 2),
    )
    results.write_text(figures.model_dump_json(indent=1) + "\n")
    results.with_suffix(".md").write_text(_page(figures))
    print(results.with_suffix(".md").read_text())


def _grow(dataset: Path, grown: Path, rows: int) -> tuple[int, int]:
    """Write ``rows`` pairs to ``grown``; those read, and bytes of what was written as columns."""
    shutil.copytree(dataset / "rejects", grown / "rejects")
    (grown / "pairs").mkdir()
    source = pads.dataset(dataset / "pairs")
    written = size = 0
    for part in _parts(_again(source, rows)):
        size += part.nbytes
        path = grown / "pairs" / f"{written:09}.parquet"
        pq.write_table(part, path, row_group_size=_ROWS_A_GROUP, compression="zstd")
        written += part.num_rows
    return source.count_rows(), size


def _parts(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """``batches`` in tables of as many rows as a part of a build."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if sum(each.num_rows for each in held) >= ROWS_PER_PART:
            yield pa.Table.from_batches(held)
            held = []
    if held:
        yield pa.Table.from_batches(held)


def _again(source: pads.Dataset, rows: int) -> Iterator[pa.RecordBatch]:
    left, copy = rows, 0
    while left:
        for batch in source.to_batches(batch_size=_ROWS_A_GROUP):
            kept = batch.slice(0, min(left, batch.num_rows))
            ids = [
                hashlib.sha256(f"{copy} {each}".encode()).hexdigest()
                for each in kept["id"].to_pylist()
            ]
            at = kept.schema.get_field_index("id")
            yield kept.set_column(
                at, kept.schema.field(at), pa.array(ids, kept.schema.field(at).type)
            )
            left -= kept.num_rows
            if not left:
                return
        copy += 1


def _watch(process: psutil.Popen) -> tuple[int, float]:
    """Peak of the proportional set sizes of ``process`` and its children, and their CPU seconds."""
    peak, seconds = 0, {}
    while process.poll() is None:
        now = 0
        for each in _tree(process):
            try:
                now += each.memory_full_info().pss
                times = each.cpu_times()
                seconds[each.pid, each.create_time()] = times.user + times.system
            except (psutil.NoSuchProcess, psutil.ZombieProcess):
                continue
        peak = max(peak, now)
        time.sleep(_SAMPLE_SECONDS)
    return peak, sum(seconds.values())


def _tree(process: psutil.Popen) -> list[psutil.Process]:
    try:
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _page(figures: Figures) -> str:
    machine = figures.machine
    return f"""# The analysis of a large data set

`{figures.command}` on {machine.cores} cores ({machine.processor}).

{figures.rows:,} pairs ({figures.dataset_rows:,} real ones, again and again under other ids;
{figures.text_gib:.1f} GiB of columns) analysed in **{figures.seconds / 60:.1f} minutes**,
{figures.cpu_seconds / 60:.1f} minutes of CPU, with at most **{figures.peak_gib:.2f} GiB** in all
processes together. The page has {figures.page_mib:.1f} MiB.
"""


if __name__ == "__main__":
    app()
