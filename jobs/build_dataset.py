#!/usr/bin/env python3
"""CUDA corpora to aligned, compiled pairs.

read -> filter -> deduplicate -> translate -> compile Nvidia -> compile AMD -> align -> write

Runs as ``cass build-dataset``, ``python jobs/build_dataset.py`` and under ``ray job submit``. The
driver reads the sources and stages rows that need compilers on disk; Ray Data streams them through
actor pools pinned by the resources ``nvidia`` and ``amd``; finished rows go to a journal, from
which the data set is written in input order. A killed job continues with ``--resume``.
"""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from cass_ray.cache import digest
from cass_ray.config import SettingsError, load, parse_overrides
from cass_ray.corpus.program import SourceError
from cass_ray.corpus.reading.trees import DirectoryTreeStore
from cass_ray.corpus.screening.screening import Screening
from cass_ray.corpus.screening.selection import Selection
from cass_ray.dataset.card import write_card
from cass_ray.dataset.duplicates_report import write_removed_rows
from cass_ray.dataset.parquet import write_rows
from cass_ray.dataset.schema import REJECT_SCHEMA
from cass_ray.exit_codes import (
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_TOOL_MISSING,
    EXIT_USAGE,
    fail,
)
from cass_ray.pipeline.cached_run import CachedRun
from cass_ray.pipeline.ingest import Ingested, Ingestion, finished_columns, read_sources
from cass_ray.pipeline.journal import Journal
from cass_ray.pipeline.output_lock import OutputBusy, output_lock
from cass_ray.pipeline.progress import Progress
from cass_ray.pipeline.report import Tally, card_facts, print_summary, write_report
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.storage.store import StorageError
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.translate.engines.registry import make_translator
from cass_ray.version import __version__

app = typer.Typer(add_completion=False)


def fingerprint(settings: BuildSettings) -> str:
    """What finished rows depend on: other settings mean another journal."""
    translator = make_translator(settings.translator)
    relevant = settings.model_dump_json(
        include={
            "nvidia_architectures",
            "amd_architectures",
            "optimization",
            "translator",
            "compile",
            "execute",
            "lift",
            "scrub",
        }
    )
    return digest([__version__, relevant, translator.version])[:16]


class Build:
    """One run of the pipeline into ``settings.out``."""

    def __init__(self, settings: BuildSettings, console: Console) -> None:
        self.settings = settings
        self.console = console
        self.work = settings.out / ".work"
        self.trees = DirectoryTreeStore(str(self.work / "trees"))
        self.work.mkdir(parents=True, exist_ok=True)
        self.screening = Screening(settings, self.work)
        self.selection = Selection(settings.selection)

    def run(self, resume: bool) -> Tally:
        """Build the data set.

        Raises ``ConservationError`` if a row got lost, and ``OutputBusy`` where another build
        writes to the folder.
        """
        with output_lock(self.settings.out):
            return self._run(resume)

    def _run(self, resume: bool) -> Tally:
        started = time.monotonic()
        if not resume:
            shutil.rmtree(self.work, ignore_errors=True)
        journal = Journal(self.work / f"journal-{fingerprint(self.settings)}", REJECT_SCHEMA)
        with Progress(self.console) as progress:
            ingested = self._ingest(journal, progress)
            progress.expect(ingested.staged_rows, len(ingested.order))
            if ingested.staged_rows:
                self._compile(ingested, journal, progress)
        tally = self._write(ingested, journal)
        seconds = time.monotonic() - started
        write_report(self.settings.out / "report.json", self._report(tally, seconds))
        write_card(self.settings.out, card_facts(self.settings, tally))
        print_summary(self.console, tally, seconds, self.settings.out)
        return tally

    def _ingest(self, journal: Journal, progress: Progress) -> Ingested:
        cached = CachedRun.on_this_machine(self.settings, self.trees)
        rows = read_sources(self.settings, self.work, self.trees)
        ingestion = Ingestion(self.screening, self.work, journal, cached.prepare, cached.finish)
        return ingestion.run(rows, progress.add)

    def _compile(self, ingested: Ingested, journal: Journal, progress: Progress) -> None:
        # Ray is imported only when there is work for it, and reads this when it is: Ray Data's own
        # actors make its core warn on every start.
        os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
        from actors.build_pipeline import compile_rows

        for rows in compile_rows(
            self.settings, ingested.staged, ingested.staged_rows, self.work / "trees"
        ):
            finished = [finished_columns(row) for row in rows]
            journal.append(finished)
            for row in finished:
                progress.add(row, compiled=True)

    def _write(self, ingested: Ingested, journal: Journal) -> Tally:
        tally = Tally()
        rows = self.screening.after_compiling(ingested.in_order(journal))
        for row in write_rows(self.selection.select(rows), self.settings.out):
            tally.add(row)
        tally.check_conservation(len(ingested.order))
        self.selection.write(self.settings.out)
        removed = self.screening.findings
        write_removed_rows(self.settings.out, removed.duplicates, removed.overlaps)
        return tally

    def _report(self, tally: Tally, seconds: float) -> dict[str, Any]:
        return {
            "cass_ray": __version__,
            "seconds": round(seconds, 2),
            "settings": self.settings.model_dump(mode="json"),
            **tally.as_dict(),
            "scrubbed": dict(self.screening.findings.scrubbed),
            "selection": self.selection.summary(),
            "evaluation_without_opcodes": len(self.screening.decontamination.without_opcodes),
        }


@app.command()
def build_dataset(
    source: Annotated[
        list[str] | None,
        typer.Option(
            help="local:PATH, repository:URL[@REV], opencl:PATH, shipped …; may be repeated."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the data set.")] = None,
    config: Annotated[Path | None, typer.Option(help="Settings in YAML.")] = None,
    arch: Annotated[
        list[str] | None,
        typer.Option(help="Architecture of either side, as sm_80 or gfx942; may be repeated."),
    ] = None,
    resume: Annotated[bool, typer.Option(help="Continue an interrupted build.")] = False,
    execute: Annotated[bool, typer.Option(help="Run both sides and compare.")] = False,
    lift: Annotated[bool, typer.Option(help="Lift the machine code to RDNA3, too.")] = False,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="KEY=VALUE, any setting, e.g. filters.max_lines=500."),
    ] = None,
) -> None:
    """Build a data set of aligned CUDA / HIP / SASS / RDNA3 pairs."""
    console = Console()
    amd = [name for name in arch or [] if name.startswith("gfx")]
    nvidia = [name for name in arch or [] if name not in amd]
    flags = {
        "sources": source,
        "out": out,
        "nvidia_architectures": nvidia or None,
        "amd_architectures": amd or None,
        "execute": execute or None,
        "lift": lift or None,
    }
    try:
        overrides = {key: value for key, value in flags.items() if value is not None}
        settings = load(BuildSettings, config, {**overrides, **parse_overrides(set_ or [])})
        settings = settings.model_copy(update={"out": settings.out.absolute()})
        Build(settings, console).run(resume)
    except (SettingsError, SourceError, StorageError) as error:
        fail("build-dataset", error, EXIT_USAGE)
    except OutputBusy as error:
        fail("build-dataset", error, EXIT_FAILED)
    except ToolMissing as error:
        fail("build-dataset", error, EXIT_TOOL_MISSING)
    except KeyboardInterrupt:
        fail(
            "build-dataset",
            "interrupted; finished rows are kept: run the same command with --resume",
            EXIT_INTERRUPTED,
        )


if __name__ == "__main__":
    app()
