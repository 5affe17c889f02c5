"""A missing header is named with the package that has it, as each compiler says it."""

from __future__ import annotations

import pytest

from cass_ray.dataset.row import Reason
from cass_ray.toolchain.headers import missing_header_advice
from cass_ray.toolchain.unit import CompileFailure

CLANG = "a.hip:1:10: fatal error: '{}' file not found\n"
GCC = "a.cu:2:10: fatal error: {}: No such file or directory\n"
EDG = 'a.cu(3): catastrophic error: cannot open source file "{}"\n'


@pytest.mark.parametrize("message", [CLANG, GCC, EDG])
@pytest.mark.parametrize(
    ("header", "advice"),
    [
        ("mpi.h", "it is in Debian's libopenmpi-dev"),
        ("opencv2/core.hpp", "it is in Debian's libopencv-dev, with -I for opencv4"),
        ("GL/glut.h", "it is in Debian's freeglut3-dev"),
        ("GL/gl.h", "it is in Debian's libgl-dev"),
        ("helper_cuda.h", "it is in the folder Common of NVIDIA's cuda-samples, with -I"),
        ("cublas_v2.h", "it is in the Python package nvidia-cublas"),
        ("mine/grid.h", "give the folder that holds it with -I"),
    ],
)
def test_advice(message: str, header: str, advice: str) -> None:
    failure = CompileFailure(Reason.MISSING_HEADER, message.format(header), "nvcc")
    assert missing_header_advice(failure) == f"missing header {header}: {advice}"


def test_other_failures_get_none() -> None:
    failure = CompileFailure(Reason.COMPILE_ERROR, CLANG.format("mpi.h"), "clang")
    assert missing_header_advice(failure) == ""
