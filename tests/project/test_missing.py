"""What a build lacks, by what its tools say."""

from __future__ import annotations

import sys

import pytest

from cass_ray.project.missing import calls_nvcc, cuda_libraries, what_is_missing


@pytest.mark.parametrize(
    ("log", "line"),
    [
        ("a.c:1:10: fatal error: 'omp.h' file not found\n",
         "missing header omp.h: it is in Debian's libomp-19-dev"),
        ("a.c:2:10: fatal error: mpi.h: No such file or directory\n",
         "missing header mpi.h: it is in Debian's libopenmpi-dev"),
        ("a.cu:4:10: fatal error: 'format' file not found\n",
         "missing header format: it is in the standard library of GCC 13 and later"),
        ("ld.lld: error: unable to find library -lomp\n", "missing library omp: it is in Debian's"),
        ("ld: cannot find -lomp: No such file or directory\n", "missing library omp: it is in"),
        ("/usr/bin/ld: cannot find -lmine\n",
         "missing library mine: install the package that has libmine"),
        ("/bin/bash: line 1: meson: command not found\n",
         "missing program meson: it is in Debian's meson"),
        ("make: xxd: No such file or directory\n", "missing program xxd: it is in Debian's xxd"),
        ("/bin/sh: 1: bison: not found\n", "missing program bison: it is in Debian's bison"),
        ("/bin/sh: line 1: cmake: command not found\n",
         "missing program cmake: it is in Debian's cmake"),
        ("bash: line 1: ctest: command not found\n",
         "missing program ctest: it is in Debian's cmake"),
        ("/bin/sh: 1: ninja: not found\n", "missing program ninja: it is in Debian's ninja-build"),
        ("make: mytool: No such file or directory\n",
         "missing program mytool: install the package that has it"),
        ("CMake Error at CMakeLists.txt:1 (cmake_minimum_required):\n"
         "  CMake 3.26 or higher is required.  You are running version 3.25.1\n",
         f"CMake 3.26 is wanted, 3.25.1 is here: {sys.executable} -m pip install 'cmake>=3.26'"),
        ("  Target \"x\" requires the language dialect \"CUDA20\" (with compiler\n",
         "this CMake does not know nvcc's newer C++ dialects: "),
        ("  Could not find a package configuration file provided by \"hipblas\" with any\n",
         "missing CMake package hipblas: it is in AMD's libraries: cass setup libraries"),
        ("  Could not find a package configuration file provided by\n  \"strf\" with any of\n",
         "missing CMake package strf: install the package that has it"),
        ("CMake Error at FindPackageHandleStandardArgs.cmake:230 (message):\n"
         "  Could NOT find GTest (missing: GTEST_LIBRARY)\n",
         "missing CMake package GTest: it is in Debian's libgtest-dev"),
    ],
)  # fmt: skip
def test_each_is_named(log: str, line: str) -> None:
    (said,) = what_is_missing(log)
    assert said.startswith(line)


@pytest.mark.parametrize(
    "log",
    ["-- Could NOT find Unwind (missing: UNWIND_LIBRARY)\n",
     "a.c:1:2: error: use of undeclared identifier 'x'\n", "mine.h: fatal error: own.h\n",
     "a.c:1:10: fatal error: 'own.h' file not found\n", ""],
)  # fmt: skip
def test_what_the_project_itself_lacks_is_not(log: str) -> None:
    assert what_is_missing(log) == ()


def test_a_call_of_nvcc_is_seen() -> None:
    assert calls_nvcc("nvcc: ROCm has none: the build of the port calls it\n")
    assert not calls_nvcc("nvcc: error\n")


@pytest.mark.parametrize(
    ("log", "names"),
    [
        # FindCUDA, as CMake 3.25 ends with variables that are not set.
        ("CMake Error: The following variables are used in this project, but they are set to"
         " NOTFOUND.\nPlease set them or make sure they are set and tested correctly in the CMake"
         " files:\nCUDA_cublas_LIBRARY (ADVANCED)\n    linked by target \"sgemm\"\n", ("cublas",)),
        ("CUDA_CUFFT_LIBRARY (ADVANCED)\nCUDA_CUDART_LIBRARY\n", ("CUFFT",)),
        # FindCUDAToolkit
        ("  Target \"a\" links to:\n\n    CUDA::cublasLt\n\n  but the target was not found.\n"
         "    CUDA::cudart\n", ("cublasLt",)),
        ("/usr/bin/ld: cannot find -lcusolver: No such file or directory\n"
         "/usr/bin/ld: cannot find -lcusparse\n", ("cusolver", "cusparse")),
        ("ld.lld: error: unable to find library -lnppial\n", ("nppial",)),
        ("/usr/bin/ld: cannot find -lcustom\n/usr/bin/ld: cannot find -lcudart\n", ()),
        ("CUDA_TOOLKIT_ROOT_DIR not found\n", ()),
    ],
)  # fmt: skip
def test_nvidias_libraries_that_a_build_did_not_find(log: str, names: tuple[str, ...]) -> None:
    assert cuda_libraries(log) == names
