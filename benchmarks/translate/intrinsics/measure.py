"""Both ways of one program: nvcc and the lifter, and the translation and clang."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from benchmarks.translate.intrinsics.declarations import Declaration
from benchmarks.translate.intrinsics.kinds import ROWS, SLOT, Kind, rows, unpack
from benchmarks.translate.intrinsics.programs import (
    Program,
    asked_of,
    kinds_of,
    number_at,
    program,
    results_of,
    without,
)
from cass_ray.architectures import DEFAULT_AMD_ARCHITECTURE
from cass_ray.corpus.reading.source_files import Sources
from cass_ray.emulator.build import runtime_library
from cass_ray.emulator.execution import RunOptions, execute
from cass_ray.lift import lift_cubin, names_for_host
from cass_ray.toolchain.amd.toolchain import AmdOutput, code_flags
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.nvidia.elf import Cubin
from cass_ray.toolchain.sandbox.process import Limits
from cass_ray.toolchain.sandbox.process import run as run_process
from cass_ray.toolchain.unit import CompileFailure, Unit
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.project.program import translate_program
from cass_ray.translate.protocol import Finding

MAIN = "functions.cu"
_NVCC_ERROR = re.compile(rf"{MAIN}\((\d+)\): error")
_CLANG_ERROR = re.compile(rf"{MAIN}:(\d+):\d+: (error|note): ([^\n]*)")
_LIMITS = Limits(cpu_seconds=600.0, wall_seconds=900.0)


@dataclass(frozen=True)
class Difference:
    """How the results of two sides differ, in ``rows`` of all.

    ``wrong`` rows have another integer, or a NaN on one side alone; ``steps`` is the distance of
    the farthest other numbers. ``example`` is the worst row.
    """

    rows: int
    wrong: int
    steps: int
    example: str


@dataclass
class Outcome:
    """What became of one function."""

    function: Declaration
    not_by_nvcc: bool = False
    not_lifted: str = ""
    not_by_clang: str = ""
    findings: tuple[Finding, ...] = ()
    difference: Difference | None = None
    did_not_run: str = ""


@dataclass
class Sides:
    """The CUDA source and its translation, as far as the compilers take them."""

    made: Program
    cuda: str
    hip: str
    outcomes: list[Outcome]
    folder: Path
    remaining: set[int] = field(default_factory=set)


def measure(functions: tuple[Declaration, ...], architecture: str) -> Iterator[Outcome]:
    """What became of each of ``functions``, all in one program."""
    with tempfile.TemporaryDirectory() as name:
        sides = _translated(program(functions), Path(name))
        cubin = _by_nvcc(sides, architecture)
        _checked_by_clang(sides, "device")
        host = _by_clang(sides)
        _run_both(sides, host, cubin)
        yield from sides.outcomes


def _translated(made: Program, folder: Path) -> Sides:
    sources = Sources(PurePosixPath(MAIN), {MAIN: made.source.encode()})
    translation = translate_program(sources, make_translator("rules"))
    outcomes = [Outcome(function) for function in made.functions]
    for finding in translation.findings:
        number = number_at(made.source, finding.line)
        if number is not None:
            outcomes[number].findings += (finding,)
    hip = translation.sources.files[MAIN].decode()
    (folder / "inputs").mkdir()
    for name, data in made.inputs.items():
        (folder / "inputs" / name).write_bytes(data)
    return Sides(made, made.source, hip, outcomes, folder, set(range(len(outcomes))))


def _by_nvcc(sides: Sides, architecture: str) -> bytes:
    """The cubin, without the functions that nvcc refuses."""
    while True:
        root = sides.folder / "cuda"
        root.mkdir(exist_ok=True)
        (root / MAIN).write_text(sides.cuda)
        unit = Unit(root, PurePosixPath(MAIN))
        try:
            made = find_nvidia().compile(unit, [architecture], limits=_LIMITS)
        except CompileFailure as failure:
            message = failure.diagnostic
        else:
            return made.cubins[architecture]
        lines = {int(line) for line in _NVCC_ERROR.findall(message)}
        refused = {number_at(sides.cuda, line) for line in lines} - {None}
        refused &= sides.remaining
        if not refused:
            raise RuntimeError(message)
        for number in refused:
            assert number is not None
            sides.outcomes[number].not_by_nvcc = True
        _drop(sides, refused)


def _drop(sides: Sides, numbers: set[int | None]) -> None:
    gone = [number for number in numbers if number is not None]
    sides.cuda, sides.hip = without(sides.cuda, gone), without(sides.hip, gone)
    sides.remaining -= set(gone)


def _checked_by_clang(sides: Sides, side: str) -> None:
    """Leave the functions out whose calls clang refuses, against HIP's own headers alone."""
    amd = find_amd()
    (sides.folder / MAIN).write_text(sides.hip)
    flags = code_flags(DEFAULT_AMD_ARCHITECTURE, "-O1")
    command: list[str | Path] = [amd.clang, *flags, f"--cuda-{side}-only", "-fsyntax-only", "-w"]
    command += ["-ferror-limit=0", f"--rocm-path={amd.rocm_path}", MAIN]
    done = run_process(command, cwd=sides.folder, limits=_LIMITS)
    refused: dict[int, str] = {}
    said = ""
    for match in _CLANG_ERROR.finditer(done.stderr_text):
        said = match[3] if match[2] == "error" else said
        number = number_at(sides.hip, int(match[1]))
        if number is not None and said:
            refused.setdefault(number, said)
    if not done.ok and not refused:
        raise RuntimeError(done.stderr_text[:4000])
    for number, message in refused.items():
        sides.outcomes[number].not_by_clang = message
    _drop(sides, set(refused))


