"""Which build system a project has, and the commands that build and test it."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

BUILD_FOLDER = "build-hip"
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_TEST_TARGETS = ("test", "check", "run_tests", "tests")
"""The last one is a folder's name, too: the others come first."""
_CTEST = re.compile(
    r"^[^#\n]*\b(?:enable_testing\s*\(|include\s*\(\s*CTest\b)", re.IGNORECASE | re.MULTILINE
)
_VENDORED = {
    *("3rdparty", "dependencies", "deps", "extern", "external", "submodules", "third-party"),
    *("third_party", "thirdparty", "vendor"),
}
"""Folders of what others wrote, whose tests are not the project's."""
_MAIN = re.compile(r"^[^/\n]*\bmain\s*\(", re.MULTILINE)
_PYTHON_TEST = re.compile(r"test_.*\.py|.*_test\.py")
_TORCH_EXTENSION = "torch.utils.cpp_extension"
_FINDS_TORCH = re.compile(r"^[^#\n]*\bfind_package\s*\(\s*Torch\b", re.IGNORECASE | re.MULTILINE)
_IMPORTS_TORCH = re.compile(r"^[ \t]*(?:import|from)[ \t]+torch\b", re.MULTILINE)
_ON_A_DEVICE = re.compile(r"\bdevice\s?=\s?[\"']cuda\b|\.cuda\(")
_CPM = "CPM"
_BUILD_FOLDER = re.compile(r"(?<!\S)-B\s*([\w./-]+)")
_CPM_VERSION = re.compile(r"\bset\s*\(\s*CPM_DOWNLOAD_VERSION\s+\"?([\w.-]{1,40})", re.IGNORECASE)


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
    gives them; ``CPM`` is that of CPM.cmake itself. A ``build`` that is given finds CPM.cmake in
    the build folder that it names; of the other dependencies CMake knows by the toolchain file
    (:func:`cache_entries`).
    """
    system = _system(root)
    known = dict(dependencies or {})
    found = _commands(system, root, jobs, known)
    if build and system is BuildSystem.CMAKE:
        named = _BUILD_FOLDER.search(build)
        build = _place_cpm(root, known, named[1] if named else BUILD_FOLDER) + build
    return BuildPlan(system, build or found[0], test or found[1])


def suggested_build(root: Path) -> str:
    """A command that may build the project at ``root``, where none is known for all of it.

    It is for the outermost build file there, else for a source with a ``main``, else empty.
    """
    outermost = sorted(_files(root), key=lambda path: (len(path.parts), path))
    for path in outermost:
        folder = shlex.quote(str(path.parent.relative_to(root)))
        if path.name == "CMakeLists.txt":
            return f"cmake -S {folder} -B {BUILD_FOLDER} && cmake --build {BUILD_FOLDER}"
        if path.name in _MAKEFILES:
            return f"make -C {folder}"
    for path in outermost:
        if path.suffix == ".cu" and _MAIN.search(path.read_text("utf-8", "replace")):
            return f"hipcc {shlex.quote(str(path.relative_to(root)))} -o {shlex.quote(path.stem)}"
    return ""


def _system(root: Path) -> BuildSystem:
    if uses_torch(root):
        return BuildSystem.PYTHON  # some build a library for C++ with CMake as well
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


def uses_torch(root: Path) -> bool:
    """Whether ``setup.py`` builds extensions of PyTorch."""
    setup = root / "setup.py"
    return setup.is_file() and _TORCH_EXTENSION in setup.read_text("utf-8", "replace")


def has_torch_extension(root: Path) -> bool:
    """Whether anything below ``root`` builds an extension of PyTorch.

    A ``setup.py`` of a subfolder, a program that compiles one when it starts (``load``), or a CMake
    file that finds PyTorch.
    """
    scripts = (path for path in _files(root) if path.suffix == ".py")
    return any(_TORCH_EXTENSION in path.read_text("utf-8", "replace") for path in scripts) or any(
        _FINDS_TORCH.search(path.read_text("utf-8", "replace")) for path in cmake_files(root)
    )


def has_tensors_on_devices(root: Path) -> bool:
    """Whether a program of Python below ``root`` puts PyTorch's tensors on a device.

    Libraries get them by their address, without an extension.
    """
    scripts = (path for path in _files(root) if path.suffix == ".py")
    texts = (path.read_text("utf-8", "replace") for path in scripts)
    return any(_IMPORTS_TORCH.search(text) and _ON_A_DEVICE.search(text) for text in texts)


def _has_python_tests(root: Path) -> bool:
    """Whether there are files that pytest takes for tests."""
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".") and name != "build"]
        if any(_PYTHON_TEST.fullmatch(name) for name in names if Path(folder, name).is_file()):
            return True
    return False


def _definitions(dependencies: Mapping[str, Path]) -> str:
    """Options of CMake for FetchContent and CPM to take folders in the place of downloads."""
    entries = cache_entries(dependencies)
    return "".join(f" {shlex.quote(f'-D{name}={folder}')}" for name, folder in entries)


def cache_entries(dependencies: Mapping[str, Path]) -> list[tuple[str, Path]]:
    """The variables by which FetchContent and CPM take folders in the place of downloads."""
    return [
        entry
        for name, folder in dependencies.items()
        if name != _CPM
        for entry in (
            (f"FETCHCONTENT_SOURCE_DIR_{name.upper()}", folder),
            (f"CPM_{name}_SOURCE", folder),
        )
    ]


def _place_cpm(root: Path, dependencies: Mapping[str, Path], build: str = BUILD_FOLDER) -> str:
    """Commands that put CPM.cmake where projects look for it before they download it.

    CPM's ``get_cpm.cmake`` has ``cmake/CPM_VERSION.cmake`` in the build folder, older copies of it
    ``cmake/CPM.cmake``. Where a hash is asked for, CMake compares it.
    """
    folder = dependencies.get(_CPM)
    if folder is None:
        return ""
    places = (folder / "cmake" / "CPM.cmake", folder / "CPM.cmake")
    script = next((place for place in places if place.is_file()), None)
    if script is None:
        raise ValueError(f"--dependency {_CPM}: neither {places[0]} nor {places[1]} is a file")
    trees = [root, *dependencies.values()]
    found = (path for tree in trees for path in cmake_files(tree))
    texts = (path.read_text("utf-8", "replace") for path in found)
    versions = {match[1] for text in texts for match in _CPM_VERSION.finditer(text)}
    target = f"{build}/cmake"
    names = ["CPM.cmake", *(f"CPM_{version}.cmake" for version in sorted(versions))]
    copies = [f"cp {shlex.quote(str(script))} {target}/{name}" for name in names]
    return " && ".join([f"mkdir -p {target}", *copies, ""])


def _files(root: Path) -> Iterator[Path]:
    """Files below ``root``, build folders aside; no links."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in {".git", BUILD_FOLDER})
        for name in sorted(names):
            path = Path(folder) / name
            if path.is_file() and not path.is_symlink():
                yield path


