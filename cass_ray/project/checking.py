"""Why tests of a port fail: they run again in checking mode, which names faults of kernels."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from cass_ray.assembly.demangle import demangle
from cass_ray.project.steps import Workbench

_REPORT = re.compile(r"^cass emulator: (?P<what>.+)\n  kernel (?P<kernel>\S+)$", re.MULTILINE)
_PLACE = re.compile(r"\b(?:0x[0-9a-fA-F]+|\d+)\b")


@dataclass(frozen=True)
class Violation:
    """What a kernel does wrong, as checking mode first said it, and in how many runs."""

    kernel: str
    what: str
    runs: int


def check_again(bench: Workbench, command: str) -> tuple[Violation, ...]:
    """What checking mode finds while ``command``, a test that failed, runs once more."""
    return violations_in(bench.test(command, check=True).step.log)


def violations_in(log: str) -> tuple[Violation, ...]:
    """The reports of checking mode in what programs wrote, the same ones of a kernel once.

    A run of a kernel ends with its first violation, so that there may be more.
    """
    found: dict[tuple[str, str], str] = {}
    counted: Counter[tuple[str, str]] = Counter()
    for report in _REPORT.finditer(log):
        kind = (report["kernel"], _PLACE.sub("N", report["what"]))
        found.setdefault(kind, report["what"])
        counted[kind] += 1
    return tuple(
        Violation(demangle(kernel), found[kernel, form], runs)
        for (kernel, form), runs in counted.items()
    )
