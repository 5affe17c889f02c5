#!/usr/bin/env python3
"""CASS-Bench as a job: tasks × samples through translators and executors, then a report.

Runs as ``cass bench --system rules --out DIR``, ``python jobs/run_bench.py run …`` and under
``ray job submit``. Finished samples go to a journal, so that a killed run continues with
``--resume``; ``samples.jsonl``, ``scores.json`` and the report are written from it at the end.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import typer
from rich.console import Console
from typer.core import TyperGroup

from cass_ray.bench.evaluate import make_compilers, run_threaded
from cass_ray.bench.plan import BenchSettings, Item, UploadSettings, in_process, plan
from cass_ray.bench.predecessor import load_predecessor
from cass_ray.bench.question import BenchLevel
from cass_ray.bench.reporting.publish import print_scores, publish
from cass_ray.bench.results import SAMPLES_FILE, BenchSample, read_samples, write_samples
from cass_ray.bench.systems import describe, make_system
from cass_ray.bench.task import BenchTask, TaskError, load_tasks
from cass_ray.commands import bench as commands
from cass_ray.config import settings_from
from cass_ray.pipeline.journal import Journal
from cass_ray.pipeline.report import ConservationError
from cass_ray.storage.location import absolute, below
from cass_ray.storage.runs import keep_run, run_name
from cass_ray.storage.store import Store
from cass_ray.task import Direction
from cass_ray.translate.engines.registry import UnknownEngineError
from jobs._endings import job_ending

_JOURNAL_SCHEMA = pa.schema([("id", pa.string()), ("sample", pa.string())])


class _Group(TyperGroup):
    """``cass bench --system …`` is ``cass bench run --system …``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put ``run`` in front of options."""
        if args and args[0].startswith("-") and args[0] != "--help":
            args = ["run", *args]
        rest: list[str] = super().parse_args(ctx, args)
        return rest


app = typer.Typer(cls=_Group, add_completion=False, rich_markup_mode=None, no_args_is_help=True)
app.command("lint")(commands.lint)
app.command("admit")(commands.admit)
app.command("report")(commands.report)
app.command("leaderboard")(commands.leaderboard)


@app.callback()
def _root() -> None:
    """CASS-Bench: run systems on tasks with ground truth from real hardware, and score them."""


def _tasks(settings: BenchSettings) -> list[BenchTask]:
    if settings.dataset:
        return load_predecessor(settings.dataset)
    return load_tasks(settings.tasks_folder, settings.tasks)


class BenchJob:
    """One run of CASS-Bench: plans, asks, judges, and writes to ``settings.out``."""

    def __init__(self, settings: BenchSettings, console: Console) -> None:
        self._settings = settings
        self._console = console
        self._work = settings.out / ".work"
        self._started = time.monotonic()

    def run(self, resume: bool) -> list[BenchSample]:
        """Make every sample that is not there. Raises :class:`ConservationError` if one is lost."""
        settings = self._settings
        tasks = {task.name: task for task in _tasks(settings)}
        compilers = make_compilers(cached=settings.cache, architecture=settings.amd_architecture)
        all_tasks = list(tasks.values())
        described = [describe(name, all_tasks, compilers) for name in settings.systems]
        items = plan(settings, all_tasks, described)
        if not resume:
            shutil.rmtree(self._work, ignore_errors=True)
        journal = Journal(self._work / "journal", _JOURNAL_SCHEMA)
        missing = [item for item in items if item.id not in journal]
        self._say(f"{len(tasks)} tasks, {len(items)} samples, {len(missing)} to make")
        if missing:
            self._make(journal, missing, tasks)
        return self._collected(journal, items)

    def _make(self, journal: Journal, missing: Sequence[Item], tasks: dict[str, BenchTask]) -> None:
        for number, sample in enumerate(self._stream(journal, missing, tasks), 1):
            self._show(number, len(missing), sample)

    def _stream(
        self, journal: Journal, missing: Sequence[Item], tasks: dict[str, BenchTask]
    ) -> Iterator[BenchSample]:
        """Finished samples, each in the journal before it is seen."""
        for block in self._blocks(missing, tasks):
            journal.append([{"id": each.id, "sample": each.model_dump_json()} for each in block])
            yield from block

    def _blocks(
        self, missing: Sequence[Item], tasks: dict[str, BenchTask]
    ) -> Iterator[list[BenchSample]]:
        settings = self._settings
        if not settings.cluster:
            threads = settings.slots or os.cpu_count() or 1
            target = settings.amd_architecture
            for sample in run_threaded(
                missing, tasks, threads=threads, cached=settings.cache, architecture=target
            ):
                yield [sample]
            return
        os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
        from actors.bench_pipeline import bench_samples

        compilers = make_compilers(cached=settings.cache, architecture=settings.amd_architecture)
        all_tasks = list(tasks.values())
        own = {item.system for item in missing if in_process(item)}
        systems = {name: make_system(name, all_tasks, compilers) for name in own}
        yield from bench_samples(settings, missing, tasks, systems, compilers)

    def _show(self, done: int, total: int, sample: BenchSample) -> None:
        judgement = sample.judgement
        if judgement.problem:
            verdict = f"no verdict: {judgement.problem.splitlines()[0][:120]}"
        elif not judgement.compiled:
            verdict = "does not compile"
        else:
            verdict = "right" if judgement.passed else "wrong"
        self._say(f"{done}/{total} {sample.system} {sample.task}: {verdict}")

    def _say(self, line: str) -> None:
        seconds = time.monotonic() - self._started
        self._console.print(f"{seconds:6.1f} s  {line}", highlight=False, soft_wrap=True)

    def _collected(self, journal: Journal, items: Sequence[Item]) -> list[BenchSample]:
        """Return results in the order of the plan."""
        names = [item.id for item in items]
        lost = [name for name in names if name not in journal]
        if lost or len(set(names)) != len(names):
            raise ConservationError(f"{len(names)} samples planned, {len(lost)} are not there")

        def read() -> Iterator[BenchSample]:
            for row in journal.read(names):
                yield BenchSample.model_validate_json(row["sample"])

        write_samples(self._settings.out / SAMPLES_FILE, read())
        return list(read_samples(self._settings.out))


def _kept(folder: Path, settings: UploadSettings) -> Path | str:
    url, name = absolute(settings.url), run_name()
    keep_run(Store(url), folder, name, settings.keep)
    return below(url, name)


@app.command("run")
def run_bench(
    system: Annotated[
        list[str] | None,
        typer.Option(
            help="rules, rules+repair, hipify-perl, hipify-clang, lift, model:PATH, chat:MODEL, "
            "answers:FILE.jsonl, reference or echo; may be given several times."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the results.")] = None,
    level: Annotated[BenchLevel | None, typer.Option(help="What is translated.")] = None,
    direction: Annotated[Direction | None, typer.Option(help="From which vendor to which.")] = None,
    arch: Annotated[
        list[str] | None, typer.Option(help="SASS architectures at the assembly level.")
    ] = None,
    amd: Annotated[
        str | None, typer.Option(help="Processor that answers are compiled for and run as.")
    ] = None,
    task: Annotated[
        list[str] | None, typer.Option(help="A task or category, * is a wildcard.")
    ] = None,
    dataset: Annotated[
        str | None, typer.Option(help="Instead of ours: MBZUAI/cass-bench or a Parquet file.")
    ] = None,
    samples: Annotated[int | None, typer.Option(help="Samples a task.")] = None,
    temperature: Annotated[float | None, typer.Option(help="Of systems that sample.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of the first sample.")] = None,
    tag: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE, written into every result.")
    ] = None,
    compare: Annotated[
        list[Path] | None, typer.Option(help="Earlier results to test against.")
    ] = None,
    config: Annotated[Path | None, typer.Option(help="Settings in YAML.")] = None,
    resume: Annotated[bool, typer.Option(help="Continue an interrupted run.")] = False,
    no_cluster: Annotated[
        bool, typer.Option("--no-cluster", help="Use threads of this process in place of Ray.")
    ] = False,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Compile and run all anew.")] = False,
    set_: Annotated[list[str] | None, typer.Option("--set", help="KEY=VALUE.")] = None,
) -> None:
    """Ask systems, run what they answer, and report.

    Exit codes: 0 done, whatever the scores, 1 the run failed, 2 usage, 3 a tool is missing.
    """
    flags = {
        "systems": system,
        "out": out,
        "level": level,
        "direction": direction,
        "architectures": arch,
        "amd_architecture": amd,
        "tasks": task,
        "dataset": dataset,
        "samples": samples,
        "temperature": temperature,
        "seed": seed,
        "tags": dict(pair.split("=", 1) for pair in tag if "=" in pair) if tag else None,
        "compare": compare,
        "cluster": False if no_cluster else None,
        "cache": False if no_cache else None,
    }
    console = Console()
    with job_ending(
        "bench",
        usage=(TaskError, UnknownEngineError, OSError),
        failed=(ConservationError,),
        kept="finished samples are kept: run the same with --resume",
    ):
        settings = settings_from(BenchSettings, config, flags, set_)
        settings = settings.model_copy(update={"out": settings.out.absolute()})
        for each in settings.compare:  # before a run of hours
            next(iter(read_samples(each)), None)
        if settings.publish is not None:
            Store(absolute(settings.publish.url))
        settings.out.mkdir(parents=True, exist_ok=True)
        results = BenchJob(settings, console).run(resume)
        print_scores(console, publish(settings.out, results, compare=settings.compare))
        if settings.publish is not None:
            console.print(f"results: {_kept(settings.out, settings.publish)}", highlight=False)


if __name__ == "__main__":
    app()
