"""How commands run one program: their exit codes, and what they pass on or print of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from cass_ray.toolchain.sandbox.process import Completed, ProcessOutcome, Starved

_TIME_LIMIT_STATUS = 124  # as timeout(1)
_LIMIT_STATUS = 125
_SIGNAL_STATUS = 128

RunJson = Annotated[
    bool,
    typer.Option("--json", help="Print each run as a line of JSON, its output in it."),
]


@contextmanager
def within_time(seconds: float, command: str) -> Iterator[None]:
    """End as at the time limit where the machine had no processor for the program."""
    try:
        yield
    except Starved as error:
        typer.echo(f"{command}: ended after {seconds:g} s (--seconds): {error}", err=True)
        raise typer.Exit(_TIME_LIMIT_STATUS) from None


_OPTIONS = {
    ProcessOutcome.MEMORY_LIMIT: "memory limit (--memory)",
    ProcessOutcome.OUTPUT_LIMIT: "limit of output, or of files (--file-size)",
}


class Finish:
    """Ends runs of ``command``: passes on what a program wrote, or prints it as JSON."""

    def __init__(self, command: str, seconds: float, *, as_json: bool = False) -> None:
        self._command = command
        self._seconds = seconds
        self._as_json = as_json

    def __call__(self, completed: Completed, target: str) -> int:
        """The exit code to end with after a run on ``target``."""
        status, said = self._ending(completed)
        if self._as_json:
            sys.stdout.write(json.dumps(_run_object(completed, target, status)) + "\n")
        else:
            sys.stdout.buffer.write(completed.stdout)
            sys.stdout.buffer.flush()
            sys.stderr.buffer.write(completed.stderr)
            sys.stderr.buffer.flush()
        if said:
            typer.echo(f"{self._command}: ended {said}", err=True)
        return status

    def _ending(self, completed: Completed) -> tuple[int, str]:
        match completed.outcome:
            case ProcessOutcome.TIME_LIMIT:
                return _TIME_LIMIT_STATUS, f"after {self._seconds:g} s (--seconds)"
            case ProcessOutcome.MEMORY_LIMIT | ProcessOutcome.OUTPUT_LIMIT:
                return _LIMIT_STATUS, f"by its {_OPTIONS[completed.outcome]}"
            case ProcessOutcome.SIGNAL:
                return _SIGNAL_STATUS + completed.signal, f"by signal {completed.signal}"
            case _:
                return completed.returncode, ""


def _run_object(completed: Completed, target: str, status: int) -> dict[str, object]:
    return {
        "target": target,
        "outcome": completed.outcome.value,
        "status": status,
        "stdout": completed.stdout_text,
        "stderr": completed.stderr_text,
        "seconds": round(completed.wall_seconds, 3),
        "cpu_seconds": round(completed.cpu_seconds, 3),
        "peak_memory_bytes": completed.peak_memory_bytes,
    }
