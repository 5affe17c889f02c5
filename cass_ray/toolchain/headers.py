"""Which package has a header that a compiler did not find."""

from __future__ import annotations

import csv
import functools
from pathlib import Path, PurePosixPath

from cass_ray.dataset.row import Reason
from cass_ray.toolchain.unit import CompileFailure, unopened_file

_LIBRARIES = {
    "omp": "Debian's libomp-19-dev: of clang's version (make setup installs it)",
    "mpi": "Debian's libopenmpi-dev",
    "gtest": "Debian's libgtest-dev",
    "gomp": "Debian's libgomp1",
    "boost_system": "Debian's libboost-system-dev",
    "boost_program_options": "Debian's libboost-program-options-dev",
    "GL": "Debian's libgl-dev",
    "glut": "Debian's freeglut3-dev",
    "GLEW": "Debian's libglew-dev",
    "fftw3": "Debian's libfftw3-dev",
    "fftw3f": "Debian's libfftw3-dev",
    "hdf5": "Debian's libhdf5-dev",
    "png": "Debian's libpng-dev",
    "jpeg": "Debian's libjpeg-dev",
    "z": "Debian's zlib1g-dev",
    "numa": "Debian's libnuma-dev",
    "openblas": "Debian's libopenblas-dev",
    "lapacke": "Debian's liblapacke-dev",
    **dict.fromkeys(
        ("hipblas", "hipfft", "hiprand", "hipsparse", "hipsolver", "rccl", "MIOpen"),
        "AMD's libraries: cass setup libraries",
    ),
}
"""Library -> where it is."""


def missing_header_advice(failure: CompileFailure) -> str:
    """What to do about the header that ``failure`` is about; empty where it is about none."""
    if failure.reason is not Reason.MISSING_HEADER:
        return ""
    header = unopened_file(failure.diagnostic)
    if not header:
        return ""
    remedy = header_remedy(header)
    advice = f"it is in {remedy}" if remedy else "give the folder that holds it with -I"
    return f"missing header {header}: {advice}"


def header_remedy(header: str) -> str:
    """Which package has ``header``, empty where that is not known.

    The longest entry of ``headers.csv`` that ``header``, or its last part, begins with."""
    names = {header, PurePosixPath(header).name}
    remedies = [
        (len(start), remedy)
        for start, remedy in _remedies().items()
        if any(name.startswith(start) for name in names)
    ]
    return max(remedies, default=(0, ""))[1]


@functools.cache
def _remedies() -> dict[str, str]:
    """The beginning of a header's path -> where it is. A folder ends in ``/``."""
    with Path(__file__).with_name("headers.csv").open(encoding="utf-8", newline="") as file:
        return {row["header"]: row["remedy"] for row in csv.DictReader(file)}


def library_remedy(name: str) -> str:
    """Which package has the library ``lib{name}``, empty where that is not known."""
    return _LIBRARIES.get(name, "")
