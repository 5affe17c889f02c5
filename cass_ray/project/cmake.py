"""Which CMake builds a project: the system's, or that of the Python package where it is too old."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from pathlib import Path

from cass_ray.toolchain.sandbox.process import CLEAN_ENVIRONMENT

Version = tuple[int, ...]

_WANTED = re.compile(
    r"^[^#\n]*\bcmake_minimum_required\s*\(\s*VERSION\s+([\d.]+)", re.IGNORECASE | re.MULTILINE
)
_NEWEST_DIALECT = re.compile(
    # That of CUDA is C++'s where a target has none.
    r"^[^#\n]*(?:(?:CUDA|CXX)_STANDARD\s+|\b(?:cuda|cxx)_std_)2\d\b",
    re.IGNORECASE | re.MULTILINE,
)
_KNOWS_NEWEST_DIALECT = (3, 25, 2)
"""The first CMake that compiles C++20 by nvcc; Debian 12 has the one before."""
VARIABLES = {"CMAKE_POLICY_VERSION_MINIMUM": "3.5"}
"""CMake 4 refuses files that ask for less, unless this is in its environment."""
_VERSION = re.compile(r"cmake version (\d+(?:\.\d+)*)")


def newer_cmake(root: Path, *, for_nvcc: bool = False) -> Path | None:
    """Find the folder of the package ``cmake``'s programs, if the project at ``root`` needs them.

    ``for_nvcc``: nvcc compiles the project, and not hipcc.

    None if the system's CMake is new enough for all that the project's first file asks for, some of
    it for one option alone, and where the package (``pip install cmake``) is not installed.
    """
    file = root / "CMakeLists.txt"
    text = file.read_text("utf-8", "replace") if file.is_file() else ""
    wanted = max(map(_numbers, _WANTED.findall(text)), default=())
    if for_nvcc and _NEWEST_DIALECT.search(text):
        wanted = max(wanted, _KNOWS_NEWEST_DIALECT)
    return packaged() if wanted > system_version() else None


def packaged() -> Path | None:
    """The folder of the programs that the Python package ``cmake`` holds."""
    spec = importlib.util.find_spec("cmake")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "data" / "bin"
    return folder if (folder / "cmake").is_file() else None


def system_version() -> Version:
    """That of the CMake on the sandbox's path, whatever else is on ours; nothing without one."""
    program = shutil.which("cmake", path=CLEAN_ENVIRONMENT["PATH"])
    if program is None:
        return ()
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    found = _VERSION.search(done.stdout)
    return _numbers(found[1]) if found else ()


def _numbers(version: str) -> Version:
    return tuple(int(part) for part in version.split(".") if part)
