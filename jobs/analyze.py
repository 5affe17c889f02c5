#!/usr/bin/env python3
"""A data set in figures: one page, its images, every number as JSON.

Runs as ``cass analyze DATASET --out DIR``, ``python jobs/analyze.py`` and under ``ray job submit``,
where its parts are read by tasks all over the cluster. What is known of a part is kept beside the
report, so that after a data set has grown only new parts are read.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from cass_ray.analysis.settings import INSTALL_ANALYSIS, AnalysisSettings, NoDataSetError
from cass_ray.commands.output import Overwrite
from cass_ray.config import settings_from
from cass_ray.overwriting import check_outputs, remember
from cass_ray.toolchain.errors import ToolMissing
from jobs._endings import job_ending

if TYPE_CHECKING:
    from cass_ray.analysis.parts import FileFigures, PartTask

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_KEPT = ".parts"
_REPORT = ("report.html", "report.json")


class Analysis:
    """One run: parts, then the report."""

    def __init__(self, settings: AnalysisSettings, console: Console) -> None:
        self.settings = settings
        self.console = console

    def run(self) -> Path:
        """Write the report; its page.

        Raises:
            NoDataSetError: there is nothing to analyse.
            ToolMissing: a package of the extra ``analysis`` is not installed.
        """
        try:
            from cass_ray.analysis.assemble import assemble, tasks
            from cass_ray.analysis.report.write import write
        except ModuleNotFoundError as error:
            raise ToolMissing(
                f"The package {error.name}", INSTALL_ANALYSIS, "`cass analyze` draws with it"
            ) from None
        started = time.monotonic()
        planned = tasks(self.settings)
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        with Progress(*columns, console=self.console, transient=True) as progress:
            bar = progress.add_task("reading parts", total=len(planned))
            parts = []
            for part in self._parts(planned):
                parts.append(part)
                progress.advance(bar)
            bar = progress.add_task("drawing", total=None)
            document = assemble(self.settings, parts)
            page = write(
                document,
                self.settings.out,
                images=self.settings.images,
                done=lambda _: progress.advance(bar),
            )
        seconds = time.monotonic() - started
        self.console.print(f"{document.subtitle}, in {seconds:.0f} s -> [bold]{page}[/bold]")
        return page

    def _parts(self, planned: list[PartTask]) -> Iterator[FileFigures]:
        from cass_ray.analysis.parts import analyse_kept

        kept = self.settings.out.absolute() / _KEPT
        if self.settings.cluster or os.environ.get("RAY_ADDRESS"):
            os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
            from actors.analysis import analysed
            from actors.session import join_submitted, start_local

            if not join_submitted(log_to_driver=False):
                start_local(shown=False, lean=True, log_to_driver=False)
            yield from analysed(planned, kept)
            return
        processes = min(self.settings.processes or os.cpu_count() or 1, len(planned))
        if processes == 1:
            yield from (analyse_kept(task, kept) for task in planned)
            return
        with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
            yield from pool.map(partial(analyse_kept, folder=kept), planned)


@app.command("analyze")
def analyze(
    dataset: Annotated[str | None, typer.Argument(help="Folder or URL of the data set.")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder of the report.")] = None,
    config: Annotated[Path | None, typer.Option(help="Settings in YAML.")] = None,
    cluster: Annotated[bool, typer.Option(help="Read parts on a Ray cluster.")] = False,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="KEY=VALUE, any setting, e.g. similarity_rows=1000."),
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Analyse a data set: report.html, report.json and figures as PNG and SVG."""
    console = Console()
    flags = {"dataset": dataset, "out": out, "cluster": cluster or None}
    kept = "parts that were read are kept: run the same command again"
    with job_ending("analyze", usage=(NoDataSetError,), kept=kept):
        settings = settings_from(AnalysisSettings, config, flags, set_)
        report = [settings.out / name for name in _REPORT]
        check_outputs(report, overwrite=overwrite)
        Analysis(settings, console).run()
        remember(report)


if __name__ == "__main__":
    app()
