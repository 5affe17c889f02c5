"""Run ``cass project`` on the projects of a list; keep outcome and day of the last run of each."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Self

from benchmarks.project.cloning import Checkout
from benchmarks.project.rows import ProjectRow
from cass_ray.config import StrictModel
from cass_ray.project.counted_tests import counted_tests
from cass_ray.project.steps import first_error

_CASS = [sys.executable, "-m", "cass_ray.cli"]
_LAST_LINES = 6
_REPORT, _PATCH = "report.json", "port.patch"

Verdict = Literal["passed", "built", "failed", "refused"]


class Seen(StrictModel):
    """One project on one target, as it was last tried."""

    list: str
    """Name of the list that the project is of."""
    project: str
    commit: str
    target: str
    date: str
    verdict: Verdict
    """``built``: it builds, and tests of its own fail or are missing; ``refused``: no report."""
    seconds: float
    unsupported: int = 0
    """Constructs without a translation."""
    added_lines: int = 0
    """Lines that the patch adds."""
    tests: str = ""
    """How many of its tests passed, where a framework's output says so."""
    said: str = ""
    """The last lines of the step that failed."""
    where: str = ""
    """The machine, if not the developers' own."""

    @property
    def key(self) -> tuple[str, str, str]:
        """Orders outcomes; two with the same one are of the same project and target."""
        return (self.list, self.project.lower(), self.target)


class Results(StrictModel):
    """The content of ``projects.json``."""

    seen: list[Seen] = []

    @classmethod
    def read(cls, path: Path) -> Self:
        """The results at ``path``; none where there is no file yet."""
        return cls.model_validate_json(path.read_bytes()) if path.exists() else cls()

    def replace(self, new: Seen) -> None:
        """Put ``new`` in the place of the older outcome of its list, project and target."""
        outcomes = {each.key: each for each in [*self.seen, new]}
        self.seen[:] = [outcomes[key] for key in sorted(outcomes)]

    def join(self, others: Self) -> None:
        """Take each of ``others`` in the place of an outcome that is not newer, by its day."""
        known = {each.key: each for each in self.seen}
        for each in others.seen:
            if each.key not in known or known[each.key].date <= each.date:
                self.replace(each)

    def write(self, path: Path) -> None:
        """Write the results to ``path``."""
        path.write_text(self.model_dump_json(indent=1) + "\n", "utf-8")


def port_row(
    listed: str, row: ProjectRow, checkout: Checkout, target: str, reports: Path | None = None
) -> Seen:
    """Run ``cass project`` on ``checkout`` for ``target``, with the commands of ``row``.

    ``listed`` is the name of the row's list. Below ``reports`` the patch and the reports stay.
    """
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="cass-port-") as place:
        out = Path(place) / "port"
        done = subprocess.run(
            [*_CASS, *_arguments(row, checkout, target, out)],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        if reports is not None and out.is_dir():
            name = f"{row.project.replace('/', '+')}-{target}"
            shutil.copytree(out, reports / name, dirs_exist_ok=True)
        report = json.loads((out / _REPORT).read_text()) if (out / _REPORT).exists() else None
        patch = (out / _PATCH).read_text(errors="replace") if report else ""
    verdict, said = _verdict(report, done.stderr)
    return Seen(
        list=listed,
        project=row.project,
        commit=checkout.commit,
        target=target,
        date=datetime.now(UTC).date().isoformat(),
        verdict=verdict,
        seconds=round(time.monotonic() - started, 1),
        unsupported=report["constructs"]["unsupported"] if report else 0,
        added_lines=sum(
            line.startswith("+") and not line.startswith("+++") for line in patch.splitlines()
        ),
        tests=", ".join(map(str, counted_tests(report["targets"][0]["test"]["log"])))
        if report
        else "",
        said="\n".join(said.splitlines()[-_LAST_LINES:]),
    )


def _arguments(row: ProjectRow, checkout: Checkout, target: str, out: Path) -> list[str]:
    arguments = ["project", str(checkout.tree), "--no-reference", "--arch", target]
    arguments += ["-o", str(out), "--seconds", str(row.seconds), "--check-seconds", "0"]
    for option, command in (("--build", row.build), ("--test", row.test)):
        arguments += [option, command] if command else []
    for name, folder in checkout.dependencies.items():
        arguments += ["--dependency", f"{name}={folder}"]
    return arguments


def _verdict(report: dict[str, Any] | None, errors: str) -> tuple[Verdict, str]:
    if report is None:
        return "refused", errors
    [target] = report["targets"]
    if target["build"]["outcome"] not in {"passed", "in part"}:
        return "failed", _without_places(target["build"]["log"])
    if target["test"]["outcome"] != "passed":
        return "built", target["test"]["log"]
    return "passed", "built in part" if target["build"]["outcome"] == "in part" else ""


def _without_places(log: str) -> str:
    """The first error of a build, as it is wherever the tree lies."""
    return re.sub(r"/\S*/tree/", "", "".join(first_error(log)))
