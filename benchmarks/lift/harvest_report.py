"""The rows of a harvest as tables: ``python -m benchmarks.lift.harvest_report ROWS OUT.md``.

``ROWS`` is a folder of what :mod:`benchmarks.lift.harvest` wrote. Forms are judged by what is known
of them now.
"""

from __future__ import annotations

import argparse
import math
import re
import statistics
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.lift.harvest import read_rows
from cass_ray.lift.form_evidence import FormEvidence, form_evidence

_TIMED_INSTRUCTIONS = 100
_PER = 500
_LISTED = 60
_STATES = ("lifted", "refused", "failed", "time-out")


def read(folder: Path) -> list[dict[str, Any]]:
    """All rows, a file and architecture once."""
    rows = {}
    for path in sorted(folder.rglob("*.jsonl")):
        for row in read_rows(path):
            rows[row["file"], row["architecture"]] = row
    return list(rows.values())


def seconds_per_500(row: dict[str, Any]) -> list[float]:
    """CPU seconds per 500 lifted instructions, of kernels of 100 or more; reading is shared."""
    total = sum(kernel["sass_instructions"] for kernel in row["kernels"]) or 1
    found = []
    for kernel in row["kernels"]:
        count = kernel["lifted_instructions"]
        if kernel["state"] == "lifted" and count >= _TIMED_INSTRUCTIONS:
            reading = row["reading_seconds"] * kernel["sass_instructions"] / total
            spent = reading + kernel["lift_seconds"] + kernel["llvm_seconds"]
            found.append(spent * _PER / count)
    return found


def _table(rows: list[dict[str, Any]]) -> list[str]:
    lines = [
        "| architecture | cubins | kernels | " + " | ".join(_STATES) + " | instructions | "
        "" + " | ".join(FormEvidence) + " | CPU s per 500 instructions: median | 99 % | worst |",
        "|---|" + "---|" * (2 + len(_STATES) + 1 + len(FormEvidence) + 3),
    ]
    architectures = sorted({row["architecture"] for row in rows}, key=int)
    for architecture in [*architectures, "all"]:
        some = [row for row in rows if architecture in ("all", row["architecture"])]
        lines.append(_line(architecture, [row for row in some if row["instructions"]]))
    return lines


def _line(architecture: str, rows: list[dict[str, Any]]) -> str:
    states = Counter(kernel["state"] for row in rows for kernel in row["kernels"])
    known: Counter[FormEvidence] = Counter()
    for row in rows:
        for form, count in row["forms"].items():
            known[form_evidence(form)] += count
    times = sorted(time for row in rows for time in seconds_per_500(row)) or [0.0]
    late = times[math.ceil(0.99 * len(times)) - 1]
    kernels, instructions = states.total() or 1, known.total() or 1
    cells = [architecture if architecture == "all" else f"sm_{architecture}", str(len(rows))]
    cells += [str(states.total())]
    cells += [f"{states[state]} ({states[state] / kernels:.2%})" for state in _STATES]
    cells += [str(known.total())]
    cells += [f"{known[each]} ({known[each] / instructions:.2%})" for each in FormEvidence]
    cells += [f"{statistics.median(times):.3f}", f"{late:.3f}", f"{times[-1]:.3f}"]
    return f"| {' | '.join(cells)} |"


def _without_place(detail: str) -> str:
    """A message without its kernel, address and registers, so that equal reasons are one."""
    text = re.sub(r"^\S+ at 0x[0-9a-f]+: ", "", detail)
    return re.sub(r"\b(U?[RP])\d+\b", r"\1", re.sub(r"0x[0-9a-f]+", "N", text))[:160]


def _listed(title: str, reasons: Iterable[str]) -> list[str]:
    found = Counter(reasons)
    lines = ["", f"## {title}", ""]
    lines += [f"- {count} × `{reason}`" for reason, count in found.most_common(_LISTED)]
    return [*lines, *([f"- … and {len(found) - _LISTED} more"] if len(found) > _LISTED else [])]


def report(rows: list[dict[str, Any]]) -> str:
    """The page: the table, what does not lift, forms of little evidence, what nvcc refused."""
    kernels = [kernel for row in rows for kernel in row["kernels"]]
    lines = ["# Harvest: public programs, natively compiled", "", *_table(rows)]
    states = Counter(row["state"] for row in rows)
    lines += ["", f"Files times architectures: {len(rows)}; {dict(states)}."]
    for state in _STATES[1:]:
        some = (kernel["detail"] for kernel in kernels if kernel["state"] == state)
        lines += _listed(f"Kernels: {state}", map(_without_place, some))
    for known in (FormEvidence.NOT_LIFTED, FormEvidence.LIFTED):
        forms: Counter[str] = Counter()
        for row in rows:
            forms.update({f: n for f, n in row["forms"].items() if form_evidence(f) is known})
        lines += _listed(f"Instructions: {known}", forms.elements())
    failed = (row["detail"] for row in rows if row["state"] == "failed")
    lines += _listed("Files: failed", map(_without_place, failed))
    refused = (_first_error(row["detail"]) for row in rows if row["state"] == "refused")
    lines += _listed("Files: refused by nvcc", refused)
    return "\n".join(lines) + "\n"


def _first_error(message: str) -> str:
    found = re.search(r"(?:fatal )?error\s*:\s*(.*)", message)
    return (found[1] if found else message.partition("\n")[0])[:120]


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("rows", type=Path)
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
    given.out.write_text(report(read(given.rows)))


if __name__ == "__main__":
    main()
