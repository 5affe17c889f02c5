"""``python -m benchmarks.translate.intrinsics``: each device function of CUDA's headers, two ways.

Every function is called with 512 tuples of arguments, edges among them. One way is Nvidia's:
nvcc's machine code, lifted; the other the translation: by the rules, compiled by clang. Both run on
the CPU backend. ``--only REGEX`` takes functions whose signatures match, ``--list`` shows what is
read and what is not called, and why. The report goes to ``--report``.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections import Counter
from pathlib import Path

from benchmarks.translate.intrinsics.declarations import Declaration, declarations, preprocessed
from benchmarks.translate.intrinsics.measure import Outcome, measure
from benchmarks.translate.intrinsics.programs import reason_to_skip
from benchmarks.translate.intrinsics.verdicts import Verdict, allowance, detail, verdict
from cass_ray.toolchain.locate import find_nvidia

ARCHITECTURES = ("sm_90", "sm_80")
"""The second one for what the lifter does not take of the first."""
CHUNK = 150

HEAD = """\
# CUDA's device functions, one by one

By `python -m benchmarks.translate.intrinsics --report benchmarks/results/intrinsics.md`. Every
function that CUDA's headers of halves, bfloat16, 8-bit floats, mathematics, conversions, integers
and SIMD declare for devices, each overload for itself, with 512 tuples of arguments (edges, ties,
denormal numbers, infinities, NaN). Nvidia's side is nvcc's machine code, lifted; ours the
translation, compiled by clang for gfx1100; both run on the CPU backend. NaNs count as one value.
Allowances of approximations are set by hand (`verdicts.py`), not read from the headers.

Before the functions were compared (27 November 2026): 677 the same, 115 within an allowance, 120
that differed without a word, 144 that did not compile.
"""


def read_functions(architecture: str = ARCHITECTURES[0]) -> tuple[Declaration, ...]:
    """What the headers declare."""
    with tempfile.TemporaryDirectory() as folder:
        return declarations(preprocessed(find_nvidia(), Path(folder), architecture))


def measured(functions: tuple[Declaration, ...], chunk: int = CHUNK) -> list[Outcome]:
    """What became of ``functions``; what one architecture's code does not tell, another's may."""
    outcomes: dict[str, Outcome] = {}
    for architecture in ARCHITECTURES:
        left = [
            each
            for each in functions
            if each.signature not in outcomes
            or verdict(outcomes[each.signature]) is Verdict.NOT_ASKED
        ]
        for start in range(0, len(left), chunk):
            for outcome in measure(tuple(left[start : start + chunk]), architecture):
                outcomes[outcome.function.signature] = outcome
    return [outcomes[each.signature] for each in functions]


def report(outcomes: list[Outcome], skipped: Counter[str]) -> str:
    """The Markdown text."""
    counts = Counter(verdict(each) for each in outcomes)
    lines = [HEAD, "| verdict | functions |", "|---|---|"]
    lines += [f"| {each} | {counts[each]:,} |" for each in Verdict]
    lines += ["", "Not called: " + ", ".join(f"{n} ({why})" for why, n in skipped.most_common(4))]
    for state in Verdict:
        if state is Verdict.SAME or not counts[state]:
            continue
        lines += ["", f"## {state.capitalize()}", "", "| function | what | why |", "|---|---|---|"]
        for outcome in outcomes:
            if verdict(outcome) is state:
                allowed = allowance(outcome.function)
                reason = allowed.reason if allowed and outcome.difference else ""
                shown = detail(outcome).replace("|", "/").replace("\n", " ")[:160]
                lines.append(f"| `{outcome.function.signature}` | {shown} | {reason} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--report", type=Path)
    options = parser.parse_args()
    found = read_functions()
    if options.list:
        for each in found:
            print(each.header, each.result, each.signature, "--", reason_to_skip(each) or "called")
        return
    chosen = [each for each in found if re.search(options.only, each.signature)]
    skipped = Counter(reason_to_skip(each) for each in chosen if reason_to_skip(each))
    called = tuple(each for each in chosen if not reason_to_skip(each))
    text = report(measured(called), skipped)
    print(text)
    if options.report:
        options.report.write_text(text)


if __name__ == "__main__":
    main()
