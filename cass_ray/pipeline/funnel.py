"""How far the files of each repository came, and what would take most of them further."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from rich.console import Console
from rich.table import Table

from cass_ray.dataset.row import (
    DUPLICATE_REASONS,
    Reason,
    Stage,
    Verified,
    is_rejected,
)
from cass_ray.toolchain.nvidia.older_cccl import older_cccl
from cass_ray.toolchain.unit import unopened_file

STEPS = (
    *("units", "configured", "distinct", "translated", "cuda", "amd", "pairs", "executed"),
    "lifted",
)
"""``configured``: with the project's own command. ``cuda``, ``amd``: compiled, with device code.
``lifted``: no pairs of sources, and not counted as such: their AMD side is the lifter's."""

UNIT_COLUMNS = ("configured", "header_packages", "dependencies", "lacks")
"""Working columns that are counted here."""

_APART = {
    "no device code": Reason.NO_DEVICE_CODE,
    "library kernels": Reason.LIBRARY_KERNELS_ONLY,
}
"""Counted apart: nothing would unlock such units."""
_SHOWN = 12
_UNLOCKS_SHOWN = 15
_STAGE_OF_STEP = {
    "translated": (Stage.TRANSLATE,),
    "cuda": (Stage.TRANSLATE, Stage.COMPILE_NVIDIA),
    "amd": (Stage.TRANSLATE, Stage.COMPILE_NVIDIA, Stage.COMPILE_AMD),
}
_BEFORE = (Stage.READ, Stage.FILTER, Stage.DEDUPLICATE, Stage.DECONTAMINATE)

_NAMES = (
    re.compile(r"error: (\S+) (?:looks like CUDA and is not known|has no counterpart in HIP)"),
    re.compile(r"use of undeclared identifier '([^']+)'"),
    re.compile(r"unknown type name '([^']+)'"),
    re.compile(r"no member named '([^']+)' in"),
    re.compile(r"identifier \"([^\"]+)\" is undefined"),
    re.compile(r"has no member \"([^\"]+)\""),
    re.compile(r"error: '(\w+)' (?:was not declared|does not name a type|has not been declared)"),
)
_ERROR = re.compile(
    r"^(?:[\w +]*(?:\([a-z]+\))?: )?(?P<file>[^\s:()]+)[:(]\d+[^\n]*?\berror(?: #\d+)?: "
    r"(?P<said>.{1,120})"
    r"|error(?: #\d+)?: (?P<alone>.{1,120})",
    re.MULTILINE,
)
_PARTS_OF_A_PATH = 3
_GIVEN = re.compile(r"--dependency (\S+)=DIR$")


