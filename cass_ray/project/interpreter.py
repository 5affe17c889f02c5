"""The Python of a port's commands: this interpreter, whose packages the person has chosen.

A module that is linked with AMD's libraries needs their loader and C library, which may be newer
than the system's. A program is linked to start with that loader; an interpreter is started by it.
"""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from pathlib import Path

from cass_ray.project.build_system import cmake_files
from cass_ray.toolchain.archive.library_root import LibraryRoot
from cass_ray.toolchain.sandbox.process import CLEAN_ENVIRONMENT

_NAMES_PYTHON = re.compile(r"(?<![\w./-])(?:python3?|pytest|pip)(?![\w/-])")
_MAKEFILE = re.compile(r"(?:gnu)?makefile(?:\.\w+)?|.+\.mk", re.IGNORECASE)
_CMAKE = re.compile(
    r"\bfind_package\s*\(\s*(?:Python3?|PythonInterp)\b(?![^()]*\bDevelopment)"
    r"|\b(?:find_program\s*\([^()]*|COMMAND\s+\"?)(?<![\w./-])python3?(?![\w/-])",
    re.IGNORECASE,
)
"""A file of CMake starts Python, as tests often do. It does not where it asks for Python's headers:
a module that it builds is for the Python that these belong to."""
_FOLDER = "interpreter"
_KEPT_PATH = """\
case ":$PYTHONPATH:" in
  *":@startup@:"*) ;;
  *) export PYTHONPATH="@startup@${PYTHONPATH:+:$PYTHONPATH}" ;;
esac
"""
_PROGRAMS = {"python": "", "python3": "", "pytest": " -m pytest"}
_OF_THE_SYSTEM = ("cmake", "ctest")
"""Programs that packages bring beside Python, CMake's in a version that refuses older projects."""


def names_python(command: str) -> bool:
    """Whether a command of the shell starts Python, or one of its own programs, by name."""
    return _NAMES_PYTHON.search(command) is not None


def starts_python(root: Path, *commands: str) -> bool:
    """Whether one of ``commands`` does, a file of CMake, or a recipe of a makefile: one at the top
    or in a folder there."""
    if any(_CMAKE.search(path.read_text("utf-8", "replace")) for path in cmake_files(root)):
        return True
    near = (path for pattern in ("*", "*/*") for path in root.glob(pattern))
    files = (path for path in near if path.is_file() and not path.is_symlink())
    recipes = (
        "\n".join(re.findall(r"^\t(.*)", path.read_text("utf-8", "replace"), re.MULTILINE))
        for path in files
        if _MAKEFILE.fullmatch(path.name)
    )
    return any(names_python(text) for text in (*commands, *recipes))


def python_folders() -> tuple[Path, ...]:
    """What a sandbox must show for the interpreter to run."""
    return tuple(sorted({Path(sys.prefix), Path(sys.base_prefix)}))


def write_interpreter(
    prefix: Path, libraries: LibraryRoot | None, startup: Path | None = None
) -> tuple[Path, ...]:
    """Write ``python`` and the like below ``prefix``; returns the folders to be searched first.

    Modules of ``startup`` are found whatever a project's command makes of ``PYTHONPATH``.
    """
    folder = prefix / _FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    kept = "" if startup is None else _KEPT_PATH.replace("@startup@", str(startup))
    calls = {name: f"{kept}exec {_start(libraries)}{module}" for name, module in _PROGRAMS.items()}
    for name in _OF_THE_SYSTEM:
        if program := shutil.which(name, path=CLEAN_ENVIRONMENT["PATH"]):
            calls[name] = f"exec {shlex.quote(program)}"
    for name, call in calls.items():
        script = folder / name
        script.write_text(f'#!/bin/sh\n{call} "$@"\n')
        script.chmod(0o755)
    return folder, Path(sys.executable).parent


def _start(libraries: LibraryRoot | None) -> str:
    python = shlex.quote(sys.executable)
    if libraries is None or not libraries.loader.exists():
        return python
    loader, own = shlex.quote(str(libraries.loader)), shlex.quote(str(libraries.folder))
    searched = own + '"${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"'
    return f"{loader} --library-path {searched} --argv0 {python} {python}"
