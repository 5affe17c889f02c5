"""One repository through ``cass build-dataset``, and what came of each, day by day."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from benchmarks.corpus.repositories.rule import LISTS, Repository
from cass_ray.config import StrictModel

_CASS = [sys.executable, "-m", "cass_ray.cli"]
_REPORT = "report.json"
WHY_KEPT = 40
NO_UNITS = ("no_device_code", "fragment")
"""Reasons of files that are no units with device code."""
NOT_REACHED = "not reached"
TRIED_ONCE = LISTS[LISTS.index("third") :]
"""Lists of which the page has the results from before anybody looked at them."""
_ENDING_SECONDS = 60
_LINE = re.compile(r"(?:^|· )rows (\d+)(?:/(\d+))?[^·]*· pairs (\d+)(.*)$", re.MULTILINE)
_CLOCK = re.compile(r"^(?:(\d+) min )?(\d+) s · ", re.MULTILINE)
_REASON = re.compile(r"([a-z_]+) (\d+)[,)]")


class Stopped(StrictModel):
    """A reason that stopped rows of a repository, and how many it stopped."""

    what: str
    rows: int


class Programs(StrictModel):
    """Counts of pairs with a ``main``, by outcome of a run without arguments on gfx1100."""

    agreed: int = 0
    """Ran to their end, and their output agrees with the CUDA side's."""
    differ: int = 0
    ended: int = 0
    """Ran to their end; nothing to compare with, or nothing of the device in the output."""
    not_run: int = 0
    """One side was not linked, or did not end well: no library, data or arguments."""

    @property
    def need_nothing(self) -> int:
        """Programs that run without data."""
        return self.agreed + self.differ + self.ended


class Measured(StrictModel):
    """The counts of the last build of one repository, and how it ended."""

    list: str
    """The list that has it: one of :data:`~benchmarks.corpus.repositories.rule.LISTS`."""
    repository: str
    commit: str
    built_by: str = ""
    """The commit of this tree; empty for results from before this was written down."""
    programs: Programs | None = None
    date: str
    seconds: float
    finished: bool
    """Whether every row was reached before the limit."""
    rows: int = 0
    own_command: int = 0
    no_device_code: int = 0
    duplicates: int = 0
    pairs: int = 0
    stopped: tuple[Stopped, ...] = ()
    error: str = ""
    """The last line of a build that ended with an error."""

    @property
    def reached(self) -> int:
        """Rows that the build reached."""
        return self.rows - sum(each.rows for each in self.stopped if each.what == NOT_REACHED)

    @property
    def with_device_code(self) -> int:
        """Distinct rows with device code, of those that the build reached."""
        return self.reached - self.no_device_code - self.duplicates


class Results(StrictModel):
    """The content of ``repositories.json``."""

    measured: list[Measured] = []
    first: list[Measured] = []
    """The first result of each repository of the lists in :data:`TRIED_ONCE`."""

    @classmethod
    def read(cls, path: Path) -> Self:
        """The results at ``path``; none where there is no file yet."""
        return cls.model_validate_json(path.read_bytes()) if path.exists() else cls()

    def replace(self, new: Measured) -> None:
        """Put ``new`` in the place of the older result of its repository."""
        self.measured[:] = [each for each in self.measured if each.repository != new.repository]
        self.measured.append(new)
        known = {each.repository for each in self.first}
        if new.list in TRIED_ONCE and new.repository not in known:
            self.first.append(new)

    def write(self, path: Path) -> None:
        """Write the results to ``path``."""
        path.write_text(self.model_dump_json(indent=1) + "\n", "utf-8")


def build(
    listed: str, row: Repository, source: str, out: Path, seconds: int, options: list[str]
) -> Measured:
    """Build a data set of ``source`` (as ``--source`` has it) in ``out``, ended after ``seconds``.

    ``options`` are further ones of the command.
    """
    command = [*_CASS, "build-dataset", "--source", source, "--out", str(out)]
    command += ["--resume"] if (out / ".work").exists() else []
    command += options
    started = time.monotonic()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.terminate()
            try:
                process.wait(_ENDING_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        output.seek(0)
        said = output.read().decode("utf-8", "replace")
    report = out / _REPORT
    whole = process.returncode == 0 and report.exists()
    counts = of_report(json.loads(report.read_text("utf-8"))) if whole else of_progress(said)
    lines = [line for line in said.splitlines() if line.strip()]
    return Measured(
        list=listed,
        repository=row.repository,
        commit=row.commit,
        date=datetime.now(UTC).date().isoformat(),
        seconds=round(time.monotonic() - started),
        finished=whole,
        error="" if whole or process.returncode < 0 or not lines else lines[-1].strip(),
        **counts,
    )


def of_report(report: dict[str, Any]) -> dict[str, Any]:
    """Counts of :class:`Measured` out of a build's report."""
    steps = list(report.get("funnel", {}).get("repositories", {}).values())
    return {
        "rows": report["rows"],
        "own_command": sum(each["configured"] for each in steps),
        "no_device_code": sum(
            each["rows"] for each in report["rejects"] if each["reason"] in NO_UNITS
        ),
        "duplicates": sum(report["duplicates"].values()),
        "pairs": report["pairs"],
        "stopped": [
            {"what": each["what"], "rows": each["rows"]}
            for each in report.get("funnel", {}).get("unlocks", ())[:WHY_KEPT]
        ],
    }


def of_progress(said: str) -> dict[str, Any]:
    """The counts of the last line of progress in ``said``: what a build had reached."""
    lines = _LINE.findall(said)
    if not lines:
        return {}
    done, total, pairs, rest = lines[-1]
    reasons = {reason: int(rows) for reason, rows in _REASON.findall(rest)}
    no_code = sum(reasons.pop(reason, 0) for reason in NO_UNITS)
    duplicates = [reason for reason in reasons if "duplicate" in reason]
    return {
        "rows": int(total or done),
        "pairs": int(pairs),
        "no_device_code": no_code,
        "duplicates": sum(reasons.pop(reason) for reason in duplicates),
        "stopped": [
            {"what": NOT_REACHED, "rows": int(total or done) - int(done)},
            *({"what": reason, "rows": rows} for reason, rows in reasons.items()),
        ],
    }


def seconds_of_progress(said: str) -> int:
    """How long a build had been at work when it said the last line of progress in ``said``."""
    clocks = _CLOCK.findall(said)
    return int(clocks[-1][0] or 0) * 60 + int(clocks[-1][1]) if clocks else 0
