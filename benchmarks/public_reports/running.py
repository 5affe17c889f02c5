"""Run a case by the command line and judge what it printed."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from benchmarks.public_reports.case import CaseFolder, Way

_SECONDS = 300.0
_CASS = [sys.executable, "-m", "cass_ray.cli"]


class Verdict(StrEnum):
    """The outcome of one run of a case."""

    RIGHT = "right"
    REFUSED = "refused"
    """Refused by name, as the case says."""
    WRONG = "wrong"
    """Status 0 and another output: nobody would notice."""
    FAILED = "failed"
    """Another status, or a message that does not name the reason."""


@dataclass(frozen=True)
class CaseRun:
    """One run: how, the verdict, and what the command said."""

    name: str
    way: Way
    target: str
    verdict: Verdict
    stdout: str
    stderr: str

    @property
    def passed(self) -> bool:
        """Whether it is right, or refused as the case says."""
        return self.verdict in (Verdict.RIGHT, Verdict.REFUSED)


def run_case(case: CaseFolder, way: Way, target: str) -> CaseRun:
    """Run ``case`` for ``target``: ``cass run``, or ``cass compile`` and ``cass run-binary``."""
    with tempfile.TemporaryDirectory() as place:
        done = _run(case, way, target, Path(place))
    return CaseRun(
        case.name,
        way,
        target,
        _verdict(case, way, target, done),
        done.stdout.decode("utf-8", "replace"),
        done.stderr.decode("utf-8", "replace"),
    )


def _run(
    case: CaseFolder, way: Way, target: str, place: Path
) -> subprocess.CompletedProcess[bytes]:
    arguments = ["--", *case.case.arguments] if case.case.arguments else []
    if way is Way.SOURCE:
        return _cass(["run", str(case.program), "--arch", target, *arguments], place)
    executable = str(place / "program")
    made = _cass(
        [
            *("compile", str(case.program), "--emit", "exe", "--arch", "sm_90"),
            *("--cudart", "shared", "-o", executable),
        ],
        place,
    )
    if made.returncode:
        return made
    return _cass(["port", executable, "--arch", target, *arguments], place)


def _cass(arguments: list[str], place: Path) -> subprocess.CompletedProcess[bytes]:
    command = [*_CASS, *arguments]
    try:
        return subprocess.run(
            command, cwd=place, capture_output=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        message = f"no end within {_SECONDS:.0f} s".encode()
        return subprocess.CompletedProcess(command, 124, error.stdout or b"", message)


def _verdict(
    case: CaseFolder, way: Way, target: str, done: subprocess.CompletedProcess[bytes]
) -> Verdict:
    if done.returncode != case.case.status_of(way, target):
        return Verdict.FAILED if done.returncode else Verdict.WRONG
    if case.case.refuses(way, target):
        named = case.case.refused in done.stderr.decode("utf-8", "replace")
        return Verdict.REFUSED if named else Verdict.FAILED
    if done.stdout == case.expected:
        return Verdict.RIGHT
    return Verdict.FAILED if done.returncode else Verdict.WRONG
