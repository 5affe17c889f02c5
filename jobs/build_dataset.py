#!/usr/bin/env python3
"""CUDA corpora to aligned, compiled pairs.

read -> filter -> deduplicate -> translate -> compile Nvidia -> compile AMD -> align -> write

Runs as ``cass build-dataset``, ``python jobs/build_dataset.py`` and under ``ray job submit``. Work
is divided into pieces of the input, and each result is committed once to a store; the driver holds
counts (``cass_ray/pipeline/pieces``). On a cluster tasks read, decide and write; Ray Data streams
blocks of rows through actor pools pinned by the resources ``nvidia`` and ``amd``. A killed job
continues with ``--resume``.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from cass_ray.commands.output import Overwrite
from cass_ray.config import SettingsError, settings_from
from cass_ray.corpus.program import SourceError
from cass_ray.dataset.card import card
from cass_ray.exit_codes import EXIT_FAILED, fail, no_room
from cass_ray.pipeline.output import (
    CARD,
    REPORT,
    WORK,
    OutputBusy,
    OutputOccupied,
    check_free,
    output_at,
)
from cass_ray.pipeline.pieces.blocks import Block
from cass_ray.pipeline.pieces.read import evaluation_without_opcodes, rows_of, scrubbed_in
from cass_ray.pipeline.pieces.runner import InlineRunner, Runner
from cass_ray.pipeline.pieces.steps import Steps
from cass_ray.pipeline.pieces.work import BuildWork, ChangedCodeError, Deduplicated
from cass_ray.pipeline.progress import Observer, Progress
from cass_ray.pipeline.report import Tally, card_facts, print_summary, report_json
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.storage.location import absolute
from cass_ray.toolchain.provided.store import LOCK, lock_file, package_of_key
from cass_ray.version import __version__
from jobs._endings import job_ending

if TYPE_CHECKING:
    from actors.nodes import NodeChoice

app = typer.Typer(add_completion=False, rich_markup_mode=None)


class EmptyBuildError(RuntimeError):
    """The sources hold no program."""


class Build:
    """One run of the pipeline into ``settings.out``."""

    def __init__(self, settings: BuildSettings, console: Console) -> None:
        self.settings = settings
        self.console = console
        self.output = output_at(settings.out)
        self.work = BuildWork(self.output.store, settings)
        self.runner: Runner = InlineRunner()
        self.observers: list[Observer] = []
        self.nodes: NodeChoice | None = None
        """The nodes of a cluster that was joined."""
        self.joined = False
        """Whether nodes of a cluster do the work of pieces."""

    def run(self, resume: bool, *, overwrite: bool = False) -> Tally:
        """Build the data set.

        Raises:
            ConservationError: a row got lost.
            EmptyBuildError: the sources hold no program; what was there stays.
            OutputBusy: another build writes to the folder.
            OutputOccupied: the folder holds something else, and ``overwrite`` is false.
        """
        with self.output.held(resume), ExitStack() as stack:
            if not resume and not overwrite:
                check_free(self.output.store, self.settings.model_dump(mode="json"))
            if os.environ.get("RAY_ADDRESS") and self.settings.compile:
                self._join(stack)
            return self._run(resume)

    def _join(self, stack: ExitStack) -> None:
        _quiet_ray()
        from actors.build_pipeline import compilers_of, connect
        from actors.metrics import BuildMetrics
        from actors.nodes import release_nodes, wait_for_nodes
        from actors.piece_tasks import TaskRunner
        from actors.shared_files import reachable

        connect(self.settings.slots)
        stack.callback(release_nodes)
        needed = compilers_of(self.settings)
        self.nodes = wait_for_nodes(self.settings, needed, self.console.print)
        self.work = BuildWork(reachable(self.output.store), self.settings)
        self.runner = TaskRunner()
        self.observers.append(BuildMetrics())
        self.joined = True

    def _run(self, resume: bool) -> Tally:
        started = time.monotonic()
        if not resume:
            self.output.store.remove_all(WORK)
        with Progress(self.console, observers=self.observers) as progress:
            steps = Steps(self.work, self.runner, progress, self._slots(), not self.joined)
            pieces = steps.read(self.output.scratch)
            if not rows_of(self.work, pieces):
                raise EmptyBuildError(
                    f"{', '.join(map(str, self.settings.sources))}: no program is there; "
                    "nothing was built, and what was there stays"
                )
            rows_per_block = steps.finish(pieces, self._compile)
            tally, selected = steps.write(pieces, rows_per_block, self.output)
        seconds = time.monotonic() - started
        report = {
            "cass_ray": __version__,
            "seconds": round(seconds, 2),
            "settings": self.settings.model_dump(mode="json"),
            **tally.as_dict(),
            "scrubbed": scrubbed_in(self.work, pieces),
            "selection": selected,
            "evaluation_without_opcodes": evaluation_without_opcodes(self.settings),
        }
        self.output.store.put(CARD, card(card_facts(self.settings, tally)).encode())
        self.output.store.put(REPORT, report_json(report))
        if keys := tally.funnel.headers:
            self.output.store.put(LOCK, lock_file(map(package_of_key, keys)))
        print_summary(self.console, tally, seconds, self.settings.out)
        return tally

    def _slots(self) -> int:
        if self.nodes is None:
            return self.settings.slots or os.cpu_count() or 1
        return self.nodes.slots_of("nvidia")

    def _compile(self, blocks: Iterable[tuple[Deduplicated, Block]]) -> Iterator[dict[str, int]]:
        _quiet_ray()
        from actors.build_pipeline import compile_blocks
        from actors.nodes import ALL_NODES

        return compile_blocks(self.work, blocks, self.nodes or ALL_NODES)


def _quiet_ray() -> None:
    # Ray is imported only when there is work for it, and reads this when it is: Ray Data's own
    # actors make its core warn on every start.
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")


def _folders(given: list[str]) -> dict[str, str]:
    """Folders by name. Raises ``SettingsError``."""
    folders = {}
    for each in given:
        name, _, folder = each.partition("=")
        if not name or not Path(folder).expanduser().is_dir():
            raise SettingsError(f"--dependency {each}: give NAME=DIR, a folder that is there")
        folders[name] = str(Path(folder).expanduser().resolve())
    return folders


@app.command()
def build_dataset(
    source: Annotated[
        list[str] | None,
        typer.Option(
            help="local:PATH, repository:URL[@REV], opencl:PATH, shipped …; may be repeated."
        ),
    ] = None,
    out: Annotated[
        str | None, typer.Option(help="Folder of the data set, or s3://…, gs://…, az://….")
    ] = None,
    config: Annotated[Path | None, typer.Option(help="Settings in YAML.")] = None,
    arch: Annotated[
        list[str] | None,
        typer.Option(help="Architecture of either side, as sm_80 or gfx942; may be repeated."),
    ] = None,
    resume: Annotated[bool, typer.Option(help="Continue an interrupted build.")] = False,
    execute: Annotated[bool, typer.Option(help="Run both sides and compare.")] = False,
    lift: Annotated[bool, typer.Option(help="Lift the machine code to RDNA3, too.")] = False,
    dependency: Annotated[
        list[str] | None,
        typer.Option(help="NAME=DIR: what a project takes from another repository; repeatable."),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="KEY=VALUE, any setting, e.g. filters.max_lines=500."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the report as JSON; progress: standard error.")
    ] = False,
    overwrite: Overwrite = False,
) -> None:
    """Build a data set of aligned CUDA / HIP / SASS / RDNA3 pairs."""
    console = Console(stderr=as_json)
    amd = [name for name in arch or [] if name.startswith("gfx")]
    nvidia = [name for name in arch or [] if name not in amd]
    flags: dict[str, object] = {
        "sources": source,
        "out": out,
        "nvidia_architectures": nvidia or None,
        "amd_architectures": amd or None,
        "execute": execute or None,
        "lift": lift or None,
    }
    with job_ending(
        "build-dataset",
        usage=(SourceError, OutputOccupied),
        failed=(OutputBusy, EmptyBuildError, ChangedCodeError),
        kept="finished rows are kept: run the same command with --resume",
    ):
        flags["dependencies"] = _folders(dependency or []) or None
        settings = settings_from(BuildSettings, config, flags, set_)
        settings = settings.model_copy(update={"out": absolute(settings.out)})
        try:
            build = Build(settings, console)
            build.run(resume, overwrite=overwrite)
        except OSError as error:
            if (message := no_room(error)) is None:
                raise
            fail("build-dataset", f"{message}; then --resume", EXIT_FAILED)
        if as_json:
            sys.stdout.write(build.output.store.read(REPORT).decode())


if __name__ == "__main__":
    app()
