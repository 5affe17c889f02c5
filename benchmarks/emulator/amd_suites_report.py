"""What AMD's suites said, as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from benchmarks.emulator.gtest import Case

_ENDED = ("passed", "failed", "crashed", "skipped")
_COLUMNS = (
    "| cases | passed | failed | crashed | skipped | not reached | passed of ended | seconds |"
)


@dataclass(frozen=True)
class Row:
    """One run of a binary on a processor: all ``names`` of its cases, and those that were run."""

    suite: str
    binary: str
    architecture: str
    seconds: float
    names: tuple[str, ...]
    cases: dict[str, Case]

    @classmethod
    def of(cls, fields: dict[str, Any]) -> Self:
        cases = {name: Case(**case) for name, case in fields["cases"].items()}
        return cls(**{**fields, "names": tuple(fields["names"]), "cases": cases})

    def is_of(self, binary: str, architecture: str) -> bool:
        return (self.binary, self.architecture) == (binary, architecture)

    def summary(self) -> str:
        counts = Counter(case.outcome for case in self.cases.values())
        said = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))
        return f"{self.binary} {self.architecture}: {said} of {len(self.names)}, {self.seconds} s"


def outcomes(rows: Sequence[Row]) -> tuple[Counter[str], int, float]:
    """Cases by outcome (the latest counts), the cases that there are, and the seconds of all."""
    latest = {name: case.outcome for row in rows for name, case in row.cases.items()}
    return Counter(latest.values()), len(rows[0].names), sum(row.seconds for row in rows)


def tables(rows: Sequence[Row]) -> str:
    """A table of suites, one of binaries, and the cases that failed or crashed."""
    lines = []
    for per_binary in (False, True):
        name = "binary" if per_binary else "suite"
        lines += [f"| {name} | processor {_COLUMNS}", "|---|---|" + "---:|" * 8]
        keys = [((row.binary if per_binary else row.suite), row.architecture) for row in rows]
        for key in sorted(set(keys)):
            of = [row for row, its in zip(rows, keys, strict=True) if its == key]
            lines.append(_line(*key, of))
        lines.append("")
    for row in rows:
        for case, result in row.cases.items():
            if result.outcome in ("failed", "crashed"):
                lines.append(f"{row.architecture} {row.binary} {case}: {result.outcome}")
    return "\n".join(lines)


def _line(name: str, architecture: str, rows: Sequence[Row]) -> str:
    counts: Counter[str] = Counter()
    total, seconds = 0, 0.0
    for binary in dict.fromkeys(row.binary for row in rows):
        found, cases, taken = outcomes([row for row in rows if row.binary == binary])
        counts += found
        total += cases
        seconds += taken
    ended = [counts[outcome] for outcome in _ENDED]
    tried = sum(ended[:3])
    share = f"{100 * ended[0] / tried:.2f}%" if tried else ""
    numbers = " | ".join(map(str, [total, *ended, total - sum(ended)]))
    return f"| {name} | {architecture} | {numbers} | {share} | {seconds:.0f} |"
