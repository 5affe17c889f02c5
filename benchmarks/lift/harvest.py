"""Public programs, compiled for each architecture, their forms counted and their kernels lifted.

``python -m benchmarks.lift.harvest OUT.jsonl ROOT FILE ... [--sm 75 --sm 90]`` takes the files
``ROOT/FOLDER/PATH.cu`` (``FILE`` is ``FOLDER/PATH.cu``, a repository to a folder). Each is compiled
natively for each architecture, with nvcc's front end for it: code for one alone (``__CUDA_ARCH__``)
counts. Forms are counted by evidence, and each kernel is lifted on its own and made assembly of
gfx1100 by LLVM. A line of ``OUT.jsonl`` is a file for an architecture; a second run continues, and
``--part 2/8`` takes every eighth file from the third on. :mod:`benchmarks.lift.harvest_lists`
writes commands for many processors, and :mod:`benchmarks.lift.harvest_report` joins the rows.
"""

from __future__ import annotations

import argparse
import itertools
import json
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path, PurePosixPath
from types import FrameType
from typing import Any

from benchmarks.lift.cubins import Ways, compile_unit
from benchmarks.lift.parts import part
from cass_ray.architectures import DEFAULT_AMD_ARCHITECTURE
from cass_ray.assembly import sass
from cass_ray.lift.errors import LiftError
from cass_ray.lift.form_evidence import FormEvidence, form_evidence, forms_in
from cass_ray.lift.llvm import emit
from cass_ray.lift.lowering.target import lift_target
from cass_ray.lift.module import ModuleBuilder
from cass_ray.toolchain.amd.toolchain import AmdToolchain
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.nvidia.elf import Cubin
from cass_ray.toolchain.nvidia.toolchain import NvidiaToolchain
from cass_ray.toolchain.sandbox.process import COMPILE_LIMITS
from cass_ray.toolchain.unit import Unit

ARCHITECTURES = ("75", "80", "86", "87", "89", "90", "100", "103", "110", "120")
LIFT_SECONDS = 60
"""CPU time for the lifter's part of one kernel, and as much for LLVM's."""
NATIVELY = Ways(native=True, limits=replace(COMPILE_LIMITS, cpu_seconds=300.0, wall_seconds=600.0))
_LLVM = replace(COMPILE_LIMITS, cpu_seconds=LIFT_SECONDS, wall_seconds=2 * LIFT_SECONDS)
_SHARED_FOLDERS = frozenset({"common", "inc", "include", "src", "utils"})
_DEEPEST_SHARED, _MOST_SHARED = 4, 40
_TIME_OUT = "time-out"


@dataclass(frozen=True)
class KernelRow:
    """One kernel: ``state`` is lifted, refused, failed (a fault of the lifter) or time-out."""

    name: str
    state: str
    detail: str = ""
    sass_instructions: int = 0
    """Of the kernel alone, as the disassembler lists them."""
    lifted_instructions: int = 0
    """With its subroutines, their copies counted each time."""
    lift_seconds: float = 0.0
    llvm_seconds: float = 0.0


@dataclass(frozen=True)
class CubinRow:
    """One file for one architecture: ``state`` is compiled, refused (by nvcc) or failed."""

    file: str
    architecture: str
    state: str
    detail: str = ""
    functions: int = 0
    instructions: int = 0
    reading_seconds: float = 0.0
    """CPU time to read the listing, once for all kernels."""
    forms: dict[str, int] = field(default_factory=dict)
    standings: dict[str, int] = field(default_factory=dict)
    """Instructions by what was known of their forms when they were counted."""
    kernels: list[KernelRow] = field(default_factory=list)


class _OutOfTime(BaseException):
    """No ``Exception``, which the lifter takes for a fault of its own."""


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    """Raise :class:`_OutOfTime` after this much CPU time of the process."""

    def end(_number: int, _frame: FrameType | None) -> None:
        raise _OutOfTime

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def include_folders(root: Path, path: PurePosixPath) -> tuple[PurePosixPath, ...]:
    """Folders of a file and above it, then those of the repository that hold shared headers."""
    shared = [
        PurePosixPath(folder.relative_to(root))
        for depth in range(1, _DEEPEST_SHARED + 1)
        for folder in sorted(root.glob("/".join("*" * depth)))
        if folder.name.lower() in _SHARED_FOLDERS and folder.is_dir()
    ]
    return tuple(dict.fromkeys([*path.parents, *shared[:_MOST_SHARED]]))