def cmake_files(root: Path) -> Iterator[Path]:
    """CMake's own files among :func:`_files`."""
    for path in _files(root):
        if path.name == "CMakeLists.txt" or path.name.endswith(".cmake"):
            yield path


def _test_folders(root: Path) -> list[str]:
    """Folders of the build in which ctest finds tests of the project's own.

    What the root's file or a module asks for holds in all of it, what another file asks for below
    that.
    """
    places = [
        path.relative_to(root)
        for path in cmake_files(root)
        if _CTEST.search(path.read_text("utf-8", "replace"))
    ]
    own = [place for place in places if not _VENDORED.intersection(place.parts)]
    if any(place.name != "CMakeLists.txt" for place in own):
        return [BUILD_FOLDER]
    folders = {place.parent for place in own}
    outermost = (each for each in folders if not folders.intersection(each.parents))
    return sorted((BUILD_FOLDER / each).as_posix() for each in outermost)


def _is_target(name: str, makefile: str) -> bool:
    return re.search(rf"^{name}\s*::?(?!=)", makefile, re.MULTILINE) is not None


def _commands(
    system: BuildSystem, root: Path, jobs: int, dependencies: Mapping[str, Path]
) -> tuple[str, str]:
    match system:
        case BuildSystem.CMAKE:
            definitions = _definitions(dependencies)
            configure = f"cmake -S . -B {BUILD_FOLDER} -DCMAKE_BUILD_TYPE=Release{definitions}"
            build = (
                f"{_place_cpm(root, dependencies)}{configure}"
                f" && cmake --build {BUILD_FOLDER} -j {jobs}"
            )
            return build, " && ".join(
                f"ctest --test-dir {shlex.quote(folder)} --output-on-failure --no-tests=error"
                for folder in _test_folders(root)
            )
        case BuildSystem.MAKE:
            makefile = next(root / name for name in _MAKEFILES if (root / name).is_file())
            text = makefile.read_text("utf-8", "replace")
            names = (name for name in _TEST_TARGETS if _is_target(name, text))
            return f"make -j {jobs}", next((f"make {name}" for name in names), "")
        case BuildSystem.MESON:
            build = f"meson setup {BUILD_FOLDER} && meson compile -C {BUILD_FOLDER} -j {jobs}"
            return build, f"meson test -C {BUILD_FOLDER} --print-errorlogs"
        case BuildSystem.AUTOTOOLS:
            generate = "" if (root / "configure").is_file() else "autoreconf --install && "
            configure = f"{generate}./configure"
            return f"{configure} && make -j {jobs}", "make check"
        case BuildSystem.PYTHON if (root / "setup.py").is_file():
            build = f"MAX_JOBS={jobs} python setup.py build_ext --inplace"
            return build, "python -m pytest -q" if _has_python_tests(root) else ""
        case _:
            return "", ""
