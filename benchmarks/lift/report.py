"""The tables of the lifter: ``python -m benchmarks.lift.report OUT.md NAME=ROWS.json ...``.

``NAME=ROWS.json`` are files of :mod:`benchmarks.lift.programs`; ``--coverage`` takes the output of
``cass lift coverage --json``, ``--vectors`` that of the differential run of the opcode vectors.
OUT.json gets everything that the tables are made of.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.lift.programs import LiftingRow

_BINS = ((0, 100), (100, 300), (300, 750), (750, 2000), (2000, 1 << 30))
_STATES = ("exact", "numeric", "differs", "does not run", "not assembled", "not lifted")
_LISTED = 30


def outcomes(name: str, rows: list[LiftingRow]) -> list[str]:
    """How far programs got, by architecture."""
    lines = [
        f"| {name} | programs | lifted | assembled | run | **exact** | equal as numbers | differ |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for architecture in sorted({row.architecture for row in rows}):
        states = Counter(row.state for row in rows if row.architecture == architecture)
        left_out = states.pop("left out", 0)
        total = states.total()
        lifted = total - states["not lifted"]
        assembled = lifted - states["not assembled"]
        run = assembled - states["does not run"]
        share = f" ({states['exact'] / total:.1%})" if total else ""
        note = f" (+{left_out} left out)" if left_out else ""
        lines.append(
            f"| {architecture} | {total}{note} | {lifted} | {assembled} | {run}"
            f" | **{states['exact']}**{share} | {states['numeric']} | {states['differs']} |"
        )
    return lines


def by_length(rows: list[LiftingRow]) -> list[str]:
    """Exact results by the number of SASS instructions, copies of subroutines included."""
    lines = ["| SASS instructions | programs | exact |", "|---|---|---|"]
    measured = [row for row in rows if row.sass_instructions]
    for low, high in _BINS:
        inside = [row for row in measured if low <= row.sass_instructions < high]
        exact = sum(row.state == "exact" for row in inside)
        label = f"{low}–{high - 1}" if high < 1 << 30 else f"{low} and more"
        if inside:
            lines.append(f"| {label} | {len(inside)} | {exact} ({exact / len(inside):.1%}) |")
    return lines


def speed(rows: list[LiftingRow]) -> list[str]:
    """Executed RDNA3 instructions against clang's build, and CPU time of the lifter."""
    ratios = _ratios(rows)
    if not ratios:
        return []
    mean = math.exp(statistics.fmean(math.log(ratio) for ratio, _ in ratios))
    above = sum(ratio > 1.5 for ratio, _ in ratios)
    worst = ", ".join(
        f"{row.program} {row.architecture} ×{ratio:.2f}" for ratio, row in ratios[-4:]
    )
    per_500 = [
        500 * (row.lift_seconds + row.llvm_seconds) / row.sass_instructions
        for _, row in ratios
        if row.sass_instructions >= 100
    ]
    return [
        f"Executed RDNA3 instructions against clang's build of the HIP twin ({len(ratios)}):"
        f" geometric mean ×{mean:.3f}, median ×{statistics.median(r for r, _ in ratios):.3f},"
        f" {above} above ×1.5. Highest: {worst}.",
        "",
        "CPU seconds of lifting and LLVM for 500 SASS instructions (programs of 100 or more):"
        f" median {statistics.median(per_500):.3f}, highest {max(per_500):.3f}."
        if per_500
        else "",
    ]


def _ratios(rows: Iterable[LiftingRow]) -> list[tuple[float, LiftingRow]]:
    found = [
        (row.executed / row.executed_by_clang, row)
        for row in rows
        if row.executed and row.executed_by_clang
    ]
    return sorted(found, key=lambda item: item[0])


def misses(rows: list[LiftingRow]) -> list[str]:
    """Every program that was not exact, with why."""
    lines = []
    for row in rows:
        if row.state not in ("exact", "left out"):
            detail = " ".join(row.detail.split()).replace("|", "\\|")[:150]
            lines.append(f"| {row.program} | {row.architecture} | {row.state} | {detail} |")
    if not lines:
        return ["All are exact."]
    return ["| program | sm | state | why |", "|---|---|---|---|", *lines]


def coverage_table(found: dict[str, Any]) -> list[str]:
    """Forms in cubins against the table."""
    share = found["covered_instructions"] / found["instructions"]
    kernels = found["covered_kernels"] / found["kernels"]
    missing = ", ".join(f"{form} ({n})" for form, n in list(found["missing"].items())[:_LISTED])
    return [
        f"{found['forms']} forms; instructions covered {found['covered_instructions']} of"
        f" {found['instructions']} ({share:.2%}), kernels {found['covered_kernels']} of"
        f" {found['kernels']} ({kernels:.2%}).",
        "",
        f"Missing: {missing or 'none'}.",
    ]


def vectors_table(found: dict[str, Any]) -> list[str]:
    """Opcode forms against vectors from the GPU."""
    kinds = sorted({kind for families in found.values() for f in families.values() for kind in f})
    lines = [f"| sm | family | {' | '.join(kinds)} |", "|---" * (2 + len(kinds)) + "|"]
    for architecture, families in found.items():
        for family, outcomes_of in families.items():
            counts = " | ".join(str(len(outcomes_of.get(kind, []))) for kind in kinds)
            lines.append(f"| {architecture} | {family} | {counts} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("sets", nargs="+", help="NAME=ROWS.json")
    parser.add_argument("--coverage", type=Path)
    parser.add_argument("--cubins", type=int, default=0, help="how many cubins were covered")
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--note", action="append", default=[], help="a line for the top")
    options = parser.parse_args()
    lines = ["# The SASS lifter, measured", "", *options.note, ""]
    content: dict[str, Any] = {"notes": options.note}
    for item in options.sets:
        name, _, path = item.partition("=")
        measured = json.loads(Path(path).read_text())
        content[name] = measured
        rows = [LiftingRow(**row) for row in measured["rows"]]
        lines += [
            f"## {name}",
            "",
            f"`python -m benchmarks.lift.programs {measured['command']}`",
            "",
        ]
        lines += [*outcomes(name, rows), "", *by_length(rows), "", *speed(rows), ""]
        lines += [*misses(rows), ""]
    if options.coverage:
        found = json.loads(options.coverage.read_text())
        content["coverage"] = found
        lines += [f"## Coverage of {options.cubins} cubins", "", *coverage_table(found), ""]
    if options.vectors:
        found = json.loads(options.vectors.read_text())
        content["vectors"] = found
        lines += ["## Opcode forms against an H200", "", *vectors_table(found), ""]
    options.out.write_text("\n".join(lines))
    options.out.with_suffix(".json").write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
