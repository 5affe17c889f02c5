"""``make attack``: every attack, and a table of what was held and what got through."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from cass_ray.printable import printable

AREAS = {
    "execution": ("execution", "runs", "executables", "masked_proc"),
    "compilers": ("compilers", "compile_bombs", "names", "trees"),
    "verifier": ("verifier", "evidence", "device_protocol", "drawn"),
    "readers": ("scanners", "listings", "fuzzers"),
    "archives": ("archives",),
    "git": ("git",),
    "service": ("http", "disk", "ports", "requests", "sockets"),
    "reports": ("reports",),
}
"""Files of attacks by area; those of none go by their own name."""

OUTCOMES = {"passed": "held", "failed": "GOT THROUGH", "skipped": "not tried"}


class Outcomes:
    """Collects how each attack ended; a plugin of pytest."""

    def __init__(self) -> None:
        self.of: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """An attack that could not be tried is no success of ours."""
        if report.when == "call" or report.outcome != "passed":
            self.of[report.nodeid] = OUTCOMES[report.outcome]


def area_of(file: Path) -> str:
    subject = file.stem.removeprefix("test_")
    return next((area for area, files in AREAS.items() if subject in files), subject)


def main() -> int:
    """Exit status 0 when nothing got through."""
    outcomes = Outcomes()
    folder = Path(__file__).parent
    options = ["-q", "-p", "no:cacheprovider", "-m", "", "-n", "auto"]
    pytest.main([*options, str(folder)], plugins=[outcomes])
    table = Table(title="Attacks", title_justify="left")
    for column in ("area", "attack", "outcome"):
        table.add_column(column)
    counts: dict[str, Counter[str]] = {}
    for name, outcome in outcomes.of.items():
        file, _, test = name.partition("::")
        words, _, parameters = test.partition("[")
        attack = words.removeprefix("test_").replace("_", " ")
        attack += f": {parameters.removesuffix(']')}" if parameters else ""
        area = area_of(Path(file))
        table.add_row(area, escape(printable(attack)), outcome)
        counts.setdefault(area, Counter())[outcome] += 1
    console = Console(width=120)
    console.print(table)
    console.print(summary(counts))
    through = sum(each[OUTCOMES["failed"]] for each in counts.values())
    return int(not outcomes.of or through > 0)


def summary(counts: dict[str, Counter[str]]) -> Table:
    """The number of attacks by area and outcome."""
    table = Table(title="In all", title_justify="left")
    for column in ("area", *OUTCOMES.values()):
        table.add_column(column)
    total: Counter[str] = Counter()
    for area, each in counts.items():
        table.add_row(area, *(str(each[outcome]) for outcome in OUTCOMES.values()))
        total += each
    table.add_row("all", *(str(total[outcome]) for outcome in OUTCOMES.values()))
    return table


if __name__ == "__main__":
    sys.exit(main())
