"""The baseline: aligned pairs the way the CASS paper makes them.

For every program and every architecture a run of ``nvcc`` for the host assembly (``-Xcompiler
-S,-Os``), another for the cubin, and ``cuobjdump -sass``; HIPIFY as a process for every file; then
clang for the host and again for the device, without precompiled headers. A pool of threads keeps
one subprocess per core going. The device flag stays at nvcc's default, as in the paper.

It is given what we have: the same programs (already filtered and deduplicated), the same HIP
headers with the same forced header, the same language flags, no sandbox to pay for. Only the way
of working differs, so the same programs should pair.

``python -m benchmarks.pipeline.paper_way PLAN.json RESULT.json`` runs it; ``PaperPlan`` is what it
reads.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from cass_ray.assembly.align import align_kernels

_SECONDS = 180
"""Wall-clock limit of one subprocess, that of the pipeline's settings."""

_HEADERS = frozenset({".cu", ".cuh", ".h", ".hh", ".hpp", ".hxx", ".inc", ".inl"})


class PaperProgram(BaseModel):
    """One program: its unpacked tree, and the main file and include folders relative to it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    root: Path
    main: str
    include_directories: list[str] = []


class PaperPlan(BaseModel):
    """What to compile with what. ``hipify`` is a command that takes a file and prints HIP."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    programs: list[PaperProgram]
    architectures: list[str]
    amd_architecture: str
    nvcc: Path
    nvcc_flags: list[str]
    cuobjdump: Path
    clang: Path
    clang_flags: list[str]
    hipify: list[str]
    work: Path
    threads: int


class PaperOutcome(BaseModel):
    """What became of one program; ``failed`` names the step, empty for a kept pair."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    failed: str = ""
    message: str = ""

    @property
    def kept(self) -> bool:
        """Whether the program became an aligned pair."""
        return not self.failed


class PaperResult(BaseModel):
    """Every program's outcome, in the plan's order."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    outcomes: list[PaperOutcome]

    @property
    def kept(self) -> list[str]:
        """The programs that became pairs."""
        return [outcome.id for outcome in self.outcomes if outcome.kept]


class StepFailedError(Exception):
    """A tool refused a program."""

    def __init__(self, step: str, message: str) -> None:
        super().__init__(step, message)
        self.step = step
        self.message = message


def run(plan: PaperPlan) -> PaperResult:
    """Translate, compile and align every program of ``plan``."""
    roots = sorted({program.root for program in plan.programs})
    with ThreadPoolExecutor(plan.threads) as pool:
        translated = dict(zip(roots, _numbered(plan.work / "hip", roots), strict=True))
        list(pool.map(lambda root: _hipify(plan, root, translated[root]), roots))
        folders = _numbered(plan.work / "output", plan.programs)
        outcomes = pool.map(
            lambda program, folder: _program(plan, program, translated[program.root], folder),
            plan.programs,
            folders,
        )
        return PaperResult(outcomes=list(outcomes))


def _numbered(folder: Path, items: Sequence[object]) -> list[Path]:
    return [folder / f"{number:05}" for number in range(len(items))]


def _hipify(plan: PaperPlan, root: Path, target: Path) -> None:
    """A HIP copy of the tree at ``root``: one process for each source file.

    A file that HIPIFY fails on stays as it is; compiling it then fails.
    """
    shutil.copytree(root, target)
    for path in sorted(target.rglob("*")):
        if path.suffix in _HEADERS and path.is_file():
            done = _execute([*plan.hipify, str(path)], cwd=target)
            if done.returncode == 0:
                path.write_bytes(done.stdout)


def _program(plan: PaperPlan, program: PaperProgram, hip_root: Path, folder: Path) -> PaperOutcome:
    folder.mkdir(parents=True)
    try:
        sass = [_nvidia(plan, program, arch, folder) for arch in plan.architectures]
        _clang(plan, program, hip_root, "--cuda-host-only", folder / "hip.host.s")
        device = _clang(plan, program, hip_root, "--cuda-device-only", folder / "hip.device.s")
        alignment = align_kernels(sass[0], device)
    except StepFailedError as error:
        return PaperOutcome(id=program.id, failed=error.step, message=error.message[-2000:])
    if not alignment.common or alignment.kernels_differ:
        return PaperOutcome(id=program.id, failed="align", message=str(alignment)[:2000])
    return PaperOutcome(id=program.id)


def _nvidia(plan: PaperPlan, program: PaperProgram, architecture: str, folder: Path) -> str:
    """Host assembly and cubin by separate runs of nvcc; returns the SASS."""
    cubin = folder / f"{architecture}.cubin"
    common = [str(plan.nvcc), f"-arch={architecture}", *plan.nvcc_flags, *_includes(program)]
    host = ["-Xcompiler", "-S,-Os", "-c", "-o", str(folder / f"{architecture}.host.s")]
    _step("nvcc (host)", [*common, *host, program.main], program.root)
    device = ["-Xcompiler", "-Os", "-cubin", "-o", str(cubin)]
    _step("nvcc (device)", [*common, *device, program.main], program.root)
    listing = _step("cuobjdump", [str(plan.cuobjdump), "-sass", str(cubin)], program.root)
    (folder / f"{architecture}.sass").write_text(listing)
    return listing


def _clang(plan: PaperPlan, program: PaperProgram, root: Path, side: str, output: Path) -> str:
    command = [str(plan.clang), *plan.clang_flags, side, *_includes(program)]
    _step(f"clang ({side})", [*command, "-S", "-o", str(output), program.main], root)
    return output.read_text(errors="replace")


def _includes(program: PaperProgram) -> list[str]:
    return [f"-I{directory}" for directory in program.include_directories]


def _step(name: str, command: list[str], cwd: Path) -> str:
    """Standard output of ``command``; raises :class:`StepFailedError`."""
    try:
        done = _execute(command, cwd)
    except subprocess.TimeoutExpired as error:
        raise StepFailedError(name, f"over {_SECONDS} s") from error
    if done.returncode != 0:
        raise StepFailedError(name, (done.stderr or done.stdout).decode(errors="replace"))
    return done.stdout.decode(errors="replace")


def _execute(command: list[str], cwd: Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command, cwd=cwd, capture_output=True, timeout=_SECONDS, check=False)


def main(plan: Path, result: Path) -> None:
    """Run the plan in the file ``plan`` and write ``result``."""
    outcome = run(PaperPlan.model_validate_json(plan.read_text()))
    result.write_text(outcome.model_dump_json(indent=2))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
