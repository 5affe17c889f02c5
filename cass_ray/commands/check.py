"""``cass check``: what will porting cost?"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from cass_ray.commands.endings import ending
from cass_ray.commands.output import Overwrite
from cass_ray.commands.waiting import waiting
from cass_ray.exit_codes import EXIT_USAGE, fail
from cass_ray.overwriting import write_output
from cass_ray.printable import printable_text
from cass_ray.project.cost import cost_of
from cass_ray.project.cost_report import cost_page, cost_text
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.protocol import TranslatorError
from cass_ray.translate.sarif import sarif
from cass_ray.verbosity import next_step, verbose

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_PAGE, _DATA, _SARIF = "report.html", "report.json", "report.sarif"


@app.command()
def check(
    path: Annotated[Path, typer.Argument(help="A CUDA file, or a folder.", metavar="FILE|DIR")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--out", help=f"Folder for {_PAGE}, {_DATA} and {_SARIF}."),
    ] = None,
    engine: Annotated[str, typer.Option(help="Engine whose findings are counted.")] = "rules",
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    overwrite: Overwrite = False,
) -> None:
    """What will porting cost? What the rules do, and what remains for a person.

    Constructs, libraries, warp-size assumptions, inline PTX and the build system, per file and over
    all. Nothing is compiled, and PATH is not touched. Hours are estimates; the output says of what.
    Exit codes: 0 the report is made, 1 the engine failed, 2 usage, 3 a tool is missing.
    """
    if not path.exists():
        fail("check", f"{path} does not exist: give a CUDA file or a folder", EXIT_USAGE)
    with ending("check", usage=(OSError, ValueError), failed=(TranslatorError,)):
        translator = make_translator(engine)
        with waiting(f"reading {path}"):
            cost, tree = cost_of(path, translator, workers=os.cpu_count() or 1)
        if output is not None:
            output.mkdir(parents=True, exist_ok=True)
            findings = json.dumps(sarif(tree, translator), indent=1) + "\n"
            for name, content in (
                (_PAGE, cost_page(cost, tree)),
                (_DATA, cost.model_dump_json(indent=1) + "\n"),
                (_SARIF, findings),
            ):
                write_output(output / name, content, overwrite=overwrite)
    if as_json:
        sys.stdout.write(cost.model_dump_json(indent=2) + "\n")
    else:
        sys.stdout.write(printable_text(cost_text(cost, everything=verbose())))
    if output is not None:
        sys.stderr.write(f"written: {output / _PAGE}\n")
    next_step(*cost.commands)
