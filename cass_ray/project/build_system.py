"""Which build system a project has, and the commands that build and test it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

BUILD_FOLDER = "build-hip"
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_TEST_TARGET = re.compile(r"^(test|check|run_tests|tests)\s*:(?!=)", re.MULTILINE)


class BuildSystem(StrEnum):
    """What a project is built with."""

    CMAKE = "cmake"
    MAKE = "make"
    PYTHON = "python"
    MESON = "meson"
    AUTOTOOLS = "autotools"
    NONE = "none"


@dataclass(frozen=True)
class BuildPlan:
    """Shell commands, run in the project's folder; empty where nobody said and none is known."""

    system: BuildSystem
    build: str = ""
    test: str = ""


def find_plan(
    root: Path,
    build: str = "",
    test: str = "",
    jobs: int = 2,
    dependencies: Mapping[str, Path] | None = None,
) -> BuildPlan:
    """The plan for the project at ``root``; ``build`` and ``test`` replace what is found.

    ``dependencies`` are folders of what the build would download otherwise, by the names that it
    gives them.
    """
    system = _system(root)
    found = _commands(system, root, jobs, _definitions(dependencies or {}))
    return BuildPlan(system, build or found[0], test or found[1])


def _system(root: Path) -> BuildSystem:
    if (root / "CMakeLists.txt").is_file():
        return BuildSystem.CMAKE
    if (root / "meson.build").is_file():
        return BuildSystem.MESON
    if any((root / name).is_file() for name in ("configure", "configure.ac")):
        return BuildSystem.AUTOTOOLS
    if any((root / name).is_file() for name in _MAKEFILES):
        return BuildSystem.MAKE
    if any((root / name).is_file() for name in ("setup.py", "pyproject.toml")):
        return BuildSystem.PYTHON
    return BuildSystem.NONE


def _definitions(dependencies: Mapping[str, Path]) -> str:
    """Options of CMake for FetchContent and CPM to take folders in the place of downloads."""
    options = [
        option
        for name, folder in dependencies.items()
        for option in (
            f"-DFETCHCONTENT_SOURCE_DIR_{name.upper()}={folder}",
            f"-DCPM_{name}_SOURCE={folder}",
        )
    ]
    return "".join(f" {shlex.quote(option)}" for option in options)


def _commands(system: BuildSystem, root: Path, jobs: int, definitions: str) -> tuple[str, str]:
    match system:
        case BuildSystem.CMAKE:
            configure = f"cmake -S . -B {BUILD_FOLDER} -DCMAKE_BUILD_TYPE=Release{definitions}"
            build = f"{configure} && cmake --build {BUILD_FOLDER} -j {jobs}"
            test = f"ctest --test-dir {BUILD_FOLDER} --output-on-failure --no-tests=error"
            return build, test
        case BuildSystem.MAKE:
            makefile = next(root / name for name in _MAKEFILES if (root / name).is_file())
            target = _TEST_TARGET.search(makefile.read_text("utf-8", "replace"))
            return f"make -j {jobs}", f"make {target[1]}" if target else ""
        case BuildSystem.MESON:
            build = f"meson setup {BUILD_FOLDER} && meson compile -C {BUILD_FOLDER} -j {jobs}"
            return build, f"meson test -C {BUILD_FOLDER} --print-errorlogs"
        case BuildSystem.AUTOTOOLS:
            generate = "" if (root / "configure").is_file() else "autoreconf --install && "
            configure = f"{generate}./configure"
            return f"{configure} && make -j {jobs}", "make check"
        case _:
            return "", ""