@dataclass
class Funnel:
    """Counts by repository; what stopped rows, by words that a person can act on."""

    steps: dict[str, Counter[str]] = field(default_factory=dict)
    unlocks: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(repository, what) -> rows."""
    headers: set[str] = field(default_factory=set)
    """Folders of provided headers that rows were compiled with."""
    dependencies: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(repository, what it takes from another one, with the commit) -> rows."""

    def add(self, row: dict[str, Any]) -> None:
        """Count a finished row; those that belong to no project are left out."""
        self.headers.update(row.get("header_packages") or ())
        if older_cccl().key in ((row.get("nvidia_toolchain") or {}).get("flags") or ""):
            self.headers.add(older_cccl().key)
        if not row.get("configured"):
            return
        name = row.get("repository") or ""
        self.dependencies.update((name, each) for each in row.get("dependencies") or ())
        counts = self.steps.setdefault(name, Counter())
        if row.get("reason") == Reason.FRAGMENT.value:
            return
        counts["units"] += 1
        counts["configured"] += row["configured"] != "inferred"
        if not is_rejected(row) and row.get("lifted_side"):
            counts.update(("distinct", "cuda", "lifted"))
            self.unlocks[name, what_stopped({**row, **row["lifted_side"]})] += 1
            return
        if not is_rejected(row):
            counts.update(("distinct", "translated", "cuda", "amd", "pairs"))
            counts["executed"] += row["verified"] == Verified.EXECUTED.value
            return
        stage, reason = Stage(row["stage"]), Reason(row["reason"])
        if reason in DUPLICATE_REASONS or stage in _BEFORE:
            return
        counts["distinct"] += 1
        for step, stages in _STAGE_OF_STEP.items():
            counts[step] += stage not in stages
        for name_of_reason, apart in _APART.items():
            counts[name_of_reason] += reason is apart
        if reason not in _APART.values():
            self.unlocks[name, what_stopped(row)] += 1

    def merge(self, other: Funnel) -> None:
        """Add the counts of other rows."""
        for name, counts in other.steps.items():
            self.steps.setdefault(name, Counter()).update(counts)
        self.unlocks.update(other.unlocks)
        self.dependencies.update(other.dependencies)
        self.headers |= other.headers

    def as_dict(self) -> dict[str, Any]:
        """For ``report.json``."""
        return {
            "repositories": {
                name: {step: counts[step] for step in (*STEPS, *_APART)}
                for name, counts in sorted(self.steps.items())
            },
            "dependencies": [
                {"repository": name, "what": what, "rows": rows}
                for (name, what), rows in sorted(self.dependencies.items())
            ],
            "unlocks": [
                {"repository": name, "what": what, "rows": rows}
                for (name, what), rows in self.unlocks.most_common(100)
            ],
        }

    def print(self, console: Console) -> None:
        """The table, where there was a project."""
        if not self.steps:
            return
        table = Table(title="Repositories", title_justify="left", min_width=60, pad_edge=False)
        table.add_column("repository")
        for step in STEPS:
            table.add_column(step, justify="right")
        most = sorted(self.steps.items(), key=lambda item: -item[1]["units"])
        for name, counts in most[:_SHOWN]:
            table.add_row(name, *(str(counts[step]) for step in STEPS))
        if len(most) > 1:
            total = sum((counts for _, counts in most), Counter[str]())
            table.add_row(f"all {len(most)}", *(str(total[step]) for step in STEPS), style="bold")
        console.print(table)
        for what in _APART:
            if units := sum(counts[what] for _, counts in most):
                console.print(f"{what}: {units} units", highlight=False)
        if self.unlocks:
            whole: Counter[str] = Counter()
            for (_, what), rows in self.unlocks.items():
                whole[what] += rows
            left = Table(
                title="What stopped most units",
                title_justify="left",
                show_header=False,
                min_width=60,
            )
            left.add_column(justify="right")
            left.add_column()
            for what, rows in whole.most_common(_UNLOCKS_SHOWN):
                left.add_row(str(rows), what)
            console.print(left)


def what_stopped(row: dict[str, Any]) -> str:
    """A header, a name or a message that a rejected row stopped at."""
    diagnostic = row.get("diagnostic") or ""
    _, _, said = diagnostic.partition(": ")  # behind the tool's name
    header = unopened_file(said) or unopened_file(diagnostic)
    if row["reason"] == Reason.MISSING_HEADER.value and (lacking := _lacking(row, header)):
        return f"dependency {lacking}"
    if header:
        return f"header {header}"
    error = _ERROR.search(diagnostic)
    if error is None:
        return f"{row['stage']}: {row['reason']}"
    # What follows the first error may be due to it.
    first = diagnostic[error.start() :].partition("\n")[0]
    for pattern in _NAMES:
        if match := pattern.search(first):
            return f"name {match[1]} ({row['stage']})"
    return f"{row['stage']}: {(error['said'] or error['alone']).strip()}{_in_a_header(row, error)}"


def _lacking(row: dict[str, Any], header: str) -> str:
    """The dependency that a row lacks which ``header`` is of; empty where it is of another one.

    A project that other projects fetch declares itself.
    """
    own = row["repository"].split("/")[-1].lower()
    folder, _, _ = header.lower().rpartition("/")
    for said in row.get("lacks") or ():
        given = _GIVEN.search(said)
        name = given[1].lower() if given else ""
        if not folder or (name == folder.split("/")[0] and name != own):
            return str(said)
    return ""


def _in_a_header(row: dict[str, Any], error: re.Match[str]) -> str:
    """`` in FILE`` where an error is not in the row's own file."""
    parts = PurePosixPath(error["file"] or "").parts[-_PARTS_OF_A_PATH:]
    own = PurePosixPath(row["path"]).parts[-len(parts) :] if parts else parts
    return "" if parts == own else f" in {'/'.join(parts)}"
