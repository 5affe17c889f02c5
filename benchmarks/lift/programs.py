"""Lift the cubins of CUDA programs, run them under their HIP hosts, compare what they print.

``python -m benchmarks.lift.programs --json OUT.json [--sm 80 --sm 90] shipped [NAME ...]`` takes
the shipped programs, with output stored from a real GPU as reference;
``… FOLDER [NAME ...]`` takes every ``.cu`` file with ``main`` below a folder, with clang's build of
the translated program on the CPU backend as reference. Each program is compiled by nvcc for each
architecture; the cubin is lifted, combined with clang's host assembly of the translated program and
run on the CPU backend. Programs that nvcc or the translator refuse, or whose reference ends with an
error or prints something else each time, are counted and left out. ``time()`` stands still.

``--resume`` keeps the rows that the file has. ``--part 2/8`` takes every eighth program from the
third on: as many processes share the work. ``--outputs`` keeps what was printed, for
:mod:`benchmarks.lift.hardware`. Tables: ``python -m benchmarks.lift.report``.
"""

from __future__ import annotations

import argparse
import itertools
import json
import pickle
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TypeVar

from benchmarks.lift.cubins import compile_unit
from benchmarks.lift.parts import part
from benchmarks.lift.printed import Printed
from benchmarks.translate.public import candidates
from cass_ray.architectures import DEFAULT_AMD_ARCHITECTURE
from cass_ray.cache import default_directory, digest
from cass_ray.corpus.reading.source_files import gather
from cass_ray.corpus.sources.shipped import SHIPPED_ROOT, load_manifest
from cass_ray.dataset.row import Reason
from cass_ray.emulator.build import runtime_library
from cass_ray.emulator.execution import RunOptions, execute
from cass_ray.execute.comparison.compare import compare
from cass_ray.execute.references import STORED_FOLDER, read_references
from cass_ray.lift import LiftedModule, LiftError, lift_listing, names_for_host
from cass_ray.toolchain.amd.toolchain import AmdOutput, AmdToolchain
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.nvidia.elf import Cubin
from cass_ray.toolchain.nvidia.toolchain import NvidiaToolchain
from cass_ray.toolchain.sandbox.process import Completed
from cass_ray.toolchain.unit import CompileFailure, Unit
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.project.program import translated
from cass_ray.translate.protocol import TranslatorError
from cass_ray.whole_file import write_whole

T = TypeVar("T")

_OPTIMIZATION = "-O3"
_PATIENCE = 4.0
"""Time for the lifted program against the reference's: the machine may be busier by then."""
_SHARED_FOLDERS = ("Common", "common", "common/inc", "include", "inc")
"""At the top of a checkout: headers that its programs share."""


@dataclass(frozen=True)
class LiftingRow:
    """One program on one architecture. ``state`` is the furthest step that it reached."""

    program: str
    architecture: str
    state: str
    """left out, not lifted, not assembled, does not run, differs, numeric, exact."""
    detail: str = ""
    sass_instructions: int = 0
    kernels: int = 0
    lift_seconds: float = 0.0
    llvm_seconds: float = 0.0
    executed: int = 0
    executed_by_clang: int = 0
    runs: int = 0


@dataclass(frozen=True)
class LiftedProgram:
    """What to build and run; ``expected`` is stored output by arguments, empty where none is."""

    name: str
    unit: Unit
    arguments: tuple[tuple[str, ...], ...] = ((),)
    expected: tuple[tuple[tuple[str, ...], bytes], ...] = ()


