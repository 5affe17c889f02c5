"""How a build grows: its driver to ten million rows, many slots, reading by many nodes.

    python -m benchmarks.pipeline.scale driver --rows 1000000 --rows 10000000
    python -m benchmarks.pipeline.scale stored --rows 100000 --rows 1000000
    python -m benchmarks.pipeline.scale slots --slots 64 --slots 1024
    python -m benchmarks.pipeline.scale ingest --nodes 0 --nodes 2
    python -m benchmarks.pipeline.scale nodes --nodes 1 --nodes 4

Compilers are played back from a recording that is made first. Each figure is of a process of its
own, and is written when it is there. Results: ``benchmarks/results/scale.md``.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from benchmarks.folders import RESULTS
from benchmarks.measure.machine import this_machine
from benchmarks.pipeline.scale.alone import measured, tell
from benchmarks.pipeline.scale.source import settings_of
from benchmarks.pipeline.tables import table

app = typer.Typer(add_completion=False)
FIGURES = RESULTS / "scale.json"
_RECORDED = 12
_SHORT_SECONDS = 10.0
"""Runs with shorter blocks are made to see how many a second are started at most."""


@app.command()
def driver(rows: Annotated[list[int], typer.Option(help="Of the input.")]) -> None:
    """The driver's memory and time, all others' work answered at once."""
    for each in rows:
        _note("driver", each, measured("driver", rows=each))


@app.command()
def stored(rows: Annotated[list[int], typer.Option(help="Of the input.")]) -> None:
    """The driver as it is, beside a local server that speaks S3."""
    with _recording() as recording:
        for each in rows:
            _note("stored", each, measured("stored", rows=each, recording=recording))


@app.command()
def slots(
    slots: Annotated[list[int], typer.Option(help="Simulated compile slots of `nvidia`.")],
    seconds: Annotated[float, typer.Option(help="About how long each run is to take.")] = 200,
    block_seconds: Annotated[float, typer.Option(help="Of nvcc, for a block.")] = 40,
) -> None:
    """Blocks a second, and the share of the slots that is at work."""
    with _recording() as recording:
        for each in slots:
            found = measured(
                "slots",
                slots=each,
                seconds=seconds,
                block_seconds=block_seconds,
                recording=recording,
            )
            _note("slots" if block_seconds >= _SHORT_SECONDS else "rate", each, found)


@app.command()
def ingest(
    nodes: Annotated[list[int], typer.Option(help="0: this process alone.")],
    rows: Annotated[int, typer.Option(help="Of the input.")] = 4000,
) -> None:
    """Rows read and screened a second, and the driver's own time for each."""
    for each in nodes:
        _note("ingest", each, measured("ingest", rows=rows, nodes=each))


@app.command()
def nodes(
    nodes: Annotated[list[int], typer.Option(help="1, or an even number: half of each kind.")],
    rows: Annotated[int, typer.Option(help="Generated programs.")] = 40,
) -> None:
    """A build by one node and by several that have the same cores."""
    for each in nodes:
        _note("nodes", each, measured("nodes", rows=rows, nodes=each))


@app.command(hidden=True)
def measure(what: str, arguments: str) -> None:
    """For :mod:`.alone`."""
    given = json.loads(arguments)
    if "recording" in given:
        given["recording"] = Path(given["recording"])
    with tempfile.TemporaryDirectory(prefix="cass-scale-") as folder:
        module = __import__(f"benchmarks.pipeline.scale.{what}", fromlist=["measure"])
        tell(module.measure(folder=Path(folder), **given))


@contextmanager
def _recording() -> Iterator[str]:
    """A file that compilers' work is played back from."""
    from benchmarks.pipeline.scale.replay import programs_to_record, record

    found = record(settings_of(1, "out"), programs_to_record(_RECORDED))
    with tempfile.TemporaryDirectory(prefix="cass-scale-") as folder:
        path = Path(folder) / "recording.json"
        path.write_text(found.model_dump_json())
        yield str(path)


def _note(section: str, key: int, found: dict[str, Any]) -> None:
    figures: dict[str, Any] = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    figures.setdefault("machine", this_machine().model_dump(mode="json"))
    figures.setdefault(section, {})[str(key)] = found
    for name in _TEXTS:
        figures[name] = dict(sorted(figures.get(name, {}).items(), key=lambda item: int(item[0])))
    FIGURES.write_text(json.dumps(figures, indent=1) + "\n")
    FIGURES.with_suffix(".md").write_text(page(figures))
    typer.echo(json.dumps(found))


def page(figures: dict[str, Any]) -> str:
    """The results in Markdown."""
    machine = figures["machine"]
    parts = [
        "# How builds grow\n\n`python -m benchmarks.pipeline.scale driver`, `stored`, `slots`, "
        f"`ingest`, `nodes` · {machine['cores']} cores, {machine['memory_gib']} GiB, "
        "shared with other work"
    ]
    for section, text in _TEXTS.items():
        lines = list(figures.get(section, {}).values())
        if lines:
            rows = [[f"{value:,}" for value in line.values()] for line in lines]
            parts += [text, table(list(lines[0]), rows)]
        if section in _GROWTH and len(lines) > 1:
            parts.append(_GROWTH[section](lines))
    return "\n\n".join(parts) + "\n"


