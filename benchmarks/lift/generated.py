"""Generated programs, whose output is known, lifted: ``python -m benchmarks.lift.generated``.

``--count 100 --seed 17 --sm 80 --sm 90 --json OUT.json`` compiles each program of ``cass generate``
with nvcc in several ways (``--mode``, all by default), lifts every cubin, runs it under clang's HIP
host on the CPU backend and compares what it prints with what the generator computed. Rows are
written after every program; a run that is started again continues. ``--part 2/8`` takes every
eighth program from the third on, ``--first 40`` programs from number 40 on. ``--rotation 3`` gives
program ``n`` one combination of architecture and mode, number ``n + 3`` of them: where there is no
time for all, every program runs and every combination has its share. ``--copies 0`` makes a
function of every subroutine. The Markdown table lies beside the JSON file; ``--table`` writes it
alone, of rows that :mod:`benchmarks.lift.parts` has joined.

Programs that nvcc, the translator or clang refuse are counted and left out.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePosixPath

from benchmarks.lift.cubins import Ways, compile_unit
from benchmarks.lift.parts import part
from benchmarks.lift.programs import LiftedProgram, LiftingRun
from cass_ray.cache import default_directory
from cass_ray.config import load, parse_overrides
from cass_ray.corpus.generate.options import GeneratorOptions
from cass_ray.corpus.generate.program import GeneratedProgram, generate
from cass_ray.emulator.build import runtime_library
from cass_ray.emulator.execution import RunOptions
from cass_ray.lift import LiftError, lift_listing, names_for_host
from cass_ray.lift.lowering.flow import calls
from cass_ray.toolchain.amd.toolchain import AmdOutput
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.nvidia.disassembly import DisassemblyError
from cass_ray.toolchain.nvidia.elf import Cubin, CubinError
from cass_ray.toolchain.unit import CompileFailure, Unit
from cass_ray.translate.protocol import TranslatorError
from cass_ray.whole_file import write_whole

MODES = {
    "O3": Ways(),
    "O0": Ways(nvcc=("-Xcicc", "-O0"), ptxas=("-O0",)),
    "G": Ways(nvcc=("-G",), ptxas=("-g", "-O0")),
    # The generator's quotients and roots are those of IEEE 754.
    "fast-math": Ways(nvcc=("--use_fast_math", "-prec-div=true", "-prec-sqrt=true")),
}
"""How nvcc is asked to compile."""
DRAWN = (
    *("mathematics=0", "types.long=3", "types.unsigned_long=3"),
    "collectives.lanes_apart=1",
)
"""Options: no functions that fast-math replaces, much 64-bit arithmetic, and what HIP has not."""

AGREES, DIFFERS, FAILS, NOT_LIFTED = "agrees", "differs", "does not run", "not lifted"
LEFT_OUT = "left out"


@dataclass(frozen=True)
class GeneratedRow:
    """One program, compiled one way for one architecture."""

    program: str
    architecture: str
    mode: str
    state: str
    detail: str = ""
    sass_instructions: int = 0
    lift_seconds: float = 0.0
    llvm_seconds: float = 0.0


@dataclass(frozen=True)
class MachineCode:
    """A cubin, and its text by nvdisasm."""

    cubin: bytes
    listing: str


Way = tuple[str, str]
"""An architecture and a mode."""


def rotated(ways: list[Way], number: int, rotation: int | None) -> list[Way]:
    """What program ``number`` is compiled for: everything, or its share of this rotation."""
    return ways if rotation is None else [ways[(number + rotation) % len(ways)]]


def measure(
    bench: LiftingRun, program: GeneratedProgram, ways: list[Way]
) -> Iterator[GeneratedRow]:
    """A row for each architecture and mode, or one that says why there are none."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"{program.name}.cu")
        path.write_text(program.source)
        unit = Unit(path.parent, PurePosixPath(path.name))
        try:
            host = bench.host(LiftedProgram(program.name, unit))
        except (CompileFailure, TranslatorError) as error:
            text = error.diagnostic if isinstance(error, CompileFailure) else str(error)
            yield GeneratedRow(program.name, "", "", LEFT_OUT, text.strip()[-200:])
            return
        compiled: list[tuple[GeneratedRow, bytes]] = []
        for mode in dict.fromkeys(mode for _, mode in ways):
            architectures = [architecture for architecture, its in ways if its == mode]
            cubins, message = compile_unit(bench.nvidia, unit, architectures, MODES[mode])
            if not cubins:
                yield GeneratedRow(program.name, "", mode, LEFT_OUT, message.strip()[-200:])
            for architecture, cubin in cubins.items():
                compiled.append((GeneratedRow(program.name, architecture, mode, ""), cubin))
        # Half a second of nvdisasm is its start: the cubins of one architecture share it.
        try:
            listings = bench.nvidia.disassemble([cubin for _, cubin in compiled])
        except (DisassemblyError, CubinError) as error:
            for row, _ in compiled:
                yield replace(row, state=NOT_LIFTED, detail=f"fault: {error!r}"[:300])
            return
        for (row, cubin), listing in zip(compiled, listings, strict=True):
            try:
                yield _one(bench, program, host, MachineCode(cubin, listing), row)
            except Exception as error:  # a fault of the lifter is a row, not the end
                yield replace(row, state=NOT_LIFTED, detail=f"fault: {error!r}"[:300])


