"""``cass bench``'s commands that need no cluster: lint, admit, report, leaderboard."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from cass_ray.bench.authoring.admit import mutation_test
from cass_ray.bench.authoring.index import (
    BenchIndex,
    TaskFacts,
    measure_facts,
    read_index,
    stale,
    write_index,
)
from cass_ray.bench.authoring.lint import Linter, LintFindings, check_collection
from cass_ray.bench.evaluate import make_compilers, usable_backend
from cass_ray.bench.programs import Compilers
from cass_ray.bench.reporting.leaderboard import (
    board_table,
    entries_of,
    merge,
    read_board,
    write_board,
)
from cass_ray.bench.reporting.publish import print_scores, publish
from cass_ray.bench.results import read_samples
from cass_ray.bench.scoring.rescore import rescored
from cass_ray.bench.task import (
    TASKS_FOLDER,
    BenchTask,
    TaskError,
    load_tasks,
    loadable_tasks,
    task_folders,
)
from cass_ray.commands.endings import ending
from cass_ray.commands.waiting import waiting
from cass_ray.execute.backends.rdna3 import Rdna3Backend
from cass_ray.exit_codes import EXIT_FAILED
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_nvidia
from cass_ray.toolchain.unit import CompileFailure
from cass_ray.whole_file import write_whole

_ending = partial(ending, "bench", usage=(TaskError, OSError, ValueError))

Names = Annotated[
    list[str] | None,
    typer.Argument(help="Tasks or categories, with * as a wildcard. [default: all]"),
]
TasksFolder = Annotated[Path, typer.Option(help="Folder of the tasks.")]


def lint(
    names: Names = None,
    tasks: TasksFolder = TASKS_FOLDER,
    static: Annotated[
        bool, typer.Option("--static", help="Only read the files; compile and run nothing.")
    ] = False,
    write: Annotated[
        bool, typer.Option("--write-index", help="Measure sizes and digests of the chosen tasks.")
    ] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Tasks at a time.")] = 2,
    as_json: Annotated[bool, typer.Option("--json", help="Print all findings as JSON.")] = False,
) -> None:
    """Check tasks: text, both compilers, the port's runs, agreement with stored outputs.

    Exit codes: 0 nothing is wrong, 1 a task has a problem, 2 usage, 3 a tool is missing.
    """
    results: list[LintFindings] = []
    with _ending():
        linter = Linter() if static else Linter(find_nvidia(), usable_backend())
        chosen, broken = _load(tasks, names or [])
        if write:
            with waiting("measuring sizes"):
                _write_index(chosen, jobs)
        results += broken
        with waiting(f"checking {len(chosen)} tasks"), ThreadPoolExecutor(jobs) as pool:
            for findings in pool.map(linter.check, chosen):
                results.append(findings)
                if not as_json:
                    typer.echo(_line(findings))
        if not names:
            whole = check_collection(chosen)
            if tasks == TASKS_FOLDER and (changed := stale(chosen, read_index())):
                names_ = ", ".join(changed)
                whole.problems.append(f"not in the index as they are (--write-index): {names_}")
            results.append(whole)
    if as_json:
        typer.echo(json.dumps([vars(each) for each in results], indent=1))
    else:
        for each in [*broken, *([] if names else results[-1:])]:
            typer.echo(_line(each))
        bad = sum(not each.ok for each in results if each.task)
        typer.echo(f"{len(chosen) + len(broken)} tasks, {bad} with problems")
    raise typer.Exit(0 if all(each.ok for each in results) else EXIT_FAILED)


def _write_index(tasks: list[BenchTask], jobs: int) -> None:
    """Measure tasks that the index does not have as they are; take out those that are gone."""
    compilers = make_compilers()
    index = read_index()
    outdated = [task for task in tasks if task.name in stale(tasks, index)]
    measured = dict(index.tasks)
    with ThreadPoolExecutor(jobs) as pool:
        facts = pool.map(partial(_facts, compilers=compilers), outdated)
        for task, fact in zip(outdated, facts, strict=True):
            if fact is not None:
                measured[task.name] = fact
    there = {folder.name for folder in task_folders()}
    index = BenchIndex(
        nvidia=compilers.find_nvidia().version,
        amd=compilers.backend.toolchain.version,
        tasks={name: fact for name, fact in sorted(measured.items()) if name in there},
    )
    write_index(index)


def _facts(task: BenchTask, compilers: Compilers) -> TaskFacts | None:
    """None for a task that does not compile, which linting reports."""
    try:
        return measure_facts(task, compilers)
    except CompileFailure:
        return None


def admit(
    names: Names = None,
    tasks: TasksFolder = TASKS_FOLDER,
    per_fault: Annotated[int, typer.Option(min=1, help="Mutants of each kind of fault.")] = 1,
    seed: Annotated[int, typer.Option(help="Draws other mutants.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Tasks at a time.")] = 2,
    out: Annotated[Path | None, typer.Option(help="Write all mutants to this JSON file.")] = None,
) -> None:
    """Mutation test: do the inputs of a task tell faulty ports from right ones?

    Exit codes: 0 every task catches at least nine tenths of its mutants, 1 one does not, 3 a tool
    is missing.
    """
    with _ending():
        engine = Rdna3Backend(threads=1)
        if problem := engine.problem():
            raise ToolMissing("The backend rdna3", "Run `cass doctor`.", problem)
        chosen, broken = _load(tasks, names or [])
        results = []
        with waiting(f"planting faults in {len(chosen)} tasks"), ThreadPoolExecutor(jobs) as pool:
            test = partial(mutation_test, backend=engine, per_fault=per_fault, seed=seed)
            for result in pool.map(test, chosen):
                results.append(result)
                typer.echo(result.format())
    if out is not None:
        values = [result.model_dump(mode="json") for result in results]
        write_whole(out, json.dumps(values, indent=1) + "\n")
    killed = sum(result.killed for result in results)
    counted = sum(result.counted for result in results)
    bad = sum(not result.admitted for result in results) + len(broken)
    typer.echo(f"{killed} of {counted} mutants caught; {bad} of {len(results)} tasks not admitted")
    raise typer.Exit(EXIT_FAILED if bad else 0)


def report(
    results: Annotated[list[Path], typer.Argument(help="Folders or samples.jsonl of runs.")],
    out: Annotated[Path, typer.Option(help="Folder of the report.")],
    compare: Annotated[
        list[Path] | None, typer.Option(help="Earlier results to test against.")
    ] = None,
    rescore: Annotated[
        bool, typer.Option("--rescore", help="Compare the stored outputs again.")
    ] = False,
    title: Annotated[str, typer.Option(help="Of the report.")] = "CASS-Bench",
) -> None:
    """Report on one run or several together: tables, tests and plots."""
    with _ending():
        samples = [sample for path in results for sample in read_samples(path)]
        if rescore:
            by_name = {task.name: task for task in loadable_tasks()[0]}
            samples = [rescored(sample, by_name.get(sample.task)) for sample in samples]
        document = publish(out, samples, compare=compare or [], title=title)
    print_scores(Console(), document)


def leaderboard(
    file: Annotated[Path, typer.Argument(help="The leaderboard (JSON); made if there is none.")],
    results: Annotated[
        list[Path] | None, typer.Argument(help="Folders or samples.jsonl of runs to merge in.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Merge runs into a leaderboard and print it."""
    with _ending():
        board = read_board(file)
        if results:
            entries = [entry for path in results for entry in entries_of(path)]
            board = merge(board, entries)
            write_board(file, board)
    if as_json:
        typer.echo(board.model_dump_json(indent=1))
        return
    shown = board_table(board.entries)
    table = Table(title=shown.title, title_justify="left")
    for number, name in enumerate(shown.head):
        table.add_column(name, justify="left" if number < 4 else "right")
    for row in shown.rows:
        table.add_row(*row)
    Console().print(table)


def _load(root: Path, names: list[str]) -> tuple[list[BenchTask], list[LintFindings]]:
    """Tasks, and findings for folders that cannot be loaded."""
    if names:
        return load_tasks(root, names), []
    tasks, broken = loadable_tasks(root)
    return tasks, [LintFindings(name, [message]) for name, message in broken.items()]


def _line(findings: LintFindings) -> str:
    head = findings.task or "all tasks"
    size = (
        f" ({findings.sass_lines} SASS lines, {findings.seconds:.2f} s)"
        if findings.sass_lines
        else ""
    )
    lines = [f"{'ok ' if findings.ok else 'BAD'} {head}{size}"]
    lines += [f"    problem: {text}" for text in findings.problems]
    lines += [f"    remark: {text}" for text in findings.remarks]
    return "\n".join(lines)
