"""Units that are written in HIP for both vendors have an Nvidia side."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.hip.nvidia_platform import hip_nvidia_include
from cass_ray.toolchain.locate import find_nvidia
from cass_ray.toolchain.nvidia.hip_sources import with_hip, without_own_hip
from cass_ray.toolchain.unit import CompileFailure, Unit

PROGRAM = """
#include <hip/hip_runtime.h>
#ifndef __HIP_PLATFORM_NVCC__
#error "not the Nvidia platform"
#endif
__global__ void k(float* p, int n) {
  int i = hipBlockIdx_x * blockDim.x + threadIdx.x;
  if (i < n) p[i] *= 2;
}
hipError_t run(float* p, int n, hipStream_t s) {
  hipLaunchKernelGGL(k, dim3(1), dim3(32), 0, s, p, n);
  hipDeviceProp_t properties;
  hipGetDeviceProperties(&properties, 0);
  return hipStreamSynchronize(s);
}
"""


@pytest.fixture
def here() -> Path:
    try:
        return hip_nvidia_include()
    except ToolMissing as missing:
        pytest.skip(str(missing))


@pytest.mark.nvidia
@pytest.mark.parametrize("own", [False, True])
def test_hip_compiles_for_nvidia(here: Path, tmp_path: Path, own: bool) -> None:
    """With a copy of HIP in the tree too, which lacks the header that its build writes."""
    source = PROGRAM.replace("hipBlockIdx_x", "blockIdx.x")
    (tmp_path / "a.cu").write_text(source)
    folders: tuple[PurePosixPath, ...] = ()
    if own:
        (tmp_path / "extern/HIP/include/hip").mkdir(parents=True)
        header = tmp_path / "extern/HIP/include/hip/hip_runtime.h"
        header.write_text("#include <hip/hip_version.h>\n")
        folders = (PurePosixPath("."), PurePosixPath("extern/HIP/include"))
    unit = Unit(tmp_path, PurePosixPath("a.cu"), folders)
    with pytest.raises(CompileFailure):  # a program by itself is CUDA or it is wrong
        find_nvidia().compile(unit, ["sm_80"])
    made = find_nvidia().compile(unit, ["sm_80"], hip_headers=True)
    assert "cudaStreamSynchronize" in made.host_assembly
    flags = find_nvidia().record(made).flags
    assert "-include hip_on_cuda13.h" in flags
    assert "extern/HIP/include" not in flags


@pytest.mark.parametrize(
    ("said", "needs"),
    [
        ("a.cu:1:10: fatal error: hip/hip_runtime.h: No such file or directory", True),
        ("x.h:58:10: fatal error: hip/hip_version.h: No such file or directory", True),
        ('a.cu(1): error: cannot open source file "hip/hip_fp16.h"', True),
        ('a.cu(1): catastrophic error: could not open source file "hip/hip_runtime_api.h"', True),
        ("a.cu:1:10: fatal error: ship/hip.h: No such file or directory", False),
        ("a.cu:1:10: fatal error: hip.h: No such file or directory", False),
        ('a.cu(1): error: identifier "hipMalloc" is undefined', False),
    ],
)
def test_what_asks_for_it(here: Path, tmp_path: Path, said: str, needs: bool) -> None:
    unit = Unit(tmp_path, PurePosixPath("a.cu"))
    made = with_hip(unit, said, fetch=False)
    assert (made != unit) is needs
    assert with_hip(made, said, fetch=False) == made


def test_a_copy_of_hip_is_told_from_other_folders(tmp_path: Path) -> None:
    for name in ("HIP/include/hip/hip_runtime.h", "other/hip/other.h", "more/hip_runtime.h"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    folders = tuple(map(PurePosixPath, ("HIP/include", "other", "more", "absent", ".")))
    assert without_own_hip(tmp_path, folders) == folders[1:]
