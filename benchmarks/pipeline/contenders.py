"""The two ways to build pairs, as commands to measure: the paper's and ours."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pyarrow.dataset as pads

from benchmarks.folders import REPOSITORY
from benchmarks.measure.accounting import Cost, measure
from benchmarks.measure.cgroup import ControlGroup
from benchmarks.pipeline.paper_way import PaperPlan, PaperProgram, PaperResult
from cass_ray.cache import default_directory
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.toolchain.amd.toolchain import SHIM, code_flags
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.sandbox.isolation import View, command_line

_NVCC_LANGUAGE = ("-std=c++17", "--expt-relaxed-constexpr", "--extended-lambda")
_CLANG_LANGUAGE = (
    "-std=c++17",
    "-w",
    "-Wno-c++11-narrowing",
    "-Wno-register",
    "-Wno-reserved-user-defined-literal",
    "-Wno-missing-template-arg-list-after-template-kw",
)

_AS_INSTALLED = REPOSITORY / "benchmarks" / "pipeline" / "as_installed"
_JOBS = {
    "build_dataset": [str(REPOSITORY / "jobs" / "build_dataset.py")],
    "plain_loop": ["-m", "benchmarks.pipeline.plain_loop"],
}


@dataclass(frozen=True)
class Built:
    """One measured build: its cost and the ids of the pairs it kept.

    ``failed`` is the step that each lost program failed in, where the builder tells.
    """

    cost: Cost
    kept: frozenset[str]
    rows: int
    note: str = ""
    failed: dict[str, str] = field(default_factory=dict)


def build_paper_way(
    programs: Sequence[PaperProgram], settings: BuildSettings, work: Path, threads: int
) -> Built:
    """Measure :mod:`benchmarks.pipeline.paper_way` on ``programs``; ``work``: a new folder.

    The programs may be anybody's, so the whole run is in one sandbox, which costs it nothing that
    grows with the number of programs.
    """
    nvidia, amd = find_nvidia(), find_amd()
    hipify, engine = _hipify()
    work.mkdir(parents=True)
    plan = PaperPlan(
        programs=list(programs),
        architectures=settings.nvidia_architectures,
        amd_architecture=settings.amd_architectures[0],
        nvcc=nvidia.nvcc,
        nvcc_flags=list(_NVCC_LANGUAGE),
        cuobjdump=nvidia.cuobjdump,
        clang=amd.clang,
        clang_flags=[
            *code_flags(settings.amd_architectures[0], settings.optimization),
            *_CLANG_LANGUAGE,
            f"--rocm-path={amd.rocm_path}",
            f"-I{SHIM}",
            *("-include", str(SHIM / "cass_hip.h")),
        ],
        hipify=hipify,
        work=work,
        threads=threads,
    )
    (work / "plan.json").write_text(plan.model_dump_json(indent=2))
    words = [sys.executable, "-m", "benchmarks.pipeline.paper_way"]
    words += [str(work / "plan.json"), str(work / "result.json")]
    roots = {program.root for program in programs}
    readable = {REPOSITORY, Path(sys.prefix).resolve(), Path(sys.base_prefix), *roots}
    readable |= {Path(word).parent.resolve() for word in hipify if Path(word).is_absolute()}
    readable |= {*nvidia.visible(), *amd.visible()}
    # cuobjdump finds nvdisasm by its own path in /proc.
    view = View(tuple(sorted(readable)), writable=(work,), process_filesystem=True)
    command = command_line(words, view, REPOSITORY)
    cost = measure(command, cwd=REPOSITORY, env=environment())
    result = PaperResult.model_validate_json((work / "result.json").read_text())
    failed = {outcome.id: outcome.failed for outcome in result.outcomes if not outcome.kept}
    note = f"translated by {engine}"
    return Built(cost, frozenset(result.kept), len(programs), note, failed)


def _hipify() -> tuple[list[str], str]:
    """The command that translates one file to standard output, and what it is called."""
    found = shutil.which("hipify-perl", path=f"{os.environ.get('PATH', '')}:/opt/rocm/bin")
    if found:
        return [found, "-quiet-warnings"], "hipify-perl -quiet-warnings, a process per file"
    translate = [sys.executable, "-m", "benchmarks.pipeline.translate_file"]
    return translate, "our rules engine, a process per file (hipify-perl is not installed)"


def new_cache(folder: Path) -> Path:
    """An empty cache that holds only what installation leaves there: the HIP root."""
    folder.mkdir(parents=True)
    installed = default_directory() / "hip-root"
    if installed.is_dir():
        shutil.copytree(installed, folder / "hip-root")
    return folder


def build_ours(
    settings: BuildSettings,
    cache: Path,
    watch: Callable[[ControlGroup], AbstractContextManager[object]] | None = None,
    job: Literal["build_dataset", "plain_loop"] = "build_dataset",
) -> Built:
    """Measure ``cass build-dataset`` with ``settings`` and the cache folder ``cache``.

    ``plain_loop`` is the same job without Ray.
    """
    out = Path(settings.out)
    out.mkdir(parents=True, exist_ok=True)
    config = out.with_suffix(".json")  # JSON is YAML
    config.write_text(settings.model_dump_json(indent=2))
    words = [sys.executable, *_JOBS[job], "--config", str(config)]
    variables = environment() | {"CASS_CACHE": str(cache)}
    cost = measure(words, cwd=REPOSITORY, env=variables, watch=watch)
    report = json.loads((out / "report.json").read_text())
    pairs = pads.dataset(out / "pairs").to_table(columns=["id"]).column("id")
    kept = frozenset(pairs.to_pylist())
    if len(kept) != report["pairs"]:
        raise ValueError(f"report.json counts {report['pairs']} pairs, pairs/ holds {len(kept)}")
    return Built(cost, kept, report["rows"])


def environment() -> dict[str, str]:
    """This environment without what would send the job to another Ray cluster, and as it is where
    the package is installed alone."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    # Ray makes its workers nice, which other work on the machine would turn into waiting.
    path = f"{_AS_INSTALLED}{os.pathsep}{REPOSITORY}"
    return kept | {"PYTHONPATH": path, "RAY_worker_niceness": "0"}
