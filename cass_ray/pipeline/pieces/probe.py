"""Which rows end the process that screens them: each is tried in a process of its own.

    python -m cass_ray.pipeline.pieces.probe < ROWS > ANSWERS

The parent writes the settings and then rows, pickled; each answer is a traceback, empty where there
is nothing to say. A process that ends without an answer died of its row.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import traceback
from collections.abc import Iterable, Sequence
from typing import IO, Any

import pyarrow as pa

from cass_ray.corpus.screening.comparison import compared_sources
from cass_ray.corpus.screening.screening import Screened, Screening
from cass_ray.dataset.row import (
    Reason,
    Stage,
    is_rejected,
    rejected,
)
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.pipeline.stages.base import Row

PROBE = (sys.executable, "-m", "cass_ray.pipeline.pieces.probe")


def without_deadly(
    rows: Iterable[Row], settings: BuildSettings, command: Sequence[str]
) -> list[Row]:
    """``rows``, those that cannot be screened rejected."""
    with _Probe(settings, command) as probe:
        return [row if is_rejected(row) else probe.tried(row) for row in rows]


class _Probe:
    """The process, another one after each death."""

    def __init__(self, settings: BuildSettings, command: Sequence[str]) -> None:
        self._settings = settings
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> _Probe:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def tried(self, row: Row) -> Row:
        """``row``, or ``row`` rejected."""
        process = self._process = self._process or self._started()
        assert process.stdin is not None and process.stdout is not None
        try:
            _send(process.stdin, row)
            problem: str = pickle.load(process.stdout)
        except (EOFError, BrokenPipeError, pickle.UnpicklingError):
            status = self._end()
            message = f"the process that screened this row ended with status {status}"
            return rejected(row, Stage.FILTER, Reason.WORKER_DIED, message)
        return rejected(row, Stage.FILTER, Reason.INTERNAL_ERROR, problem) if problem else row

    def _started(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdin is not None
        _send(process.stdin, self._settings)
        return process

    def _end(self) -> int | None:
        process, self._process = self._process, None
        if process is None:
            return None
        process.communicate()
        return process.returncode


def _send(stream: IO[bytes], value: Any) -> None:
    pickle.dump(value, stream)
    stream.flush()


def screened(
    rows: Sequence[Row], screening: Screening, settings: BuildSettings
) -> tuple[Screened, pa.Table]:
    """``rows`` screened, and what the live ones are compared on."""
    done = screening.sources(rows)
    return done, compared_sources(done.rows, done.live, done.sets, settings)


def answer(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Screen one row after the other, until there are no more."""
    settings: BuildSettings = pickle.load(requests)
    screening = Screening(settings)
    while True:
        try:
            row = pickle.load(requests)
        except EOFError:
            return
        _send(answers, _problem(screening, row, settings))


def _problem(screening: Screening, row: Row, settings: BuildSettings) -> str:
    try:
        screened([row], screening, settings)
    except Exception:  # a bug of ours must cost this row alone
        return traceback.format_exc()
    return ""


if __name__ == "__main__":
    answer(sys.stdin.buffer, sys.stdout.buffer)
