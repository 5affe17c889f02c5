"""What it costs that a device process runs the kernels, beside a tree where the program did.

``python -m benchmarks.execute.evidence --before TREE [--rounds N]``: both trees run each case in
turn, so that what else the machine does meets both, and write ``benchmarks/results/evidence.md``.
A tree from before is made with ``git worktree add TREE COMMIT``.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
RESULT = REPOSITORY / "benchmarks/results/evidence.md"
WORKER = Path(__file__).with_name("evidence_worker.py")


@dataclass(frozen=True)
class Case:
    """``times`` repetitions of ``work``.

    ``measure`` is what counts: ``inside``, the clock on the wall for one repetition, without the
    start of the processes; ``whole``, that of the run; ``cpu``, CPU seconds of the run, all
    processes together, for a machine that does other work too.
    """

    work: str
    times: int
    what: str
    measure: str = "inside"


CASES = (
    Case("start", 1, "a run of one small kernel", "whole"),
    Case("launch", 5_000, "a launch and its wait"),
    Case("queue", 20_000, "a launch, queued"),
    Case("copy_small", 10_000, "a copy of 1 KiB to the host"),
    Case("allocate", 10_000, "hipMalloc and hipFree"),
    Case("copy_large", 10, "64 MiB to the device and back"),
    Case("arithmetic", 30_000, "a kernel of arithmetic, CPU time", "cpu"),
    Case("gather", 80, "a kernel of gathers, CPU time", "cpu"),
    Case("stream", 60, "kernels that stream 48 MiB each, CPU time", "cpu"),
)


class Side:
    """A worker of one tree."""

    def __init__(self, tree: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, WORKER],
            env={**os.environ, "PYTHONPATH": str(tree)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def seconds(self, case: Case) -> float:
        """Of one repetition."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{case.work}:{case.times}\n")
        self._process.stdin.flush()
        made = json.loads(self._process.stdout.readline())
        seconds = float(made[case.measure])
        return seconds / case.times if case.measure == "inside" else seconds


def _amount(seconds: float) -> str:
    return f"{seconds * 1e6:.1f} µs" if seconds < 1e-3 else f"{seconds * 1e3:.1f} ms"


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path, required=True, help="A tree of an older commit.")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    before, now = Side(options.before), Side(REPOSITORY)
    rows = []
    for case in CASES:
        taken = [(before.seconds(case), now.seconds(case)) for _ in range(options.rounds)]
        old, new = (statistics.median(side) for side in zip(*taken, strict=True))
        ratio = statistics.median(after / earlier for earlier, after in taken)
        rows.append(f"| {case.what} | {_amount(old)} | {_amount(new)} | {ratio:.2f} |")
        print(rows[-1], flush=True)
    RESULT.write_text(_report(rows, options.rounds))


def _report(rows: list[str], rounds: int) -> str:
    lines = [
        "# Cost of the device process",
        "",
        "`python -m benchmarks.execute.evidence --before TREE`: one process (before) and a device",
        f"process beside the program (now), in turn, medians of {rounds} rounds; the ratio is the",
        f"median of the rounds' ratios. {os.cpu_count()} CPUs.",
        "",
        "| case | before | now | ratio |",
        "|---|---:|---:|---:|",
        *rows,
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
