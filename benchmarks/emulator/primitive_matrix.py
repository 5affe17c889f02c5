"""rocPRIM's and hipCUB's algorithms on the CPU backend, against what the host computes.

    python -m benchmarks.emulator.primitive_matrix --arch gfx942 --arch gfx1201 --json OUT.json

The programs of ``primitives/`` print a line for each case: an algorithm (of a device, a block or a
warp), a type (8 to 64 bits, half, bfloat16, a struct) and a size around a wave, a block and the
grid. They are compiled for each processor and run; a program that does not compile or end counts
as one wrong case. Rows that OUT.json has are not made again.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath

from cass_ray.architectures import amd_target
from cass_ray.corpus.reading.source_files import gather
from cass_ray.emulator.build import runtime_library
from cass_ray.emulator.execution import RunOptions, build, execute
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.unit import CompileFailure, Unit

PROGRAMS = Path(__file__).parent / "primitives"
_CASE = re.compile(r"^(ok|WRONG) (\S+) (\S+) (\d+)", re.MULTILINE)
_LONGEST = 400


@dataclass(frozen=True)
class Row:
    """One program on one processor: right cases, the lines of others, algorithms and types."""

    program: str
    architecture: str
    right: int
    wrong: tuple[str, ...]
    algorithms: tuple[str, ...]
    types: tuple[str, ...]
    build_seconds: float
    run_seconds: float


def measured(program: Path, architecture: str) -> Row:
    """Compile ``program`` for ``architecture`` and run it."""
    wave = amd_target(architecture).wave_widths[0]
    unit = Unit(PROGRAMS, PurePosixPath(program.name), definitions=(f"WAVE={wave}",))
    runtime = runtime_library()
    started = time.monotonic()
    wrong: list[str] = []
    text = ""
    built = started
    try:
        executable = build(gather(unit), find_amd(), runtime, architecture=architecture)
    except CompileFailure as failure:
        wrong.append(f"does not compile: {str(failure)[:_LONGEST]}")
    else:
        built = time.monotonic()
        options = RunOptions(seconds=300, devices=(architecture,))
        done = execute(executable, (), runtime, options)
        text = done.stdout_text
        wrong += [line for line in text.splitlines() if line.startswith("WRONG")]
        if not done.ok:
            wrong.append(f"ended with {done.returncode}: {done.stderr_text[-_LONGEST:]}")
    cases = [match.groups() for match in _CASE.finditer(text)]
    return Row(
        program=program.stem,
        architecture=architecture,
        right=sum(state == "ok" for state, *_ in cases),
        wrong=tuple(wrong),
        algorithms=tuple(sorted({algorithm for _, algorithm, _, _ in cases})),
        types=tuple(sorted({kind for _, _, kind, _ in cases})),
        build_seconds=round(built - started, 1),
        run_seconds=round(time.monotonic() - built, 1),
    )


def table(rows: list[Row]) -> str:
    """A line for each program and processor, and the sums."""
    lines = ["| program | processor | algorithms | types | right | wrong | build, s | run, s |"]
    lines.append("|---|---|---:|---:|---:|---:|---:|---:|")
    sums: Counter[str] = Counter()
    for row in rows:
        numbers = [len(row.algorithms), len(row.types), row.right, len(row.wrong)]
        shown = " | ".join(map(str, [*numbers, row.build_seconds, row.run_seconds]))
        lines.append(f"| {row.program} | {row.architecture} | {shown} |")
        sums[row.architecture] += row.right
    lines += [f"\n{name}: {count} cases right" for name, count in sums.items()]
    lines += [f"{row.architecture} {row.program}: {line}" for row in rows for line in row.wrong]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--arch", action="append", help="may be repeated")
    parser.add_argument("--json", type=Path, required=True, help="rows")
    parser.add_argument("--next", action="store_true", help="one program on one processor")
    given = parser.parse_args()
    loaded = json.loads(given.json.read_text()) if given.json.exists() else []
    rows = [Row(**each) for each in loaded]
    done = {(row.program, row.architecture) for row in rows}
    for program in sorted(PROGRAMS.glob("*.hip"), reverse=True):
        for architecture in given.arch or ["gfx942", "gfx1201"]:
            if (program.stem, architecture) in done:
                continue
            rows.append(measured(program, architecture))
            given.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
            if given.next:
                return 0
    print(table(rows))
    return 1 if given.next or any(row.wrong for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
