"""The language standard and the forced headers of a unit's own command, on both sides."""

from __future__ import annotations

from pathlib import Path

import pytest

from cass_ray.builds.settings import UnitSettings
from cass_ray.corpus.program import Program
from cass_ray.corpus.reading.source_files import gather
from cass_ray.corpus.reading.trees import StoredTrees
from cass_ray.corpus.sources.local import LocalSource
from cass_ray.pipeline.row_units import unit_key, unit_of
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.pipeline.stages.amd import AmdStage
from cass_ray.pipeline.stages.base import Row
from cass_ray.pipeline.stages.nvidia import NvidiaStage
from cass_ray.pipeline.stages.translate import TranslateStage
from cass_ray.pipeline.workspace import Workspace
from cass_ray.storage.store import Store
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.translate.engines.registry import make_translator

pytestmark = pytest.mark.amd

CONCEPT = """\
template <typename T> concept Number = sizeof(T) >= FEWEST;
template <Number T> __global__ void fill(T* p) { p[threadIdx.x] = T(BEFORE); }
template __global__ void fill<int>(int*);
"""
"""Concepts are C++20's; the macros are those of forced headers."""
OLDER = "__global__ void fill(int* p) { p[threadIdx.x] = BEFORE; }\n"


def programs_of(folder: Path, options: str, source: str) -> tuple[list[Program], StoredTrees]:
    project = folder / "project"
    (project / "include").mkdir(parents=True)
    (project / ".git").mkdir(exist_ok=True)
    (project / "a.cu").write_text(source)
    (project / "include/before.h").write_text('#include "more.h"\n#define BEFORE cudaSuccess\n')
    (project / "include/more.h").write_text("#pragma once\n#define FEWEST 4\n")
    command = f"nvcc {options} -c a.cu"
    (project / "compile_commands.json").write_text(
        f'[{{"directory": "{project}", "file": "a.cu", "command": "{command}"}}]'
    )
    store = StoredTrees(Store(folder / "trees"))
    units = UnitSettings(recorded_builds=True, fetch_dependencies=False)
    source_of_rows = LocalSource(str(project), units=units)
    found = list(source_of_rows.iterate(folder / "work", store))
    programs = [each for each in found if isinstance(each, Program)]
    assert len(programs) == len(found)
    return programs, store


def rows_of(folder: Path, options: str, source: str) -> list[Row]:
    programs, store = programs_of(folder, options, source)
    trees, rules = Workspace(store.get), make_translator("rules")
    build = BuildSettings(sources=["shipped"], out=Path("unused"))
    rows = TranslateStage(rules, trees).run([each.to_row() for each in programs])
    rows = NvidiaStage(find_nvidia(), trees, build).run(rows)
    rows = AmdStage(find_amd(), trees, rules, build).run(rows)
    for row in rows:
        row["gathered"] = gather(unit_of(row, trees, None))
    return rows


@pytest.mark.parametrize("standard", ["-std=c++20", "--std c++20", "-std=gnu++20"])
def test_both_sides_have_the_units_own(standard: str, tmp_path: Path) -> None:
    (row,) = rows_of(tmp_path, f"{standard} -include include/before.h", CONCEPT)
    assert not row["reason"], row["diagnostic"]
    assert (row["standard"], row["forced"]) == ("c++20", ["include/before.h"])
    assert "-std=c++20" in row["nvidia_toolchain"]["flags"]
    assert "-std=c++20" in row["amd_toolchain"]["flags"]
    assert "fill" in row["cuda_device"] and "fill" in row["hip_device"]
    files = row["gathered"].files.keys()
    assert files == {"a.cu", "include/before.h", "include/more.h"}
    assert row["gathered"].unit(tmp_path).standard == "c++20"


def test_a_forced_header_may_use_cudas_words(tmp_path: Path) -> None:
    source = "__global__ void fill(int* p) { p[threadIdx.x] = twice(BEFORE); }\n"
    (program,), _ = programs_of(tmp_path / "first", "-include include/before.h", source)
    assert program.forced == ("include/before.h",)
    project = tmp_path / "second/project"
    project.mkdir(parents=True)
    (project / "twice.h").write_text("__device__ inline int twice(int a) { return 2 * a; }\n")
    (row,) = rows_of(tmp_path / "second", "-include twice.h -include include/before.h", source)
    assert not row["reason"], row["diagnostic"]


def test_what_is_older_is_17(tmp_path: Path) -> None:
    (row,) = rows_of(tmp_path, "-std=c++14 -include include/before.h", OLDER)
    assert not row["reason"], row["diagnostic"]
    assert "-std=c++17" in row["nvidia_toolchain"]["flags"]
    assert "-std" not in row["amd_toolchain"]["flags"]


def test_what_needs_20_is_20_on_both_sides(tmp_path: Path) -> None:
    (row,) = rows_of(tmp_path, "-std=c++17 -include include/before.h", CONCEPT)
    assert not row["reason"], row["diagnostic"]
    assert "-std=c++20" in row["nvidia_toolchain"]["flags"]
    assert "-std=c++20" in row["amd_toolchain"]["flags"]


def test_without_its_header_it_does_not_compile(tmp_path: Path) -> None:
    (row,) = rows_of(tmp_path, "-std=c++20", CONCEPT)
    assert (row["stage"], row["reason"]) == ("compile_nvidia", "compile_error")


@pytest.mark.parametrize("name", ["/etc/passwd", "../outside.h"])
def test_a_forced_header_stays_in_the_tree(name: str, tmp_path: Path) -> None:
    (tmp_path / "outside.h").write_text("#define BEFORE 1\n")
    (program,), _ = programs_of(tmp_path, f"-include {name}", OLDER)
    (problem,) = program.forbidden_includes
    assert name in problem


def test_keys_know_them() -> None:
    row = {"tree": "", "path": "a.cu", "cuda_source": "x", "include_directories": []}
    keys = [
        unit_key({**row, **more})
        for more in ({}, {"standard": "c++20"}, {"forced": ["a.h"]}, {"definitions": ["a"]})
    ]
    assert len({tuple(key) for key in keys}) == 4
