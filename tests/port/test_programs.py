"""CUDA programs that check the runtime from within; they run as executables that nvcc made."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest

from benchmarks.lift.cubins import compile_unit
from cass_ray.emulator.build import runtime_library
from cass_ray.emulator.execution import RunOptions
from cass_ray.lift.lowering.target import lift_target
from cass_ray.lift.module import ModuleBuilder
from cass_ray.port.executable import read_executable
from cass_ray.port.lifting import ContainerLifter
from cass_ray.port.running import execute, port
from cass_ray.toolchain.locate import find_nvidia
from cass_ray.toolchain.nvidia.elf import Cubin
from cass_ray.toolchain.sandbox.executable import PROGRAM, WORKING_FOLDER
from cass_ray.toolchain.sandbox.process import Completed
from cass_ray.toolchain.unit import Unit
from tests.port.conftest import PROGRAMS

pytestmark = [pytest.mark.nvidia, pytest.mark.amd]

UNSUPPORTED = r"""
#include <cstdio>
__global__ void nothing() {}
int main() {
  cudaIpcMemHandle_t handle;
  std::printf("%d %d\n", cudaIpcGetMemHandle(&handle, nullptr), cudaIpcGetMemHandle(&handle, nullptr));
  std::printf("%d\n", cudaGetLastError());
}
"""  # noqa: E501


ASSERTION = r"""
#include <cassert>
#include <cstdio>
__global__ void check(const int *values) {
  assert(values[blockIdx.y * 3 + threadIdx.x] != 7);
}
int main() {
  const int host[6] = {1, 2, 3, 4, 7, 6};
  int *values;
  cudaMalloc(&values, sizeof host);
  cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice);
  check<<<dim3(1, 2), 3>>>(values);
  std::printf("%d\n", cudaDeviceSynchronize());
}
"""


@pytest.mark.parametrize("architecture", ["sm_80", "sm_120"])
def test_failed_assertions_say_where(
    run_ported: Callable[..., Completed], architecture: str
) -> None:
    """The line is that of the CUDA C++ Programming Guide, "Assertion"; the code is HIP's."""
    done = run_ported("assertion.cu", ASSERTION, architecture)
    assert "710" in done.stdout_text
    where = "void check(const int *): block: [0,1,0], thread: [1,0,0]"
    wanted = (
        f"assertion.cu:5: {where} Assertion `values[blockIdx.y * 3 + threadIdx.x] != 7` failed."
    )
    assert done.stderr_text.count("Assertion") == 1
    assert wanted in done.stderr_text


FAULT = r"""
#include <cstdio>
__global__ void write(int *target) { *target = 1; }
int main() {
  int *made, *more, host = 5;
  cudaMalloc(&made, sizeof *made);
  cudaMemcpy(made, &host, sizeof host, cudaMemcpyHostToDevice);
  int *mapped;
  cudaMallocManaged(&mapped, sizeof *mapped);
  *mapped = 7;
  write<<<1, 1>>>(nullptr);
  const int fault = cudaDeviceSynchronize();
  host = 6;
  write<<<1, 1>>>(mapped);
  const int later[] = {cudaGetLastError(), cudaGetLastError(), cudaMalloc(&more, 4),
                       cudaMemcpy(&host, made, sizeof host, cudaMemcpyDeviceToHost),
                       cudaStreamSynchronize(nullptr), cudaDeviceSynchronize()};
  std::printf("%d", fault == cudaErrorIllegalAddress || fault == cudaErrorLaunchFailure);
  for (const int each : later) std::printf(" %d", each == fault);
  std::printf(" %d %d\n", host, *mapped);
}
"""


def test_after_a_fault_every_call_returns_it(run_ported: Callable[..., Completed]) -> None:
    """driver_types.h: "any further CUDA work will return the same error"; nothing is done."""
    done = run_ported("fault.cu", FAULT)
    assert done.stdout_text == "1 1 1 1 1 1 1 6 7\n"


def test_memory(run_ported: Callable[..., Completed]) -> None:
    done = run_ported("memory.cu")
    assert (done.returncode, done.stdout_text, done.stderr_text) == (0, "", "")


def test_streams_graphs_launches_and_errors(run_ported: Callable[..., Completed]) -> None:
    done = run_ported("control.cu")
    # The text is what CUDA's own runtime prints for code 9.
    wanted = "cudaErrorInvalidConfiguration: invalid configuration argument\n"
    assert (done.returncode, done.stdout_text) == (0, wanted)


@pytest.mark.parametrize("architecture", ["sm_80", pytest.param("sm_120", marks=pytest.mark.slow)])
def test_arrays_textures_and_surfaces(
    run_ported: Callable[..., Completed], architecture: str
) -> None:
    done = run_ported("textures.cu", architecture=architecture)
    assert (done.returncode, done.stdout_text, done.stderr_text) == (0, "", "")


