"""Which CMake is taken for a project."""

from __future__ import annotations

from pathlib import Path

import pytest

from cass_ray.project import cmake


@pytest.mark.parametrize(
    ("text", "system", "taken"),
    [
        ("cmake_minimum_required(VERSION 3.26)", (3, 25, 1), True),
        ("cmake_minimum_required(VERSION 3.25.2 FATAL_ERROR)", (3, 25, 1), True),
        ("CMAKE_MINIMUM_REQUIRED ( VERSION 3.10...3.28 )", (3, 25, 1), False),
        ("cmake_minimum_required(VERSION 3.26)", (3, 31, 6), False),
        ("cmake_minimum_required(VERSION 3.26)", (), True),
        ("project(x)", (3, 25, 1), False),
        (
            "cmake_minimum_required(VERSION 3.20)\nif(WITH_CUDA)\n"
            "  cmake_minimum_required(VERSION 3.25.2)\nendif()",
            (3, 25, 1),
            True,
        ),
        ("project(x)  # cmake_minimum_required(VERSION 3.31)", (3, 25, 1), False),
    ],
)
def test_the_packages_cmake_is_for_projects_that_want_a_newer_one(
    text: str,
    system: tuple[int, ...],
    taken: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "CMakeLists.txt").write_text(f"{text}\n")
    monkeypatch.setattr(cmake, "system_version", lambda: system)
    monkeypatch.setattr(cmake, "packaged", lambda: Path("/packages/cmake/data/bin"))
    assert (cmake.newer_cmake(tmp_path) is not None) == taken


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("set(CMAKE_CUDA_STANDARD 20)", True),
        ("target_compile_features(x PUBLIC cuda_std_23)", True),
        ("set(CMAKE_CXX_STANDARD 20)", True),
        ("set_target_properties(x PROPERTIES CUDA_STANDARD 17 CXX_STANDARD 17)", False),
        ("# set(CMAKE_CUDA_STANDARD 20)", False),
    ],
)
def test_nvcc_compiles_newer_dialects_by_a_newer_cmake(
    text: str, taken: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "CMakeLists.txt").write_text(f"cmake_minimum_required(VERSION 3.24)\n{text}\n")
    monkeypatch.setattr(cmake, "system_version", lambda: (3, 25, 1))
    monkeypatch.setattr(cmake, "packaged", lambda: Path("/packages/cmake/data/bin"))
    assert (cmake.newer_cmake(tmp_path, for_nvcc=True) is not None) == taken
    assert cmake.newer_cmake(tmp_path) is None


def test_a_project_without_cmake_needs_none(tmp_path: Path) -> None:
    assert cmake.newer_cmake(tmp_path) is None


def test_the_systems_cmake_is_that_of_the_sandbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = cmake.system_version()
    own = tmp_path / "cmake"  # that of an environment that is active, which builds do not see
    own.write_text("#!/bin/sh\necho cmake version 99.1\n")
    own.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert cmake.system_version() == before != (99, 1)