@dataclass(frozen=True)
class LiftingRun:
    """Tools, limits and the cache of compilations."""

    amd: AmdToolchain
    nvidia: NvidiaToolchain
    runtime: Path
    options: RunOptions
    cache: Path
    target: str = DEFAULT_AMD_ARCHITECTURE
    """The AMD processor."""
    outputs: Path | None = None
    """Where to keep what programs print."""

    def cubins(self, program: LiftedProgram, architectures: tuple[str, ...]) -> dict[str, bytes]:
        """nvcc's cubin for each architecture. Raises :class:`CompileFailure`."""
        key = self._key(program, self.nvidia.fingerprint, *architectures)

        def make() -> dict[str, bytes]:
            found, message = compile_unit(self.nvidia, program.unit, list(architectures))
            if not found:
                raise CompileFailure(Reason.COMPILE_ERROR, message, "nvcc")
            return found

        return self.cached(key, make)

    def host(self, program: LiftedProgram) -> AmdOutput:
        """clang's output for the translated program. Raises CompileFailure, TranslatorError."""

        def make() -> AmdOutput:
            sources = translated(gather(program.unit), make_translator())
            with tempfile.TemporaryDirectory() as folder:
                unit = sources.write(Path(folder))
                return self.amd.compile(unit, self.target, optimization=_OPTIMIZATION)

        parts = [self.amd.fingerprint, make_translator().version]
        if self.target != DEFAULT_AMD_ARCHITECTURE:
            parts.append(self.target)
        return self.cached(self._key(program, *parts), make)

    def link(self, host: AmdOutput, device_assembly: str) -> Path:
        """The executable of the host with this device code."""
        host = replace(host, host_assembly=with_fixed_time(host.host_assembly))
        target = self.cache / digest([host.host_assembly, device_assembly, str(self.runtime)])
        if not target.exists():
            part = target.with_suffix(f".part{time.monotonic_ns()}")
            self.amd.recombine(
                host.host_assembly,
                device_assembly,
                part,
                architecture=self.target,
                runtime_library=self.runtime,
            )
            part.replace(target)
        return target

    def run(
        self, executable: Path, arguments: tuple[str, ...], patience: float = 1.0
    ) -> tuple[Completed, int]:
        """The program's end and the RDNA3 instructions that its waves executed.

        ``patience`` multiplies the time limit.
        """
        with tempfile.TemporaryDirectory() as folder:
            counters = Path(folder) / "counters.json"
            seconds = patience * self.options.seconds
            options = replace(self.options, counters=counters, seconds=seconds)
            done = execute(executable, arguments, self.runtime, options)
            text = counters.read_text() if counters.exists() else "{}"
        kernels = json.loads(text).get("kernels", [])
        return done, sum(kernel["instructions"] for kernel in kernels)

    def _key(self, program: LiftedProgram, *more: str) -> str:
        return digest([gather(program.unit).digest, program.name, *more])

    def cached(self, key: str, make: Callable[[], T]) -> T:
        """What ``make`` makes, from the disk if it has been made before."""
        path = self.cache / f"{key}.pickle"
        if not path.exists():
            made = make()
            part = path.with_suffix(f".part{time.monotonic_ns()}")
            part.write_bytes(pickle.dumps(made))
            part.replace(path)
        kept: T = pickle.loads(path.read_bytes())
        return kept


_CALL_OF_TIME = re.compile(r"^(\s*(?:call|jmp)q?\s+)time@PLT", re.MULTILINE)
_FIXED_TIME = """
\t.text
cass_fixed_time:
\tmovl\t$1000000000, %eax
\ttestq\t%rdi, %rdi
\tje\t.Lcass_fixed_time
\tmovq\t%rax, (%rdi)
.Lcass_fixed_time:
\tret
"""


def with_fixed_time(host_assembly: str) -> str:
    """Host assembly whose ``time()`` stands still: many programs seed their inputs with it."""
    changed, count = _CALL_OF_TIME.subn(r"\1cass_fixed_time", host_assembly)
    return changed + _FIXED_TIME if count else host_assembly


@dataclass(frozen=True)
class Reference:
    """Expected output by arguments, and instructions that clang's build executes."""

    outputs: tuple[tuple[tuple[str, ...], tuple[bytes, ...]], ...]
    """Of one run, or of two where they differ (times, addresses)."""
    executed: int


_OF_LIBRARIES = re.compile(r"\.amdhsa_kernel _ZN(?:7rocprim|6hipcub|6thrust)")
"""Such programs are for ``cass run-binary``, which keeps the host with Nvidia's libraries in it."""


class LeftOut(Exception):
    """A program that cannot be compared; the message says why."""


def reference(bench: LiftingRun, program: LiftedProgram, host: AmdOutput) -> Reference:
    """Stored output, else that of two runs of clang's build; kept for the next measurement.

    Raises :class:`LeftOut`.
    """
    texts = with_fixed_time(host.host_assembly), host.device_assembly
    key = digest([*texts, repr(program.arguments)])
    return bench.cached(key, lambda: _measured_reference(bench, program, host))


