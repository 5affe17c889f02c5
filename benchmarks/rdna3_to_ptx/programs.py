"""Take the device code of HIP programs to Nvidia's side and back, and compare what they print.

``python -m benchmarks.rdna3_to_ptx.programs [--json FILE] [--markdown FILE] [NAME ...]``: every
program of the shipped corpus, translated to HIP, is compiled by clang; its RDNA3 becomes PTX
(``cass_ray.rdna3_to_ptx``), ptxas makes SASS for sm_90 of that, the lifter makes RDNA3 of the SASS,
and the unmodified host part runs with it. Its output is compared with that of the program as clang
compiled it. There is no Nvidia GPU in this; the lifter is checked against one separately.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from cass_ray.emulator.build import runtime_library
from cass_ray.emulator.execution import RunOptions, build, execute
from cass_ray.execute.comparison.compare import compare
from cass_ray.execute.comparison.tolerances import tolerance_for
from cass_ray.execute.selftest.selftest import Subject
from cass_ray.execute.shipped import shipped_subjects
from cass_ray.lift import lift_cubin
from cass_ray.lift.errors import LiftError
from cass_ray.rdna3_to_ptx import UnknownInstruction, assemble, to_ptx
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.sandbox.isolation import private_folder
from cass_ray.toolchain.unit import CompileFailure
from cass_ray.translate.engines.registry import make_translator


class PtxState(StrEnum):
    """How a program fared."""

    EXACT = "exact"
    NUMERIC = "within tolerance"
    DIFFERENT = "different"
    FAILED = "failed"
    NOT_LIFTED = "not lifted back"
    NOT_ASSEMBLED = "refused by ptxas"
    NOT_TRANSLATED = "not translated"
    NOT_BUILT = "not built"


@dataclass(frozen=True)
class PtxRow:
    """One program; ``kernels`` were translated."""

    program: str
    state: PtxState
    kernels: int = 0
    detail: str = ""


class PtxRun:
    """Everything that all programs share."""

    def __init__(self, seconds: float) -> None:
        self.amd, self.nvidia, self.library = find_amd(), find_nvidia(), runtime_library()
        self.options = RunOptions(seconds=seconds)

    def row(self, subject: Subject) -> PtxRow:
        """Take one program there and back."""
        name = subject.name
        try:
            with private_folder() as root:
                made = self.amd.compile(subject.sources.write(root), optimization="-O3")
        except CompileFailure as failure:
            return PtxRow(name, PtxState.NOT_BUILT, detail=failure.diagnostic.splitlines()[0])
        try:
            there = to_ptx(made.device_assembly)
        except UnknownInstruction as error:
            return PtxRow(name, PtxState.NOT_TRANSLATED, detail=str(error))
        count = len(there.kernels)
        try:
            cubin = assemble(there.text, self.nvidia)
        except LiftError as error:
            return PtxRow(name, PtxState.NOT_ASSEMBLED, count, str(error).splitlines()[0])
        try:
            back = lift_cubin(cubin)
        except LiftError as error:
            return PtxRow(name, PtxState.NOT_LIFTED, count, str(error).splitlines()[0])
        state, detail = self._compared(subject, back.assembly)
        return PtxRow(name, state, count, detail)

    def _compared(self, subject: Subject, assembly: str) -> tuple[PtxState, str]:
        texts = (text.decode("utf-8", "replace") for text in subject.sources.files.values())
        tolerance = tolerance_for(texts)
        wanted = build(subject.sources, self.amd, self.library)
        candidate = build(subject.sources, self.amd, self.library, device_assembly=assembly)
        worst, why = PtxState.EXACT, ""
        for inputs in subject.inputs:
            one, other = (
                execute(program, inputs.arguments, self.library, self.options)
                for program in (wanted, candidate)
            )
            if one.returncode != other.returncode:
                last = other.stderr_text.strip().splitlines()[:1] or [other.outcome.value]
                return PtxState.FAILED, last[0]
            compared = compare([one.stdout], other.stdout, tolerance)
            if not compared.numeric:
                return PtxState.DIFFERENT, compared.difference
            if not compared.exact:
                worst, why = PtxState.NUMERIC, f"largest relative error {compared.max_error:.2g}"
        return worst, why


def markdown(rows: list[PtxRow], command: str) -> str:
    counts = Counter(row.state for row in rows)
    summary = ", ".join(f"{counts[state]} {state}" for state in PtxState if counts[state])
    lines = [
        "# RDNA3 to PTX and SASS, and back",
        "",
        f"{len(rows)} HIP programs (the shipped corpus). Their RDNA3 becomes PTX, ptxas makes SASS "
        "for sm_90 of it, the lifter RDNA3 of that; reference: the program as clang compiled it, "
        "both on the CPU backend.",
        "",
        f"    {command}",
        "",
        f"**{summary}**",
        "",
        "| program | result | kernels | why not exact |",
        "|---|---|---|---|",
    ]
    for row in rows:
        detail = row.detail.replace("|", "\\|").replace("\n", " ")[:160]
        lines.append(f"| {row.program} | {row.state} | {row.kernels} | {detail} |")
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Print the rows; 0 when at least one program was exact."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", help="parts of program paths; all if none")
    parser.add_argument("--seconds", type=float, default=60.0, help="time limit of a run")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    given = parser.parse_args(arguments)
    bench, rows = PtxRun(given.seconds), []
    for subject in shipped_subjects(make_translator()):
        if given.names and not any(name in subject.name for name in given.names):
            continue
        rows.append(bench.row(subject))
        print(f"{rows[-1].state:18} {subject.name:55} {rows[-1].detail[:200]}", flush=True)
    counts = Counter(row.state for row in rows)
    print(", ".join(f"{counts[state]} {state}" for state in PtxState if counts[state]))
    command = " ".join(["python -m benchmarks.rdna3_to_ptx.programs", *arguments])
    if given.json:
        text = {"command": command, "rows": [asdict(row) for row in rows]}
        given.json.write_text(json.dumps(text, indent=1) + "\n")
    if given.markdown:
        given.markdown.write_text(markdown(rows, command))
    return 0 if counts[PtxState.EXACT] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
