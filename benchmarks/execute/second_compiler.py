"""The shipped programs by two compilers of device code: what they print, and what it costs.

    python -m benchmarks.execute.second_compiler --arch gfx1100 --arch gfx942 --json OUT.json

Each program is translated, compiled by clang and by the second compiler
(:mod:`cass_ray.toolchain.amd.second_llvm`), and both run on the CPU backend, on the inputs of which
the output of a real Nvidia GPU is kept. Rows that OUT.json has are not made again.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from benchmarks.execute.prepare_references import shipped_sources
from cass_ray.architectures import amd_target
from cass_ray.corpus.reading.source_files import Sources
from cass_ray.execute.backends.rdna3 import Rdna3Backend
from cass_ray.execute.comparison.tolerances import tolerance_for
from cass_ray.execute.references import ReferenceRuns, stored_references
from cass_ray.execute.verification import PortVerification
from cass_ray.execute.verify import Policy, verify
from cass_ray.toolchain.unit import CompileFailure
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.project.program import translated


class Side(BaseModel):
    """One compiler's part: ``executed`` instructions of all runs, ``seconds`` of building."""

    model_config = ConfigDict(extra="forbid")

    right: bool
    exact: bool
    problem: str = ""
    executed: int = 0
    seconds: float = 0.0


class Row(BaseModel):
    """One program for one processor."""

    model_config = ConfigDict(extra="forbid")

    program: str
    architecture: str
    first: Side
    second: Side


def side(sources: Sources, reference: ReferenceRuns, backend: Rdna3Backend) -> Side:
    """Build and judge ``sources`` with what ``backend`` compiles with."""
    texts = [content.decode("utf-8", "replace") for content in sources.files.values()]
    started = time.monotonic()
    try:
        built = backend.build(sources)
    except CompileFailure as failure:
        return Side(right=False, exact=False, problem=str(failure)[:500])
    seconds = time.monotonic() - started
    policy = Policy(tolerance=tolerance_for(texts), counters=True, counterfactual=False)
    result = verify(reference, built, backend, policy)
    return Side(
        right=result.passed,
        exact=result.exact,
        problem=result.reason,
        executed=_executed(result),
        seconds=seconds,
    )


def _executed(result: PortVerification) -> int:
    return sum(kernel.instructions for kernel in result.coverage.kernels.values())


def rows(architectures: Sequence[str], done: Iterable[Row]) -> Iterable[Row]:
    """A row for each program and processor that ``done`` has not."""
    known = {(row.program, row.architecture) for row in done}
    references = stored_references()
    with tempfile.TemporaryDirectory(prefix="cass-second-") as name:
        programs = shipped_sources(Path(name))
    for path, (identity, sources) in programs.items():
        reference = references.get(identity)
        if reference is None or path.startswith("repositories/rejects"):
            continue
        for architecture in architectures:
            if (path, architecture) in known:
                continue
            widths = amd_target(architecture).wave_widths[:1]
            port = translated(sources, make_translator(), widths)
            first = Rdna3Backend(architecture=architecture)
            second = replace(first, second_compiler=True)
            yield Row(
                program=path,
                architecture=architecture,
                first=side(port, reference, first),
                second=side(port, reference, second),
            )


def table(made: Sequence[Row]) -> str:
    """How the compilers compare, a line for each processor, and each disagreement."""
    titles = ["processor", "programs", "both right", "first alone", "second alone", "neither"]
    titles += ["exact, first and second", "instructions executed, second / first"]
    lines = [f"| {' | '.join(titles)} |", "|---|" + "---:|" * (len(titles) - 1)]
    for architecture in dict.fromkeys(row.architecture for row in made):
        of = [row for row in made if row.architecture == architecture]
        verdicts = [(row.first.right, row.second.right) for row in of]
        counts = [verdicts.count(each) for each in
                  ((True, True), (True, False), (False, True), (False, False))]  # fmt: skip
        exact = sum(row.first.exact for row in of), sum(row.second.exact for row in of)
        shares = [math.log(row.second.executed / row.first.executed) for row in of
                  if row.first.executed and row.second.executed]  # fmt: skip
        mean = math.exp(sum(shares) / len(shares)) if shares else math.nan
        numbers = " | ".join(map(str, [len(of), *counts]))
        lines.append(f"| {architecture} | {numbers} | {exact[0]}, {exact[1]} | {mean:.3f} |")
    for row in made:
        if not (row.first.right and row.second.right):
            first, second = row.first.problem or "right", row.second.problem or "right"
            lines.append(f"\n{row.program}, {row.architecture}: first: {first}; second: {second}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--arch", action="append", help="processor, may be repeated")
    parser.add_argument("--json", type=Path, required=True, help="rows, a line each")
    given = parser.parse_args()
    lines = given.json.read_text().splitlines() if given.json.exists() else []
    made = [Row.model_validate(json.loads(line)) for line in lines]
    with given.json.open("a") as out:
        for row in rows(given.arch or ["gfx1100"], list(made)):
            out.write(row.model_dump_json() + "\n")
            out.flush()
            made.append(row)
            print(len(made), row.program, row.architecture, row.first.right, row.second.right)
    print(table(made))


if __name__ == "__main__":
    main()
