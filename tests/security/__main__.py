"""``make attack``: every attack, and a table of what was held and what got through."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table


class Outcomes:
    """Collects how each attack ended; a plugin of pytest."""

    def __init__(self) -> None:
        self.of: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """An attack that could not be tried is no success of ours."""
        if report.when == "call" or report.outcome != "passed":
            words = {"passed": "held", "failed": "GOT THROUGH", "skipped": "not tried"}
            self.of[report.nodeid] = words[report.outcome]


def main() -> int:
    """Exit status 0 when everything was held."""
    outcomes = Outcomes()
    folder = Path(__file__).parent
    pytest.main(["-q", "-p", "no:cacheprovider", "-m", "", str(folder)], plugins=[outcomes])
    table = Table(title="Attacks", title_justify="left")
    for column in ("subject", "attack", "outcome"):
        table.add_column(column)
    for name, outcome in outcomes.of.items():
        file, _, test = name.partition("::")
        attack = test.partition("[")[2].rstrip("]") or test.removeprefix("test_").replace("_", " ")
        table.add_row(Path(file).stem.removeprefix("test_"), attack, outcome)
    console = Console(width=100)
    console.print(table)
    counts = Counter(outcomes.of.values())
    console.print(", ".join(f"{number} {outcome}" for outcome, number in sorted(counts.items())))
    return int(not outcomes.of or counts["GOT THROUGH"] > 0)


if __name__ == "__main__":
    sys.exit(main())