def _measured_reference(bench: LiftingRun, program: LiftedProgram, host: AmdOutput) -> Reference:
    executable = bench.link(host, host.device_assembly)
    outputs: list[tuple[tuple[str, ...], tuple[bytes, ...]]] = []
    total = 0
    stored = dict(program.expected)
    for arguments in program.arguments:
        done, executed = bench.run(executable, arguments)
        total += executed
        if arguments in stored:
            outputs.append((arguments, (stored[arguments],)))
            continue
        if not done.ok:
            raise LeftOut(f"clang's build ends with {done.outcome.value} {done.returncode}")
        again = bench.run(executable, arguments)[0]
        both = dict.fromkeys(_anonymous(each.stdout, executable) for each in (done, again))
        outputs.append((arguments, tuple(both)))
    if not total:
        raise LeftOut("no kernel runs")
    return Reference(tuple(outputs), total)


def _anonymous(output: bytes, executable: Path) -> bytes:
    """Without the program's own path, which some print."""
    return output.replace(str(executable.resolve()).encode(), b"program")


def measure(
    bench: LiftingRun, program: LiftedProgram, architectures: tuple[str, ...]
) -> Iterator[LiftingRow]:
    try:
        cubins = bench.cubins(program, architectures)
        host = bench.host(program)
        if _OF_LIBRARIES.search(host.device_assembly):
            raise LeftOut("its host launches kernels of AMD's libraries, which no cubin has")
        expected = reference(bench, program, host)
    except (CompileFailure, TranslatorError, LeftOut) as error:
        text = error.diagnostic if isinstance(error, CompileFailure) else str(error)
        for architecture in architectures:
            yield LiftingRow(program.name, architecture, "left out", text.strip()[-200:])
        return
    printed = Printed.of(program.name, program.unit, expected.outputs)
    for architecture in architectures:
        row = LiftingRow(program.name, architecture, "", executed_by_clang=expected.executed)
        try:
            yield _one(bench, program, host, expected, cubins[architecture], row, printed)
        except Exception as error:  # a fault of the lifter is a row, not the end
            yield replace(row, state="not lifted", detail=f"fault: {error!r}"[:300])
    if bench.outputs:
        printed.write(bench.outputs)


def _one(
    bench: LiftingRun,
    program: LiftedProgram,
    host: AmdOutput,
    expected: Reference,
    cubin: bytes,
    row: LiftingRow,
    printed: Printed,
) -> LiftingRow:
    names = names_for_host(Cubin.parse(cubin), host.device_assembly)
    listing = bench.nvidia.disassemble([cubin])[0]
    try:
        lifted: LiftedModule = lift_listing(cubin, listing, bench.amd, bench.target, names=names)
    except LiftError as error:
        return replace(row, state="not lifted", detail=str(error)[:300])
    row = replace(
        row,
        sass_instructions=sum(lifted.instructions.values()),
        kernels=len(lifted.kernels),
        lift_seconds=round(lifted.lift_seconds, 3),
        llvm_seconds=round(lifted.llvm_seconds, 3),
    )
    try:
        executable = bench.link(host, lifted.assembly)
    except CompileFailure as failure:
        return replace(row, state="not assembled", detail=failure.diagnostic[-300:])
    worst, total = "exact", 0
    detail = ""
    for arguments, outputs in expected.outputs:
        done, executed = bench.run(executable, arguments, _PATIENCE)
        total += executed
        found = _anonymous(done.stdout, executable)
        printed.add(row.architecture, found)
        state, said = judge(done, found, outputs)
        if _ORDER.index(state) > _ORDER.index(worst):
            worst, detail = state, f"{' '.join(arguments)}: {said}"
    return replace(
        row, state=worst, detail=detail[:300], executed=total, runs=len(expected.outputs)
    )


_ORDER = ("exact", "numeric", "differs", "does not run")


def judge(done: Completed, found: bytes, outputs: tuple[bytes, ...]) -> tuple[str, str]:
    """State and detail of one run; what varies between the reference's own runs is left out."""
    if not done.ok and not done.stdout:
        return "does not run", f"{done.outcome.value} {done.stderr_text[-200:]}"
    state, said = judge_text(found, outputs)
    if state == "differs" or not done.ok:
        return "differs", f"{done.outcome.value} {done.returncode}: {said}"
    return state, said


def judge_text(found: bytes, outputs: tuple[bytes, ...]) -> tuple[str, str]:
    """``exact``, ``numeric`` or ``differs``, and what differs."""
    if found in outputs:
        return "exact", ""
    if any(_same_lines(found, output) for output in outputs):
        return "exact", "but for the order of lines, which concurrent blocks do not have"
    verdict = compare(list(outputs), found)
    if verdict.numeric:
        varies = len(outputs) > 1 and verdict.max_error == 0.0
        return ("exact", "but for what varies") if varies else ("numeric", verdict.difference)
    return "differs", verdict.difference