@pytest.mark.parametrize(
    "architecture",
    [
        "sm_120",
        pytest.param("sm_75", marks=pytest.mark.slow),
        pytest.param("sm_90", marks=pytest.mark.slow),
    ],
)
def test_cube_maps(run_ported: Callable[..., Completed], architecture: str) -> None:
    done = run_ported("cube_maps.cu", architecture=architecture)
    assert (done.returncode, done.stdout_text, done.stderr_text) == (0, "", "")


@pytest.mark.parametrize(
    "architecture",
    [
        "sm_75",
        pytest.param("sm_90", marks=pytest.mark.slow),
        pytest.param("sm_120", marks=pytest.mark.slow),
    ],
)
def test_gradients_and_places_beyond_edges(
    run_ported: Callable[..., Completed], architecture: str
) -> None:
    done = run_ported("texture_edges.cu", architecture=architecture)
    assert (done.returncode, done.stdout_text, done.stderr_text) == (0, "", "")


def test_waits_for_many_cycles_end(run_ported: Callable[..., Completed]) -> None:
    done = run_ported("clocks.cu")
    assert (done.returncode, done.stdout_text, done.stderr_text) == (0, "", "")


@pytest.mark.parametrize("architecture", [pytest.param("sm_75", marks=pytest.mark.slow), "sm_90"])
def test_forms_of_the_harvest(run_ported: Callable[..., Completed], architecture: str) -> None:
    done = run_ported("harvested.cu", architecture=architecture)
    assert (done.returncode, done.stdout_text, done.stderr_text) == (0, "", "")


def test_these_forms_are_what_nvcc_makes_of_it() -> None:
    """Else the program would test something else; and its long block has stretches."""
    nvidia = find_nvidia()
    unit = Unit(PROGRAMS, PurePosixPath("harvested.cu"))
    cubins, message = compile_unit(nvidia, unit, ["sm_75"])
    assert not message
    listing = nvidia.disassemble([cubins["sm_75"]])[0]
    assert "LDG.E.U.128.CONSTANT.SYS" in listing
    assert "SR_VIRTUALSMID" in listing
    builder = ModuleBuilder(Cubin.parse(cubins["sm_75"]), listing, target=lift_target("gfx1100"))
    ir = builder.module({"mix": builder.lift("_Z3mixPKjPj")}, {}).text
    assert ir.count("call void @llvm.amdgcn.sched.barrier") > 1


SEAMLESS = r"""
#include <cstdio>
__global__ void nothing() {}
int main() {
  const auto format = cudaCreateChannelDesc<float>();
  cudaResourceDesc resource{};
  std::printf("%d\n", cudaMalloc3DArray(&resource.res.array.array, &format, make_cudaExtent(4, 4, 6), cudaArrayCubemap));
  cudaTextureDesc texture{};
  texture.filterMode = cudaFilterModeLinear;
  texture.seamlessCubemap = 1;
  cudaTextureObject_t made;
  std::printf("%d\n", cudaCreateTextureObject(&made, &resource, &texture, nullptr));
}
"""  # noqa: E501


def test_filtering_across_the_edges_of_a_cube_is_refused(
    run_ported: Callable[..., Completed],
) -> None:
    """It has the next face's texels beyond an edge, which a layer of an array has not."""
    done = run_ported("seamless.cu", SEAMLESS)
    assert done.stdout_text == "0\n801\n"
    assert "filtered across edges is not supported" in done.stderr_text


BORDER = r"""
#include <cstdio>
__global__ void nothing() {}
int main() {
  const auto format = cudaCreateChannelDesc<float>();
  cudaResourceDesc resource{};
  std::printf("%d", cudaMallocArray(&resource.res.array.array, &format, 4, 4));
  cudaTextureDesc texture{};
  cudaTextureObject_t made;
  const int minus_zero = 1 << 31;  // of a texture of integers
  for (const auto mode : {cudaAddressModeClamp, cudaAddressModeBorder}) {
    texture.addressMode[1] = mode;
    for (const float color : {0.0f, 7.0f, reinterpret_cast<const float&>(minus_zero)}) {
      texture.borderColor[2] = color;
      std::printf(" %d", cudaCreateTextureObject(&made, &resource, &texture, nullptr));
    }
  }
}
"""


def test_border_colors_are_refused(run_ported: Callable[..., Completed]) -> None:
    """HIP's sampler has zeros there; where no axis has a border, the colour does not matter."""
    done = run_ported("border.cu", BORDER)
    assert done.stdout_text == "0 0 0 0 0 801 801"
    assert done.stderr_text == "cass CUDA runtime: a border color of a texture is not supported\n"


@pytest.mark.parametrize("architecture", ["sm_90", pytest.param("sm_80", marks=pytest.mark.slow)])
def test_requests_beside_the_work(run_ported: Callable[..., Completed], architecture: str) -> None:
    done = run_ported("requests.cu", architecture=architecture)
    assert (done.returncode, done.stdout_text) == (0, "")
    said = [line.removeprefix("cass CUDA runtime: ") for line in done.stderr_text.splitlines()]
    assert said == [
        "a node that kernels can update is not supported",
        "a kernel is to have 65537 bytes of dynamic shared memory, 65536 are left to it here",
    ]


