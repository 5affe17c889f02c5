#!/usr/bin/env python3
"""Many projects from CUDA to HIP: each translated, built and tested, and one report of all.

Runs as ``cass port-projects LIST --out DIR``, ``python jobs/port_projects.py`` and under ``ray job
submit``. A project that is done is not done again: the same command goes on where it stopped.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from cass_ray.config import settings_from
from cass_ray.exit_codes import EXIT_FAILED
from cass_ray.printable import printable
from cass_ray.project.batch import BatchPortSettings, ProjectOutcome, port_kept, write_summary
from jobs._endings import job_ending

app = typer.Typer(add_completion=False, rich_markup_mode=None)


def _outcomes(settings: BatchPortSettings) -> Iterator[ProjectOutcome]:
    if not (settings.cluster or os.environ.get("RAY_ADDRESS")):
        yield from (port_kept(entry, settings) for entry in settings.projects)
        return
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    from actors.projects import ported
    from actors.session import join_submitted, start_local

    if not join_submitted(log_to_driver=False):
        start_local(lean=True, log_to_driver=False)
    yield from ported(settings)


@app.command("port-projects")
def port_projects(
    projects: Annotated[
        Path, typer.Argument(metavar="LIST", help="Settings in YAML: projects, architectures …")
    ],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder of the results.")] = None,
    cluster: Annotated[bool, typer.Option(help="Port on a Ray cluster.")] = False,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="KEY=VALUE, any setting, e.g. seconds=600."),
    ] = None,
) -> None:
    """Port many projects: a patch and a report of each, projects.json and projects.html of all.

    Exit codes: 0 every project builds and passes its tests, 1 some do not, 2 usage, 3 a tool is
    missing, 130 interrupted (what is done is kept).
    """
    console = Console()
    flags = {"out": out, "cluster": cluster or None}
    kept = "projects that are done are kept: run the same command again"
    with job_ending("port-projects", kept=kept):
        settings = settings_from(BatchPortSettings, projects, flags, set_)
        settings = settings.model_copy(update={"out": settings.out.absolute()})
        done: list[ProjectOutcome] = []
        for outcome in _outcomes(settings):
            done.append(outcome)
            number = f"{len(done)} of {len(settings.projects)}"
            said = f"{number}: {printable(outcome.name)}: {outcome.standing} {outcome.why}"
            console.print(said.rstrip(), markup=False, highlight=False)
            page = write_summary(done, settings.out)
    console.print(f"{page}", markup=False, highlight=False)
    if any(outcome.standing != "passed" for outcome in done):
        raise typer.Exit(EXIT_FAILED)


if __name__ == "__main__":
    app()