def _same_lines(left: bytes, right: bytes) -> bool:
    return sorted(left.splitlines()) == sorted(right.splitlines())


def shipped(names: list[str], every_argument: bool) -> Iterator[LiftedProgram]:
    """The shipped corpus with the output that is stored for it."""
    stored = {}
    for path in sorted(STORED_FOLDER.glob("*.json")):
        for program in read_references(path).programs:
            stored[program.path] = program.nvidia.runs
    for entry in load_manifest():
        if names and not any(name in entry.path for name in names):
            continue
        parts = entry.path.split("/")
        unit = Unit(SHIPPED_ROOT.joinpath(*parts[:2]), PurePosixPath(*parts[2:]))
        lists = tuple(tuple(arguments) for arguments in entry.arguments)
        expected = tuple(
            (tuple(run.arguments), run.stdout.encode())
            for run in stored.get(entry.path, [])
            if run.status == 0 and not run.other_stdout
        )
        yield LiftedProgram(entry.path, unit, lists if every_argument else lists[:1], expected)


def of_folder(folder: Path, names: list[str]) -> Iterator[LiftedProgram]:
    """Every program below a folder, with its own folders as include folders."""
    root = folder.resolve()
    for path in candidates(root):
        if not names or any(name in str(path) for name in names):
            top = PurePosixPath(path.parts[0])
            shared = (top / name for name in _SHARED_FOLDERS)
            includes = [path.parent, *shared]
            existing = tuple(dict.fromkeys(each for each in includes if (root / each).is_dir()))
            yield LiftedProgram(str(path), Unit(root, path, existing))


def main() -> None:
    """Measure, and write the rows after every program."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("source", help="shipped, or a folder")
    parser.add_argument("names", nargs="*", help="parts of program names; all if none")
    parser.add_argument("--sm", action="append", help="80, 89, 90; all three by default")
    parser.add_argument("--amd", default=DEFAULT_AMD_ARCHITECTURE, help="AMD processor")
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--every-argument", action="store_true", help="all argument lists")
    parser.add_argument("--seconds", type=float, default=120.0, help="time limit of a run")
    parser.add_argument("--minutes", type=float, default=600.0, help="when to stop")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--part", type=part, default=(0, 1), metavar="I/N", help="of the programs")
    parser.add_argument("--outputs", type=Path, metavar="FOLDER", help="for what is printed")
    options = parser.parse_args()
    architectures = tuple(f"sm_{number}" for number in options.sm or ("80", "89", "90"))
    cache = default_directory() / "lift-benchmark"
    cache.mkdir(parents=True, exist_ok=True)
    limits = RunOptions(seconds=options.seconds, devices=(options.amd,))
    bench = LiftingRun(
        *(find_amd(), find_nvidia(), runtime_library(), limits, cache, options.amd),
        outputs=options.outputs,
    )
    rows: list[LiftingRow] = []
    if options.resume and options.json.exists():
        rows = [LiftingRow(**row) for row in json.loads(options.json.read_text())["rows"]]
    known = {row.program for row in rows}
    if options.source == "shipped":
        programs = shipped(options.names, options.every_argument)
    else:
        programs = of_folder(Path(options.source), options.names)
    programs = itertools.islice(programs, options.part[0], None, options.part[1])
    started = time.monotonic()

    def one(program: LiftedProgram) -> list[LiftingRow]:
        if time.monotonic() - started > 60 * options.minutes:
            return []
        return list(measure(bench, program, architectures))

    with ThreadPoolExecutor(options.jobs) as pool:
        for made in pool.map(one, [p for p in programs if p.name not in known]):
            rows += made
            for row in made:
                ratio = row.executed / row.executed_by_clang if row.executed else 0.0
                print(
                    f"{row.state:12} {row.architecture} {row.program:50} {row.sass_instructions:6}"
                    f" {row.lift_seconds:6.2f} {row.llvm_seconds:6.2f} x{ratio:.2f}"
                    f" {' '.join(row.detail.split())[:160]}",
                    flush=True,
                )
            content = {"command": " ".join(sys.argv[1:]), "rows": [asdict(row) for row in rows]}
            write_whole(options.json, (json.dumps(content, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