def _one(
    bench: LiftingRun,
    program: GeneratedProgram,
    host: AmdOutput,
    code: MachineCode,
    row: GeneratedRow,
) -> GeneratedRow:
    names = names_for_host(Cubin.parse(code.cubin), host.device_assembly)
    try:
        lifted = lift_listing(code.cubin, code.listing, bench.amd, names=names)
        executable = bench.link(host, lifted.assembly)
    except LiftError as error:
        return replace(row, state=NOT_LIFTED, detail=str(error)[:300])
    except CompileFailure as failure:
        return replace(row, state=NOT_LIFTED, detail=failure.diagnostic[-300:])
    row = replace(
        row,
        sass_instructions=sum(lifted.instructions.values()),
        lift_seconds=round(lifted.lift_seconds, 3),
        llvm_seconds=round(lifted.llvm_seconds, 3),
    )
    done, _ = bench.run(executable, ())
    executable.unlink()
    if not done.ok:
        said = f"{done.outcome.value} {done.returncode} {done.stderr_text[-200:]}"
        return replace(row, state=FAILS, detail=said)
    found = done.stdout.decode("utf-8", "replace")
    if found == program.expected:
        return replace(row, state=AGREES)
    return replace(row, state=DIFFERS, detail=_difference(program.expected, found))


def _difference(expected: str, found: str) -> str:
    """The first line that differs."""
    for wanted, made in zip(expected.splitlines(), found.splitlines(), strict=False):
        if wanted != made:
            return f"{wanted[:140]} | {made[:140]}"
    return f"{len(expected.splitlines())} lines | {len(found.splitlines())}"


def table(rows: list[GeneratedRow], command: str) -> str:
    """Programs by architecture, mode and outcome, and each that does not agree."""
    states = (AGREES, DIFFERS, FAILS, NOT_LIFTED)
    lines = ["# Generated programs, lifted", "", f"    {command}", ""]
    lines += ["| architecture | mode | " + " | ".join(states) + " | CPU s per 500 instructions |"]
    lines += ["|---|---|" + "---|" * (len(states) + 1)]
    groups = dict.fromkeys((row.architecture, row.mode) for row in rows if row.state != LEFT_OUT)
    for group in sorted(groups):
        own = [r for r in rows if (r.architecture, r.mode) == group and r.state != LEFT_OUT]
        counts = Counter(row.state for row in own)
        total = sum(row.sass_instructions for row in own) or 1
        seconds = sum(row.lift_seconds + row.llvm_seconds for row in own) * 500 / total
        cells = [*group, *(str(counts[state]) for state in states), f"{seconds:.2f}"]
        lines.append(f"| {' | '.join(cells)} |")
    out = [row for row in rows if row.state == LEFT_OUT]
    lines += ["", f"{len(out)} left out: nvcc, the translator or clang refuses them.", ""]
    for row in rows:
        if row.state not in (AGREES, LEFT_OUT):
            where = f"{row.program}, {row.architecture}, {row.mode}"
            lines.append(f"- {where}: {row.state}: `{' '.join(row.detail.split())[:200]}`")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=17)
    parser.add_argument("--sm", action="append", help="80, 90 by default")
    parser.add_argument("--mode", action="append", choices=MODES)
    parser.add_argument("--set", action="append", default=[], help="KEY=VALUE, any knob")
    parser.add_argument("--first", type=int, default=0, help="number of the first program")
    parser.add_argument("--rotation", type=int, help="one combination for each program")
    parser.add_argument("--copies", type=int, default=calls.MOST_COPIES, help="of a subroutine")
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=600.0, help="when to stop")
    parser.add_argument("--part", type=part, default=(0, 1), metavar="I/N", help="of the programs")
    parser.add_argument("--table", action="store_true", help="run nothing")
    given = parser.parse_args()
    if given.table:
        content = json.loads(given.json.read_text())
        rows = [GeneratedRow(**row) for row in content["rows"]]
        given.json.with_suffix(".md").write_text(table(rows, content["command"]))
        return
    calls.MOST_COPIES = given.copies
    cache = default_directory() / "lift-benchmark"
    cache.mkdir(parents=True, exist_ok=True)
    limits = RunOptions(seconds=120.0)
    bench = LiftingRun(find_amd(), find_nvidia(), runtime_library(), limits, cache)
    knobs = load(GeneratorOptions, None, parse_overrides([*DRAWN, *given.set]))
    architectures = [f"sm_{number}" for number in given.sm or ("80", "90")]
    rows = []
    if given.json.exists():
        rows = [GeneratedRow(**row) for row in json.loads(given.json.read_text())["rows"]]
    known = {row.program for row in rows}
    modes = given.mode or list(MODES)
    ways = [(architecture, mode) for mode in modes for architecture in architectures]
    began = time.monotonic()
    command = " ".join(["python -m benchmarks.lift.generated", *sys.argv[1:]])
    programs = enumerate(generate(given.count, given.seed, knobs, first=given.first), given.first)
    for number, program in itertools.islice(programs, given.part[0], None, given.part[1]):
        if program.name in known:
            continue
        if time.monotonic() - began > 60 * given.minutes:
            break
        made = list(measure(bench, program, rotated(ways, number, given.rotation)))
        rows += made
        print(program.name, *(f"{r.architecture} {r.mode}: {r.state};" for r in made), flush=True)
        content = {"command": command, "rows": [asdict(row) for row in rows]}
        write_whole(given.json, (json.dumps(content, indent=1) + "\n").encode())
        given.json.with_suffix(".md").write_text(table(rows, command))


if __name__ == "__main__":
    main()