def lift_kernel(
    builder: ModuleBuilder, amd: AmdToolchain, name: str, own_instructions: int
) -> KernelRow:
    """Lift one kernel alone and make assembly of it; whatever happens is a row."""
    row = KernelRow(name, "lifted", sass_instructions=own_instructions)
    began = time.thread_time()
    try:
        with _within(LIFT_SECONDS):
            kernel = builder.lift(name)
        row = replace(
            row,
            lift_seconds=round(time.thread_time() - began, 4),
            lifted_instructions=kernel.instructions,
        )
        text = builder.module({name: kernel}, {}).text
        _, seconds = emit.assembly(amd, text, DEFAULT_AMD_ARCHITECTURE, _LLVM)
    except _OutOfTime:
        return replace(row, state=_TIME_OUT, detail="lifter", lift_seconds=float(LIFT_SECONDS))
    except LiftError as error:
        late = emit.ENDED in str(error)
        return replace(row, state=_TIME_OUT if late else "refused", detail=str(error)[:400])
    except Exception as error:  # a fault of the lifter is a row, not the end
        return replace(row, state="failed", detail=f"{type(error).__name__}: {error}"[:400])
    return replace(row, llvm_seconds=round(seconds, 4))


def measure_cubin(
    toolchain: NvidiaToolchain, amd: AmdToolchain, row: CubinRow, cubin: bytes
) -> CubinRow:
    """``row`` with forms and kernels. Raises :class:`LiftError` for the whole cubin."""
    listing = toolchain.disassemble([cubin])[0]
    functions = sass.parse(listing).functions
    forms = forms_in(functions)
    known: Counter[FormEvidence] = Counter()
    for form, count in forms.items():
        known[form_evidence(form)] += count
    row = replace(
        row,
        functions=len(functions),
        instructions=forms.total(),
        forms=dict(sorted(forms.items())),
        standings={each.value: known[each] for each in FormEvidence},
    )
    own = {function.name: len(function.instructions) for function in functions}
    kernels = [function.name for function in functions if function.is_kernel]
    began = time.thread_time()
    try:
        builder = ModuleBuilder(
            Cubin.parse(cubin), listing, target=lift_target(DEFAULT_AMD_ARCHITECTURE)
        )
    except Exception as error:
        state = "refused" if isinstance(error, LiftError) else "failed"
        detail = f"whole cubin: {error}"[:400]
        return replace(row, kernels=[KernelRow(k, state, detail, own[k]) for k in kernels])
    reading = round(time.thread_time() - began, 4)
    lifted = [lift_kernel(builder, amd, name, own.get(name, 0)) for name in builder.kernel_names]
    return replace(row, reading_seconds=reading, kernels=lifted)


def measure(root: Path, file: str, architecture: str) -> CubinRow:
    """The row of one file for one architecture; nothing is raised."""
    row = CubinRow(file, architecture, "compiled")
    folder, _, inner = file.partition("/")
    try:
        toolchain = find_nvidia()
        path = PurePosixPath(inner)
        unit = Unit((root / folder).resolve(), path, include_folders(root / folder, path))
        cubins, message = compile_unit(toolchain, unit, [f"sm_{architecture}"], NATIVELY)
        if not cubins:
            return replace(row, state="refused", detail=message[:600])
        return measure_cubin(toolchain, find_amd(), row, *cubins.values())
    except Exception as error:  # one bad file never stops the harvest
        return replace(row, state="failed", detail=f"{type(error).__name__}: {error}"[:600])


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a file that may have been cut off in its last line."""
    lines = path.read_text().splitlines() if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith("}")]


def harvest(
    out: Path,
    files: list[str],
    architectures: list[str],
    one: Callable[[str, str], CubinRow],
) -> None:
    """Append the rows that ``out`` lacks. What one architecture refuses is tried on the others."""
    kept = read_rows(out)
    out.write_text("".join(json.dumps(row) + "\n" for row in kept))  # without a cut last line
    known = {(row["file"], row["architecture"]) for row in kept}
    with out.open("a") as target:
        for file, architecture in itertools.product(files, architectures):
            if (file, architecture) not in known:
                target.write(json.dumps(asdict(one(file, architecture))) + "\n")
                target.flush()


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("root", type=Path)
    parser.add_argument("files", nargs="+", metavar="FOLDER/PATH.cu")
    parser.add_argument("--sm", action="append", help=f"by default {', '.join(ARCHITECTURES)}")
    parser.add_argument("--part", type=part, default=(0, 1), metavar="I/N", help="of the files")
    given = parser.parse_args()
    files = given.files[given.part[0] :: given.part[1]]
    given.out.parent.mkdir(parents=True, exist_ok=True)
    harvest(
        given.out,
        files,
        given.sm or list(ARCHITECTURES),
        lambda file, architecture: measure(given.root, file, architecture),
    )


if __name__ == "__main__":
    main()
