"""Measures what single units of projects cost, beside the paper's way with their own commands.

``python -m benchmarks.pipeline.heavy_units CLONE PATH… --out FILE.json`` compiles the units one
after the other, with a cache of compiled headers that is empty before the first; ``--table
FILE.json …`` prints a table of such files. The paper's way has the same units, options and
translated headers, and no seconds for its translation.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from cass_ray.architectures import DEFAULT_AMD_ARCHITECTURE, DEFAULT_NVIDIA_ARCHITECTURE
from cass_ray.pipeline.output import output_at
from cass_ray.pipeline.pieces.read import ReadPieces, pieces_of
from cass_ray.pipeline.pieces.work import BuildWork
from cass_ray.pipeline.row_units import unit_of
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.pipeline.stages.translate import TranslateStage
from cass_ray.pipeline.workspace import Workspace
from cass_ray.toolchain.amd.precompiled import CompilationSide
from cass_ray.toolchain.amd.toolchain import SHIM, AmdToolchain, code_flags, forced_header
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.nvidia.steps import SOURCE_TREE
from cass_ray.toolchain.nvidia.toolchain import WORK_FOLDER, NvidiaToolchain
from cass_ray.toolchain.sandbox.isolation import Mount, View, private_folder
from cass_ray.toolchain.sandbox.process import COMPILE_LIMITS, run
from cass_ray.toolchain.unit import CompileFailure, Unit
from cass_ray.translate.engines.registry import make_translator

Row = dict[str, Any]
_LIMITS = replace(COMPILE_LIMITS, cpu_seconds=600.0)


class UnitCost(BaseModel):
    """CPU seconds of one unit by tool; ``failed`` says what of it did not compile."""

    repository: str
    path: str
    ours: dict[str, float]
    paper: dict[str, float]
    failed: str = ""


def rows(clone: Path, folder: Path) -> tuple[list[Row], Workspace]:
    """The rows of the repository in ``clone``, read into ``folder``, and their trees."""
    settings = BuildSettings(
        sources=[f"repository:{clone}"], out=str(folder / "out"), fetch_dependencies=False
    )
    work = BuildWork(output_at(settings.out).store, settings)
    read: list[Row] = []
    for piece in pieces_of(settings, folder):
        ReadPieces(work, folder)(piece)
        entry = work.pieces.get(piece.key)
        assert entry is not None
        for name, part in sorted(entry.parts.items()):
            if name.startswith("rows-"):
                read += work.pieces.table(part).to_pylist()
    return read, Workspace(work.trees.get)


def costs(clone: Path, paths: Sequence[str], paper: bool) -> Iterator[UnitCost]:
    """Compile each unit of ``paths``; a row of CPU seconds for each, in their order."""
    translator = make_translator("rules")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        read, trees = rows(clone, folder)
        by_path = {row["path"]: row for row in read}
        nvidia = replace(find_nvidia(), cache=folder / "cache")
        amd = replace(find_amd(), cache=folder / "cache")
        for path in paths:
            before = _own_seconds()
            [row] = TranslateStage(translator, trees).run([by_path[path]])
            cuda, hip = unit_of(row, trees, None), unit_of(row, trees, translator)
            cost = UnitCost(repository=clone.name, path=path, ours={}, paper={})
            cost.ours["translation (Python)"] = _own_seconds() - before
            try:
                cost.ours.update(_ours(cuda, hip, nvidia, amd))
                if paper:
                    cost.paper.update(_paper(cuda, hip, nvidia, amd))
            except CompileFailure as failure:
                cost.failed = str(failure)[:300]
            yield cost


def _own_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _ours(cuda: Unit, hip: Unit, nvidia: NvidiaToolchain, amd: AmdToolchain) -> dict[str, float]:
    theirs = nvidia.compile(cuda, limits=_LIMITS)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    nvidia.disassemble(list(theirs.cubins.values()))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    listing = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    ported = amd.compile(hip, limits=_LIMITS)
    return {**theirs.cpu_seconds_by_tool, "nvdisasm": listing, **ported.cpu_seconds_by_tool}


def _paper(cuda: Unit, hip: Unit, nvidia: NvidiaToolchain, amd: AmdToolchain) -> dict[str, float]:
    """Raises ``CompileFailure`` where a command fails."""
    arch = f"-arch={DEFAULT_NVIDIA_ARCHITECTURE}"
    common: list[str | Path] = [
        nvidia.nvcc,
        *nvidia.flags("-Os", cuda.standard),
        arch,
        *cuda.nvcc_arguments(),
    ]
    host, cubin = WORK_FOLDER / "host.s", WORK_FOLDER / "unit.cubin"
    commands: dict[str, list[str | Path]] = {
        "nvcc (host)": [*common, "-Xcompiler", "-S", "-c", "-o", host, str(cuda.main)],
        "nvcc (cubin)": [*common, "-cubin", "-o", cubin, str(cuda.main)],
        "cuobjdump": [nvidia.cuobjdump, "-sass", cubin],
    }
    seconds = _run_all(commands, cuda, nvidia.visible())
    commands = {}
    for side in CompilationSide:
        words: list[str | Path] = [amd.clang, f"--rocm-path={amd.rocm_path}", f"-I{SHIM}", "-w"]
        words += [*code_flags(DEFAULT_AMD_ARCHITECTURE, "-Os", hip.standard), side.flag]
        words += ["-Wno-c++11-narrowing", "-include", forced_header(hip)]
        words += [*hip.preprocessor_arguments(), "-S", "-o", "-", str(hip.main)]
        commands[f"clang ({side.value})"] = words
    return {**seconds, **_run_all(commands, hip, amd.visible())}


def _run_all(
    commands: dict[str, list[str | Path]], unit: Unit, visible: tuple[Path, ...]
) -> dict[str, float]:
    seconds = {}
    with private_folder() as folder:
        mounts = (Mount(unit.root, SOURCE_TREE), Mount(folder, WORK_FOLDER, writable=True))
        readable = (*visible, *unit.outside_directories)
        view = View(readable, mounts=mounts, process_filesystem=True)
        for name, command in commands.items():
            done = run(command, cwd=unit.root, view=view, limits=_LIMITS)
            seconds[name] = done.cpu_seconds
            if not done.ok:
                seconds[f"{name}: failed"] = 0.0
    return seconds


class UnitCosts(BaseModel):
    """The content of a file of results."""

    units: list[UnitCost]


def table(files: Sequence[Path]) -> str:
    """The units of ``files`` as a table in Markdown."""
    lines = [
        "| repository | unit | paper's way | ours | share | what ours is |",
        "|---|---|---:|---:|---:|---|",
    ]
    for file in files:
        for unit in UnitCosts.model_validate_json(file.read_text()).units:
            paper, ours = sum(unit.paper.values()), sum(unit.ours.values())
            share = f"{ours / paper:.2f}" if paper and not unit.failed else ""
            parts = sorted(unit.ours.items(), key=lambda part: -part[1])
            what = ", ".join(f"{name} {seconds:.1f}" for name, seconds in parts if seconds >= 0.1)
            failed = [name for name in unit.paper if name.endswith("failed")]
            what = unit.failed.split("\n")[0] or what + "".join(f"; {name}" for name in failed)
            row = (unit.repository, unit.path, f"{paper:.1f}", f"{ours:.1f}", share, what)
            lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clone", type=Path, nargs="?")
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--no-paper", action="store_true")
    parser.add_argument("--table", type=Path, nargs="+")
    given = parser.parse_args()
    if given.table:
        print(table(given.table))
        return
    done: list[UnitCost] = []
    for cost in costs(given.clone, given.paths, not given.no_paper):
        done.append(cost)
        given.out.write_text(UnitCosts(units=done).model_dump_json(indent=1))
        print(f"{cost.path}: {sum(cost.ours.values()):.1f} {sum(cost.paper.values()):.1f}")


if __name__ == "__main__":
    main()