def _slope(lines: list[dict[str, Any]]) -> str:
    first, last = lines[-2], lines[-1]
    grown = (last["mib"] - first["mib"]) * 2**20 / (last["rows"] - first["rows"])
    at_most = last["mib"] + grown / 2**20 * max(0, _MANY - last["rows"])
    return (
        f"From {first['rows']:,} to {last['rows']:,} rows: {grown:.1f} bytes a row; at {_MANY:,} "
        f"rows {at_most:,.0f} MiB."
    )


def _line(lines: list[dict[str, Any]]) -> str:
    """A line through what was held at the ends of all runs beyond what their processes held when
    they began; beside it what does not grow."""
    a_row, at_none = np.polyfit(
        [line["rows"] for line in lines],
        [line["mib after"] - line["mib before"] for line in lines],
        1,
    )
    before = max(line["mib before"] for line in lines)
    during = max(line["most mib"] - line["mib after"] for line in lines)
    beyond = max(line["mib beyond"] for line in lines)
    at_end = before + at_none + a_row * _MANY
    return (
        f"A line through `mib after` less `mib before`: {a_row * 2**20:.1f} bytes a row, with the "
        f"largest `mib before` {at_end:,.0f} MiB at {_MANY:,} rows; with the most that was held "
        f"for a while ({during:.0f} MiB) and the most that was beyond it ({beyond:.0f} MiB): "
        f"**{at_end + during + beyond:,.0f} MiB**."
    )


_MANY = 10_000_000
_GROWTH: dict[str, Callable[[list[dict[str, Any]]], str]] = {"driver": _slope, "stored": _line}

_TEXTS = {
    "driver": """\
## The driver

The steps of a build as they are, a hundred rows to a split; what tasks, compilers and storage
answer is made up at once, so that what is left is the driver's. A fifth of the rows repeat others
or are filtered. Times are CPU seconds. Not in it: references of at most 20,000 blocks; the span of
2,048 rows that is decided on at a time; `clusters`, `decontamination` and `selection.parquet`.""",
    "stored": """\
## The driver beside object storage

The driver of a build into storage as it is, Ray left out: all that it reads, decides on and writes
is at a local server that speaks S3. What workers leave there was written before by another process
(64 pieces built as ever, with the compilers' work played back; the entries of the others name the
same parts), shards of duplicates answer that nothing is alike. `s` is by the clock: the server, in
Python, shares the cores.

A piece of a hundred rows costs eight requests: its entry, two tables of what its rows are compared
on and the entry of what was decided, once for sources and once for machine code. CPU time is the
client's, and grows as the rows do.

A peak of resident memory is mostly what allocators keep and how many answers happened to wait: it
differs by 20 MiB and more from run to run. So memory is looked at about fifty times a run, after
garbage was collected and freed memory given back (`benchmarks/measure/live_memory.py`). `most mib`
is the most that was held, `mib after` what is held at the end, when nothing is in hand but what is
kept of each piece, and `mib beyond` the most by which a peak between two looks was above what was
held at the second. What the driver keeps for each row is in the table before, 10 bytes.""",
    "slots": """\
## Compile slots

Ray Data and the workers of a build as they are, with each compiler replaced by a pause, and by what
it wrote for one of 12 generated programs; 64 slots share a process. All processes share the
machine's cores, which a cluster's nodes do not: so a block has a row, and takes as long as the 64
of large builds' blocks on a quiet core. No row repeats another. `seconds at least`: nvcc's pauses
one after the other by so many slots, each as soon as a slot is free. `busy` is the share of the
slots' time in pauses, start and end of the run included; `in the middle`: from the first quarter of
the blocks to the last, by the mean pause. With 16 processes of workers on two cores it takes a
minute until the first block is done, which a run of five minutes does not make up for.""",
    "rate": """\
## Blocks a second

The same with blocks so short that slots wait for work: what Ray Data's driver starts at most, on
cores that it shares with the workers. `in the middle` is what is left of the slots' time.""",
    "ingest": """\
## Reading

Rows read, screened, compared by tokens and decided, of a source of small programs. 0 nodes: one
process does all. `driver cpu` is what reading on nodes leaves to the driver, deciding included. `at
most` is what a driver with a core to itself allows, however many nodes read: `rows/s` is also a
matter of what else the machine does.""",
    "nodes": """\
## The same cores as several nodes

A build of generated programs, compiled for sm_80 and gfx1100 with nothing cached, from the start of
its driver to its end; as many slots of each compiler as cores, on one node or shared out. CPU
seconds are of driver and cluster together in that time.""",
}


if __name__ == "__main__":
    app()
