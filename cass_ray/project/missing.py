"""What a build or a test lacks on this machine, by what its tools said.

Headers, libraries, programs and packages of CMake are named with the package that has them, where
that is known.
"""

from __future__ import annotations

import re
import sys

from cass_ray.toolchain.headers import header_remedy, library_remedy
from cass_ray.toolchain.unit import unopened_files

NVCC_CALLED = "nvcc: ROCm has none"
"""What the ``nvcc`` of the ROCm root says (``rocm/nvcc``)."""
_LIBRARY = re.compile(r"(?:cannot find -l|unable to find library -l)([\w+.-]+)")
_PROGRAM = re.compile(
    r"(?:^|: )(?:line \d+: )?(?P<one>[\w+.-]+): (?:command not found|not found)$"
    r"|make(?:\[\d+\])?: (?P<two>[\w+.-]+): No such file or directory",
    re.MULTILINE,
)
_CMAKE_VERSION = re.compile(
    r"CMake (?P<wanted>[\d.]+) or higher is required\.\s+You are running version (?P<here>[\d.]+\d)"
)
_UNKNOWN_DIALECT = re.compile(r"requires the language dialect\s+\"CUDA\d+\"")
_CMAKE_PACKAGE = re.compile(
    r"Could not find a package configuration file provided by\s+\"(?P<configured>[\w+.-]+)\""
    r"|^  Could NOT find (?P<found>[\w+.-]+) ",
    re.MULTILINE,
)
"""In errors: what may be missing is told behind ``-- ``."""
_OF_NEWER_GCC = {"format": 13, "stacktrace": 13, "print": 14, "generator": 14, "mdspan": 15}
"""Header of the standard library -> the first GCC that has it."""
_NOT_BUILT = re.compile(
    r"^g?make(?:\[\d+\])?: \*\*\* \[(?:[^\]\n]*: )?(?P<target>[^\]\n]+)\] ", re.MULTILINE
)
_PROGRAMS = {
    "cmake": "cmake",
    "ctest": "cmake",
    "make": "make",
    "gmake": "make",
    "ninja": "ninja-build",
    "meson": "meson",
    "bison": "bison",
    "flex": "flex",
    "autoreconf": "autoconf",
    "libtoolize": "libtool",
    "pkg-config": "pkg-config",
    "git": "git",
    "python3": "python3",
    "xxd": "xxd",
    "gfortran": "gfortran",
    "mpicc": "libopenmpi-dev",
    "mpicxx": "libopenmpi-dev",
    "mpirun": "openmpi-bin",
}
"""Program -> Debian's package."""
_CMAKE_NAMES = {
    "GTest": "gtest",
    "MPI": "mpi",
    "GLUT": "glut",
    "HDF5": "hdf5",
    "PNG": "png",
    "JPEG": "jpeg",
    "ZLIB": "z",
    "OpenMP": "omp",
    "OpenGL": "GL",
    "miopen": "MIOpen",
}
"""CMake's name of a package -> that of its library."""
_MOST = 20


def what_is_missing(log: str) -> tuple[str, ...]:
    """A line for each thing that the log of a failed step says is not there, as users act on it."""
    lines = []
    for header in unopened_files(log):
        known = header_remedy(header)
        if known:
            lines.append(f"missing header {header}: it is in {known}")
        elif header in _OF_NEWER_GCC:
            version = _OF_NEWER_GCC[header]
            lines.append(
                f"missing header {header}: it is in the standard library of GCC {version} and"
                f" later; install g++-{version}, whose headers clang takes"
            )
    for name in dict.fromkeys(_LIBRARY.findall(log)):
        known = library_remedy(name)
        lines.append(
            f"missing library {name}: it is in {known}"
            if known
            else f"missing library {name}: install the package that has lib{name}"
        )
    lines += _missing_for_cmake(log)
    for match in _PROGRAM.finditer(log):
        name = match["one"] or match["two"]
        package = _PROGRAMS.get(name)
        known = f"it is in Debian's {package}" if package else "install the package that has it"
        lines.append(f"missing program {name}: {known}")
    return tuple(dict.fromkeys(lines))[:_MOST]


def _missing_for_cmake(log: str) -> list[str]:
    lines = [
        f"CMake {match['wanted']} is wanted, {match['here']} is here: "
        f"{sys.executable} -m pip install 'cmake>={match['wanted']}', which cass project takes then"
        for match in _CMAKE_VERSION.finditer(log)
    ]
    if _UNKNOWN_DIALECT.search(log):
        lines.append(
            "this CMake does not know nvcc's newer C++ dialects:"
            f" {sys.executable} -m pip install cmake, which cass project takes then"
        )
    for match in _CMAKE_PACKAGE.finditer(log):
        name = match["configured"] or match["found"]
        known = library_remedy(_CMAKE_NAMES.get(name, name))
        advice = f"it is in {known}" if known else "install the package that has it"
        lines.append(f"missing CMake package {name}: {advice}")
    return lines


_CUDA_LIBRARY = re.compile(
    r"\bCUDA_(?P<variable>\w+?)_LIBRARY\b|\bCUDA::(?P<target>\w+)"
    r"|(?:cannot find -l|unable to find library -l)(?P<linked>\w+)"
    r"|fatal error: '?(?P<included>cublasLt|cu(?:blas|fft|solver|sparse|dnn)|nccl|npp)\w*\.h\b"
)
_CUDA_LIBRARIES = re.compile(
    r"(?:cu(?:blas(?:lt)?|fft|rand|solver|sparse|dnn|tensor)|nccl|npp\w*|nvjpeg|nvgraph)$"
)


def cuda_libraries(log: str) -> tuple[str, ...]:
    """Nvidia's libraries that a build did not find, as FindCUDA, FindCUDAToolkit, compilers and
    linkers say it; the runtime is none of them."""
    names = (match[match.lastgroup or 0] for match in _CUDA_LIBRARY.finditer(log))
    return tuple(dict.fromkeys(each for each in names if _CUDA_LIBRARIES.match(each.lower())))


def targets_left_out(log: str) -> tuple[str, ...]:
    """Files that make says it could not build, without those that only wait for others."""
    names = (match["target"].rsplit("/", 1)[-1] for match in _NOT_BUILT.finditer(log))
    return tuple(dict.fromkeys(name for name in names if name not in {"all", "rule"}))


def calls_nvcc(log: str) -> bool:
    """Whether the build called ``nvcc``, for which cass put hipcc."""
    return NVCC_CALLED in log
