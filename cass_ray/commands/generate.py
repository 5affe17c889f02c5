"""``cass generate``: random, correct CUDA programs and what each of them prints."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from cass_ray.commands.output import Overwrite
from cass_ray.commands.waiting import waiting
from cass_ray.config import SettingsError, load, parse_overrides
from cass_ray.corpus.generate.options import GeneratorOptions
from cass_ray.corpus.generate.program import generate as generate_programs
from cass_ray.exit_codes import EXIT_USAGE, fail
from cass_ray.overwriting import WouldOverwriteError, write_output

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def generate(
    out: Annotated[Path, typer.Option(help="Folder for NAME.cu and NAME.expected.")],
    count: Annotated[int, typer.Option(min=1, help="Programs.")] = 100,
    seed: Annotated[
        int, typer.Option(min=0, help="The same seed and knobs give the same programs.")
    ] = 0,
    knobs: Annotated[
        Path | None, typer.Option(help="Length and mix of constructs, in YAML.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="KEY=VALUE, any knob, e.g. collectives.vote=5."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print figures as JSON.")] = False,
    overwrite: Overwrite = False,
) -> None:
    """Write COUNT distinct CUDA programs, and the output of each as the generator computes it.

    A program takes no arguments, is free of undefined behaviour and of races, and prints the same
    on every GPU: the file NAME.expected.
    """
    try:
        chosen = load(GeneratorOptions, knobs, parse_overrides(set_ or []))
        out.mkdir(parents=True, exist_ok=True)
    except (SettingsError, OSError) as error:
        fail("generate", error, EXIT_USAGE)
    started, lines = time.monotonic(), 0
    with waiting(f"writing {count} programs") as say:
        for number, program in enumerate(generate_programs(count, seed, chosen), 1):
            # The output first: a program of an interrupted run is never without it.
            try:
                write_output(
                    out / f"{program.name}.expected", program.expected, overwrite=overwrite
                )
                write_output(out / f"{program.name}.cu", program.source, overwrite=overwrite)
            except WouldOverwriteError as error:
                fail("generate", error, EXIT_USAGE)
            lines += program.source.count("\n")
            say(f"{number} of {count} programs")
    seconds = time.monotonic() - started
    figures = {"programs": count, "lines": lines, "seconds": round(seconds, 2), "seed": seed}
    if as_json:
        sys.stdout.write(json.dumps(figures) + "\n")
    else:
        sys.stdout.write(
            f"{count} programs, {lines // count} lines each on average, in {seconds:.1f} s: {out}\n"
        )