NO_TEXT = r"""
#include <cstdio>
__device__ char changeable[] = "<%s>";
__global__ void print(const char *text) {
  printf("[%s]", text);
  printf(changeable, text);
}
int main() {
  print<<<1, 1>>>(nullptr);
  return cudaDeviceSynchronize();
}
"""


def test_no_text_prints_as_on_a_gpu(run_ported: Callable[..., Completed]) -> None:
    """An H200 printed ``[(null)]``."""
    assert run_ported("no_text.cu", NO_TEXT).stdout_text == "[(null)]<(null)>"


def test_missing_call_says_so_once_and_fails(run_ported: Callable[..., Completed]) -> None:
    done = run_ported("unsupported.cu", UNSUPPORTED)
    assert done.stdout_text == "801 801\n801\n"
    assert done.stderr_text == "cass CUDA runtime: cudaIpcGetMemHandle is not supported\n"


ATTRIBUTES = r"""
#include <cstdio>
__global__ void nothing() {}
int main() {
  cudaFuncAttributes attributes;
  std::printf("%d ", cudaFuncGetAttributes(&attributes, nothing));
  std::printf("%d %d\n", attributes.ptxVersion, attributes.binaryVersion);
}
"""


@pytest.mark.parametrize("version", [80, pytest.param(89, marks=pytest.mark.slow), 90])
def test_versions_of_a_kernel_are_the_originals(
    run_ported: Callable[..., Completed], version: int
) -> None:
    """nvcc -arch=sm_N puts both at N (CUDA runtime API, cudaFuncAttributes); CUB goes by them."""
    done = run_ported("attributes.cu", ATTRIBUTES, f"sm_{version}")
    assert done.stdout_text == f"0 {version} {version}\n"


@pytest.mark.slow
@pytest.mark.parametrize("version", [80, 90])
def test_cubs_radix_sort_with_wide_counts(
    run_ported: Callable[..., Completed], version: int
) -> None:
    done = run_ported("radix_sort.cu", architecture=f"sm_{version}")
    assert done.stdout_text == f"{version} {version}\n0 0 out of order 0, the same keys 1\n"


PTX_ONLY = r"""
#include <cstdio>
__global__ void multiply(int *out) { out[threadIdx.x] = threadIdx.x * 3; }
int main() {
  int *memory, found[32];
  cudaMalloc(&memory, sizeof(found));
  multiply<<<1, 32>>>(memory);
  cudaMemcpy(found, memory, sizeof(found), cudaMemcpyDeviceToHost);
  cudaFuncAttributes attributes;
  cudaFuncGetAttributes(&attributes, multiply);
  std::printf("%d %d\n", found[31], attributes.binaryVersion);
}
"""

LAUNCHES_FROM_THE_DEVICE = r"""
__global__ void child(int *out) { out[threadIdx.x] = 7; }
__global__ void parent(int *out) { child<<<1, 32>>>(out); }
int main() { parent<<<1, 1>>>(nullptr); }
"""


def built(folder: Path, text: str, *flags: str) -> Path:
    (folder / "program.cu").write_text(text)
    nvidia = find_nvidia()
    libraries = [f"-L{directory}" for directory in nvidia.library_directories]
    command = [str(nvidia.nvcc), *nvidia.flags("-O3"), "-cudart", "shared", *flags, *libraries]
    command += ["program.cu", "-o", "program"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder / "program"


@pytest.mark.parametrize("version", [75, pytest.param(80, marks=pytest.mark.slow), 120])
def test_ptx_alone_is_assembled(lifter: ContainerLifter, tmp_path: Path, version: int) -> None:
    flags = ("-gencode", f"arch=compute_{version},code=compute_{version}")
    ported = port(read_executable(built(tmp_path, PTX_ONLY, *flags)), lifter)
    done = execute(ported, [], runtime_library(), RunOptions(seconds=60))
    assert done.stdout_text == f"93 {version}\n"


def test_a_program_sees_what_it_sees_in_other_runs(run_ported: Callable[..., Completed]) -> None:
    text = r"""
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
int main(int, char** arguments) {
  char here[99];
  std::printf("%s %s %s\n", arguments[0], getenv("TMPDIR"), getcwd(here, sizeof here));
}
"""
    assert (
        run_ported("sees.cu", text).stdout_text == f"{PROGRAM} {WORKING_FOLDER} {WORKING_FOLDER}\n"
    )


def test_launches_from_the_device_are_refused_by_name(
    lifter: ContainerLifter, tmp_path: Path
) -> None:
    flags = ("-arch=sm_90", "-rdc=true", "-lcudadevrt")
    executable = built(tmp_path, LAUNCHES_FROM_THE_DEVICE, *flags)
    (reason,) = port(read_executable(executable), lifter).failures.values()
    assert "dynamic parallelism" in reason
    assert "__cuda_syscall_cnpv2LaunchDeviceV2" in reason
