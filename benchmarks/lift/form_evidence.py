"""The table of forms by what is known of them: ``python -m benchmarks.lift.form_evidence``.

Reads ``benchmarks/results/lift_forms.json`` (``benchmarks.lift.forms``) and what the lifter stores
of each form, and writes ``benchmarks/results/lift_forms.md``.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from cass_ray.lift.form_evidence import FormEvidence, form_evidence, stored

RESULTS = Path(__file__).parents[1] / "results"
CONFIRMED = Path(__file__).parents[2] / "tests" / "lift" / "proofs" / "confirmed.json"
_LISTED = 60

_REPOSITORIES = (
    "NVIDIA/CUDALibrarySamples (3437729)",
    "NVIDIA/cuda-samples (c94ff36)",
    "rsasaki0109/CudaRobotics (9861bb3)",
    "sora5801/cuda-cpp-healthcare-projects (bdb260a)",
    "sora5801/cuda-cpp-robotics-projects (0d9cd8d)",
)

_ABOUT = """# Forms of instructions: proven, tested, only lifted

A form is opcode, modifiers and what the operands are: `LEA R,P,-R,R,i`.

- **Proven**: z3 has shown that the LLVM IR which the lifter writes stores what a specification
  says, for all inputs (docs/lift/evidence.md). The specification agrees with an H200 on
  {kernels}.
- **Tested**: the form is in a kernel of `tests/lift/vectors` whose lifted results are those of the
  H200. For sm_90 that is the machine code which ran there, for others another compilation of the
  same PTX. Or it is in a program of `tests/port` and `tests/lift` that says the same when lifted as
  on the H200 (`tests/port/on_gpu.json`); a program may have code that no thread reached.
- **Equal to one**: z3 has shown that it is lifted as a proven or tested form is, after its operands
  were moved to where that form has them, by rules that a GPU confirms (docs/lift/evidence.md).
- **Only lifted**: none of these.

Counts are of static instructions. Harvest: of the public repositories whose name contains "cuda",
those with most files first, the first five with a permissive license at the root, more than 90
`.cu` files and no HIP beside them: {repositories}. Their
files were compiled in the order of a digest of their paths until the time was over; cubins without
device code are not counted. Programs: the shipped programs and CASS-Bench. Native: files of many
public repositories, compiled for ten architectures by `benchmarks.lift.harvest`.

    python -m benchmarks.lift.cubins OUT FOLDER ... --sm 80 --sm 86 --sm 89 --sm 90
    python -m benchmarks.lift.forms benchmarks/results/lift_forms.json harvest=OUT programs=OUT2
    python -m benchmarks.lift.forms --add benchmarks/results/lift_forms.json native=ROWS
    python -m tests.lift.proofs.form_evidence
    python -m benchmarks.lift.form_evidence

**The vectors again on 28 November 2026**, commit f7fe5f8c (`python -m
tests.lift.vectors.differential --architecture A --family F [--target gfx942] --output OUT.json`
for each family): on gfx1100 33,621 of 33,628 kernels of sm_75, 80, 89, 90, 100 and 120 as an
H200 has them or within the stated error, on gfx942 11,434 of 11,438 of sm_90 and sm_120. The
eleven others are refused by name: `ATOMG.E.CAS.128` (sm_90 and later) and `MOVM.U4TO8`
(products of single bits, sm_100 and sm_120). That one is lifted since, and its four kernels are
as an H200 has them on both processors.
"""


def table(counted: dict[str, Any]) -> list[str]:
    """Forms and instructions by group, architecture and evidence."""
    lines = [
        "| group | architecture | cubins | instructions | " + " | ".join(FormEvidence) + " |",
        "|---|---|---|---|" + "---|" * len(FormEvidence),
    ]
    for group, architectures in counted.items():
        for architecture, each in architectures.items():
            forms: Counter[FormEvidence] = Counter()
            instructions: Counter[FormEvidence] = Counter()
            for form, count in each["forms"].items():
                forms[form_evidence(form)] += 1
                instructions[form_evidence(form)] += count
            total = instructions.total() or 1
            cells = [
                f"{forms[known]} forms, {instructions[known]} ({instructions[known] / total:.2%})"
                for known in FormEvidence
            ]
            lines.append(
                f"| {group} | {architecture} | {each['cubins']} | {total} | {' | '.join(cells)} |"
            )
    return lines


def remaining(counted: dict[str, Any], wanted: FormEvidence) -> list[str]:
    """The forms of one kind of evidence, most frequent first."""
    found: Counter[str] = Counter()
    for architectures in counted.values():
        for each in architectures.values():
            found.update({f: n for f, n in each["forms"].items() if form_evidence(f) is wanted})
    lines = [f"- `{form}` ({count})" for form, count in found.most_common(_LISTED)]
    return [*lines, f"- … and {len(found) - _LISTED} more"] if len(found) > _LISTED else lines


def main() -> None:
    """Command line."""
    counted = json.loads((RESULTS / "lift_forms.json").read_text())
    known = stored()
    confirmed = json.loads(CONFIRMED.read_text())
    kernels = sum(count for each in confirmed["kernels"].values() for count in each.values())
    specified = {form.partition(" ")[0] for form in known.proven}
    unconfirmed = sorted(specified - set(confirmed["mnemonics"]))
    gpu = sum("sm_90" in where for where in known.tested.values())
    lines = [
        _ABOUT.format(
            kernels=f"{kernels} kernels of the vectors, {confirmed['lanes']} lanes each",
            repositories=", ".join(_REPOSITORIES),
        ),
        *table(counted),
        "",
        f"Known at all: {len(known.proven)} forms proven, {len(known.tested)} tested, {gpu} of"
        " these as the machine code that the GPU ran;"
        f" {len(known.proven & known.tested.keys())} both, {len(known.equal)} equal to one.",
        "",
        f"Of the {len(specified)} mnemonics of proven forms"
        f" {len(specified) - len(unconfirmed)} are in those kernels; not:"
        f" {', '.join(unconfirmed)}. Each shares its function in the specification with one that"
        " is. P2R and R2P equal their specification too, but no such kernel confirms it: they are"
        " tested, and not counted as proven.",
        "",
        "## Only lifted",
        "",
        *remaining(counted, FormEvidence.LIFTED),
        "",
        "## Not lifted",
        "",
        *remaining(counted, FormEvidence.NOT_LIFTED),
    ]
    (RESULTS / "lift_forms.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
