"""``cass bench``'s commands that need no cluster: lint, admit, report, leaderboard."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from cass_ray.bench.evaluate import usable_backend
from cass_ray.bench.lint import Findings, Linter, check_collection
from cass_ray.bench.task import TASKS_FOLDER, Task, TaskError, load_tasks, loadable_tasks
from cass_ray.cli import EXIT_FAILED, EXIT_TOOL_MISSING, EXIT_USAGE
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.isolation import IsolationUnavailableError
from cass_ray.toolchain.locate import find_nvidia

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
    jobs: Annotated[int, typer.Option(min=1, help="Tasks at a time.")] = 2,
    as_json: Annotated[bool, typer.Option("--json", help="Print all findings as JSON.")] = False,
) -> None:
    """Check tasks: text, both compilers, the port's runs, agreement with stored outputs.

    Exit codes: 0 nothing is wrong, 1 a task has a problem, 2 usage, 3 a tool is missing.
    """
    found: list[Findings] = []
    with exit_codes():
        linter = Linter() if static else Linter(find_nvidia(), usable_backend())
        chosen, broken = _load(tasks, names or [])
        found += broken
        with ThreadPoolExecutor(jobs) as pool:
            for findings in pool.map(linter.check, chosen):
                found.append(findings)
                if not as_json:
                    typer.echo(_line(findings))
        if not names:
            found.append(check_collection(chosen))
    if as_json:
        typer.echo(json.dumps([vars(each) for each in found], indent=1))
    else:
        for each in [*broken, *([] if names else found[-1:])]:
            typer.echo(_line(each))
        bad = sum(not each.ok for each in found if each.task)
        typer.echo(f"{len(chosen) + len(broken)} tasks, {bad} with problems")
    raise typer.Exit(0 if all(each.ok for each in found) else EXIT_FAILED)


def _load(root: Path, names: list[str]) -> tuple[list[Task], list[Findings]]:
    """Tasks, and findings for folders that cannot be loaded."""
    if names:
        return load_tasks(root, names), []
    tasks, broken = loadable_tasks(root)
    return tasks, [Findings(name, [message]) for name, message in broken.items()]


def _line(found: Findings) -> str:
    head = found.task or "all tasks"
    size = f" ({found.sass_lines} SASS lines, {found.seconds:.2f} s)" if found.sass_lines else ""
    lines = [f"{'ok ' if found.ok else 'BAD'} {head}{size}"]
    lines += [f"    problem: {text}" for text in found.problems]
    lines += [f"    remark: {text}" for text in found.remarks]
    return "\n".join(lines)


@contextmanager
def exit_codes() -> Iterator[None]:
    """Turn what loading and tools raise into a message and an exit code."""
    try:
        yield
    except TaskError as error:
        typer.echo(f"cass bench: {error}", err=True)
        raise typer.Exit(EXIT_USAGE) from None
    except (ToolMissing, IsolationUnavailableError) as error:
        typer.echo(f"cass bench: {error}", err=True)
        raise typer.Exit(EXIT_TOOL_MISSING) from None