def _by_clang(sides: Sides) -> AmdOutput:
    root = sides.folder / "hip"
    root.mkdir()
    unit = Unit(root, PurePosixPath(MAIN))
    for _ in range(2):
        (root / MAIN).write_text(sides.hip)
        try:
            return find_amd().compile(
                unit, DEFAULT_AMD_ARCHITECTURE, optimization="-O3", limits=_LIMITS
            )
        except CompileFailure:
            _checked_by_clang(sides, "host")
    raise RuntimeError("clang refuses what it has taken")


def _run_both(sides: Sides, host: AmdOutput, cubin: bytes) -> None:
    names = names_for_host(Cubin.parse(cubin), host.device_assembly)
    lifted = lift_cubin(cubin, DEFAULT_AMD_ARCHITECTURE, names=names, partial=True)
    for kernel, error in lifted.failures.items():
        match = re.search(r"k(\d+)", kernel)
        if match:
            sides.outcomes[int(match[1])].not_lifted = str(error)
            sides.remaining.discard(int(match[1]))
    ours = _results(sides, "clang", host.host_assembly, host.device_assembly)
    theirs = _results(sides, "lifted", host.host_assembly, lifted.assembly)
    for number in sorted(sides.remaining):
        outcome = sides.outcomes[number]
        if number not in ours or number not in theirs:
            outcome.did_not_run = "clang's" if number not in ours else "the lifted one"
            continue
        outcome.difference = difference(outcome.function, theirs[number], ours[number])


def _results(sides: Sides, name: str, host: str, device: str) -> dict[int, bytes]:
    """What each function gave, by number."""
    library, executable = runtime_library(), sides.folder / name
    find_amd().recombine(
        host, device, executable, architecture=DEFAULT_AMD_ARCHITECTURE, runtime_library=library
    )
    options = RunOptions(seconds=600, inputs=sides.folder / "inputs")
    numbers = sorted(sides.remaining)
    sizes = [ROWS * SLOT * len(results_of(sides.outcomes[number].function)) for number in numbers]
    done = execute(executable, [str(number) for number in numbers], library, options)
    if not done.ok:
        raise RuntimeError(f"{name}: {done.outcome} {done.returncode} {done.stderr_text[-2000:]}")
    found, place = {}, 0
    for number, size in zip(numbers, sizes, strict=True):
        found[number] = done.stdout[place : place + size]
        place += size
    assert place == len(done.stdout)
    return found


def difference(function: Declaration, theirs: bytes, ours: bytes) -> Difference | None:
    """How the results differ; NaNs are one value unless they are what is asked for."""
    kinds = kinds_of(results_of(function))
    found: dict[int, int | None] = {}
    for row in range(ROWS):
        apart: list[int | None] = []
        for place, parts in enumerate(kinds):
            start = (row * len(kinds) + place) * SLOT
            left = unpack(parts, theirs[start : start + SLOT])
            right = unpack(parts, ours[start : start + SLOT])
            apart += [
                _distance(kind, one, other, "_as_" in function.name)
                for kind, one, other in zip(parts, left, right, strict=True)
                if one != other and not (kind.is_nan(one) and kind.is_nan(other))
            ]
        if apart:
            found[row] = None if None in apart else max(each or 0 for each in apart)
    if not found:
        return None
    steps = max((each for each in found.values() if each is not None), default=0)
    worst = max(found, key=lambda row: (found[row] is None, found[row] or 0))
    wrong = sum(each is None for each in found.values())
    return Difference(len(found), wrong, steps, _example(function, kinds, worst, theirs, ours))


def _distance(kind: Kind, one: int, other: int, of_bits: bool) -> int | None:
    """How many numbers apart; None where there is no such figure. Two zeros are 0 apart."""
    if not kind.exponent or of_bits or kind.is_nan(one) or kind.is_nan(other):
        return None
    return abs(kind.place(one) - kind.place(other))


def _example(
    function: Declaration, kinds: tuple[tuple[Kind, ...], ...], row: int, theirs: bytes, ours: bytes
) -> str:
    arguments = asked_of(function)
    asked = _shown(arguments, rows(arguments)[row])
    start, width = row * len(kinds) * SLOT, len(kinds) * SLOT
    sides = []
    for data in (theirs, ours):
        words = [
            unpack(parts, data[start + SLOT * place : start + width])
            for place, parts in enumerate(kinds)
        ]
        sides.append(_shown(kinds, tuple(words)))
    return f"({asked}): {sides[0]}, not {sides[1]}"


def _shown(kinds: tuple[tuple[Kind, ...], ...], words: tuple[tuple[int, ...], ...]) -> str:
    return ", ".join(
        ":".join(f"{word:0{kind.bits // 4}x}" for kind, word in zip(parts, each, strict=True))
        for parts, each in zip(kinds, words, strict=True)
    )
