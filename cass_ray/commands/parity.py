"""``cass parity``: is the port as fast and as small as its reference?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from cass_ray.commands.program_arguments import ProgramCommand, arguments_wanted
from cass_ray.commands.program_options import (
    FILES_MIB,
    MEMORY_GIB,
    FileSize,
    InputFiles,
    Memory,
    StandardInput,
    arguments_of,
    bounds_of,
    exit_codes,
    gather_program,
    standard_input,
)
from cass_ray.commands.waiting import SLOW_SECONDS, waiting
from cass_ray.execute.backends.base import Inputs
from cass_ray.execute.backends.registry import BACKENDS
from cass_ray.execute.parity import RUNS, Parity, ParityError, Ratio, measure_parity
from cass_ray.execute.targets import as_hip, build_for, usable_backends
from cass_ray.exit_codes import EXIT_FAILED, fail

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(cls=ProgramCommand)
def parity(
    reference: Annotated[Path, typer.Argument(help="The program to compare with: .cu or .hip.")],
    candidate: Annotated[
        Path | None,
        typer.Argument(help="The port (.hip). [default: REFERENCE, translated by the rules]"),
    ] = None,
    arguments: Annotated[str, typer.Option("--with", help="Arguments, as one text.")] = "",
    inputs: InputFiles = None,
    stdin: StandardInput = None,
    memory: Memory = MEMORY_GIB,
    file_size: FileSize = FILES_MIB,
    backend: Annotated[
        str | None, typer.Option(help=f"Where the port runs: {', '.join(BACKENDS)}.")
    ] = None,
    reference_backend: Annotated[
        str | None,
        typer.Option(help="Where the reference runs. [default: nvidia, else as the port]"),
    ] = None,
    runs: Annotated[int, typer.Option(min=2, help="Runs of each side on a GPU.")] = RUNS,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Compare time and peak memory of a port with its reference, run in turns on a GPU.

    On the CPU backend time says nothing about a GPU: counts of executed instructions, memory bytes
    and the like are compared there, and labelled as counters.
    Exit codes: 0 measured, 1 a program fails or does not compile, 2 usage, 3 a tool is missing.
    """
    with exit_codes(), waiting("compiling and running both sides", slow_seconds=SLOW_SECONDS):
        ours, theirs = usable_backends(backend, reference_backend)
        original = gather_program(reference)
        port = as_hip(gather_program(candidate) if candidate else original)
        try:
            measured = measure_parity(
                ours,
                build_for(theirs, original),
                ours.build(port),
                Inputs(tuple(arguments_of(arguments)), standard_input(stdin), inputs),
                reference_backend=theirs,
                runs=runs,
                bounds=bounds_of(memory, file_size),
            )
        except ParityError as error:
            texts = [text.decode("utf-8", "replace") for text in original.files.values()]
            wanted = arguments_wanted(str(error), texts, [arguments])
            fail("parity", f'{error}; {wanted}: --with "…"' if wanted else error, EXIT_FAILED)
    if as_json:
        typer.echo(measured.model_dump_json(indent=2))
    else:
        Console().print(_table(measured))


def _table(measured: Parity) -> Table:
    kind = (
        "counts of what the kernels did; time is measured on a GPU only"
        if measured.counters
        else f"medians of {measured.runs} runs"
    )
    table = Table(title=f"{measured.backend}: {kind}")
    for heading in ("", "reference", "candidate", "ratio", "95% interval"):
        table.add_column(heading, justify="right" if heading else "left")
    rows: dict[str, Ratio | None] = {
        "seconds": measured.seconds,
        "peak memory (bytes)": measured.peak_memory_bytes,
        **{name.replace("_", " "): ratio for name, ratio in measured.counters.items()},
    }
    for name, ratio in rows.items():
        if ratio is not None:
            interval = "exact" if measured.counters else f"{ratio.low:.3f} to {ratio.high:.3f}"
            table.add_row(
                name,
                f"{ratio.reference:.6g}",
                f"{ratio.candidate:.6g}",
                f"{ratio.ratio:.3f}",
                interval,
            )
    return table
