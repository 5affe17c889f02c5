"""Run every shipped CUDA program on the CPU backend: translated, compiled for gfx1100, executed.

``python -m benchmarks.emulator.shipped_programs [--json FILE] [NAME ...]`` prints a table. A
program verifies itself: ``verify: OK`` on standard output and status 0. States: ``ok``;
``mismatch`` (it ran and its own check failed); ``unsupported`` (the backend said that an
instruction or an entry point is missing); ``error`` (it did not translate, compile, or ended
otherwise).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath

from cass_ray.corpus.reading.source_files import gather
from cass_ray.emulator.build import runtime_library
from cass_ray.emulator.execution import RunOptions, build, execute
from cass_ray.toolchain.amd.toolchain import AmdToolchain
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.sandbox.process import Completed
from cass_ray.toolchain.unit import CompileFailure, Unit
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.project.program import translated
from cass_ray.translate.protocol import TranslatorError

PROGRAMS = Path(__file__).parents[2] / "cass_ray/corpus/shipped/programs"

_VERIFIED = "verify: OK"
_UNSUPPORTED = ("is not supported by the CPU backend", "unsupported instruction")


class ShippedState(StrEnum):
    """How one program fared."""

    OK = "ok"
    MISMATCH = "mismatch"
    UNSUPPORTED = "unsupported"
    ERROR = "error"


@dataclass(frozen=True)
class ShippedResult:
    """One row of the table; ``seconds`` is wall time of the run alone."""

    program: str
    state: ShippedState
    seconds: float
    detail: str


def judge(completed: Completed) -> tuple[ShippedState, str]:
    """The state of a program that ran, and what it said last."""
    output, errors = completed.stdout_text, completed.stderr_text
    if completed.ok and _VERIFIED in output:
        return ShippedState.OK, ""
    if missing := _missing(errors):
        return ShippedState.UNSUPPORTED, missing
    last = (errors.strip() or output.strip()).splitlines()[-1:] or [completed.outcome.value]
    ran_to_its_end = "verify:" in output
    return (ShippedState.MISMATCH if ran_to_its_end else ShippedState.ERROR), last[0]


def _missing(errors: str) -> str:
    """What the backend reported as not there: an entry point, or an instruction with its place."""
    lines = errors.splitlines()
    for number, line in enumerate(lines):
        if any(text in line for text in _UNSUPPORTED):
            place = [part.strip() for part in lines[number + 1 : number + 3] if part[:2] == "  "]
            return "; ".join([line, *place])
    return ""


def try_program(
    path: Path, toolchain: AmdToolchain, library: Path, seconds: float
) -> ShippedResult:
    """Translate, compile and run one program."""
    name = str(path.relative_to(PROGRAMS))
    try:
        sources = gather(Unit(path.parent, PurePosixPath(path.name)))
        executable = build(translated(sources, make_translator()), toolchain, library)
    except (CompileFailure, TranslatorError) as error:
        return ShippedResult(name, ShippedState.ERROR, 0.0, str(error).strip().splitlines()[0])
    started = time.monotonic()
    completed = execute(executable, [], library, RunOptions(seconds=seconds))
    state, detail = judge(completed)
    return ShippedResult(name, state, round(time.monotonic() - started, 3), detail)


def main(arguments: list[str]) -> int:
    """Print the table; 0 when every program is ok."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="parts of program names; all if none")
    parser.add_argument("--json", type=Path, help="write the results to this file too")
    parser.add_argument("--seconds", type=float, default=120.0, help="time limit of a program")
    options = parser.parse_args(arguments)
    toolchain, library = find_amd(), runtime_library()
    results = []
    for path in sorted(PROGRAMS.rglob("*.cu")):
        if options.names and not any(name in str(path) for name in options.names):
            continue
        result = try_program(path, toolchain, library, options.seconds)
        results.append(result)
        print(
            f"{result.state:12} {result.seconds:8.2f} s  {result.program:50} {result.detail[:160]}",
            flush=True,
        )
    counts = Counter(result.state for result in results)
    print(", ".join(f"{count} {state}" for state, count in sorted(counts.items())))
    if options.json:
        options.json.write_text(json.dumps([asdict(result) for result in results], indent=2) + "\n")
    return 0 if counts[ShippedState.OK] == len(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
