"""Programs of CUDA's driver interface and of NVRTC: what they load is lifted when they load it."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cass_ray.emulator.build import runtime_library
from cass_ray.emulator.execution import RunOptions
from cass_ray.port import fatbin
from cass_ray.port.executable import read_executable
from cass_ray.port.lifting import ContainerLifter
from cass_ray.port.running import execute, not_provided, port
from cass_ray.port.service import answer_for
from cass_ray.port.shim import driver_library
from cass_ray.toolchain.sandbox.process import Completed
from cass_ray.toolchain.search_paths import SearchPaths
from tests.port.conftest import PROGRAMS

pytestmark = [pytest.mark.nvidia, pytest.mark.amd]

IMAGES = {
    "cubin": (["-arch=sm_80", "-cubin"], 80),
    "ptx": (["-arch=compute_90", "-ptx"], 90),
    "fatbin": (["-gencode", "arch=compute_80,code=sm_80", "-fatbin"], 80),
}


def linked(lifter: ContainerLifter, source: Path, program: Path, *libraries: str) -> Path:
    """A host program of the driver interface, as a C++ compiler makes it."""
    nvidia, driver = lifter.nvidia, driver_library(runtime_library())
    command: list[str | Path] = ["g++", "-std=c++17", source, "-o", program]
    command += [f"-I{folder}" for folder in nvidia.include_directories]
    command += [f"-L{folder}" for folder in (driver.parent, *nvidia.library_directories)]
    command += [f"-l:{driver.name}", *libraries, "-Wl,--allow-shlib-undefined"]
    subprocess.run(command, check=True, capture_output=True)
    return program


@pytest.fixture(scope="module")
def program(lifter: ContainerLifter, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("driver")
    return linked(lifter, PROGRAMS / "driver.cpp", folder / "driver")


@pytest.fixture
def run_with(
    lifter: ContainerLifter, program: Path, tmp_path: Path
) -> Iterator[Callable[[bytes], Completed]]:
    def run_image(image: bytes) -> Completed:
        (tmp_path / "image").write_bytes(image)
        ported = port(read_executable(program), lifter)
        options = RunOptions(seconds=120, inputs=tmp_path)
        return execute(ported, ["image"], runtime_library(), options)

    yield run_image


@pytest.mark.parametrize("kind", IMAGES)
def test_a_module_is_lifted_when_it_is_loaded(
    lifter: ContainerLifter, run_with: Callable[[bytes], Completed], tmp_path: Path, kind: str
) -> None:
    flags, version = IMAGES[kind]
    made = tmp_path / "made"
    command = [lifter.nvidia.nvcc, *flags, PROGRAMS / "loaded.cu", "-o", made]
    subprocess.run(command, check=True, capture_output=True)
    done = run_with(made.read_bytes())
    assert (done.returncode, done.stdout_text) == (0, f"{version}\n"), done.stderr_text
    assert "cass CUDA runtime: ptxas: " in done.stderr_text  # what it loads last is no PTX


@pytest.mark.parametrize("image", [b"\x7fELF\x02\x01\x01" + bytes(200), b"no such code"])
def test_what_is_no_device_code_is_an_error_of_the_call(
    run_with: Callable[[bytes], Completed], image: bytes
) -> None:
    done = run_with(image)
    assert done.returncode == 1
    assert re.fullmatch(r"line \d+: CUDA_ERROR_INVALID_(IMAGE|PTX)\n", done.stdout_text)
    assert "cass CUDA runtime: " in done.stderr_text


def test_ptx_without_ptxas_says_what_to_do(lifter: ContainerLifter, tmp_path: Path) -> None:
    nvidia = replace(lifter.nvidia, nvcc=tmp_path / "nvcc")
    without = ContainerLifter(nvidia, lifter.amd, cache=tmp_path)
    result, _, message, code, _ = answer_for(b".version 8.0\n.target sm_80\n", without)
    assert (result, code) == (221, b"")  # CUDA_ERROR_JIT_COMPILER_NOT_FOUND
    assert "`ptxas -arch=sm_80 x.ptx -o x.cubin`" in message


def test_ptx_for_a_processor_before_the_first_that_ptxas_knows(lifter: ContainerLifter) -> None:
    text = b".version 6.0\n.target sm_52\n.address_size 64\n.visible .entry k() { ret; }\n"
    number, cubin = fatbin.assembled_ptx(text, lifter.nvidia)
    assert number == min(int(name.removeprefix("sm_")) for name in lifter.nvidia.targets)
    assert lifter.lift_image(cubin).kernels == ("k",)


NVRTC = r"""
#include <cuda.h>
#include <nvrtc.h>
#include <cstdio>
#include <vector>
const char *text = "extern \"C\" __global__ void square(int *v) { v[threadIdx.x] *= v[threadIdx.x]; }";
int main() {
  CUdevice device; CUcontext context; CUmodule module; CUfunction square; CUdeviceptr memory;
  nvrtcProgram program;
  const char *options[] = {"--gpu-architecture=compute_80"};
  if (nvrtcCreateProgram(&program, text, "square.cu", 0, nullptr, nullptr) != NVRTC_SUCCESS) return 2;
  if (nvrtcCompileProgram(program, 1, options) != NVRTC_SUCCESS) return 3;
  std::size_t size = 0;
  nvrtcGetPTXSize(program, &size);
  std::vector<char> ptx(size);
  nvrtcGetPTX(program, ptx.data());
  cuInit(0);
  cuDeviceGet(&device, 0);
  cuCtxCreate(&context, nullptr, 0, device);
  if (cuModuleLoadData(&module, ptx.data()) != CUDA_SUCCESS) return 4;
  cuModuleGetFunction(&square, module, "square");
  std::vector<int> values;
  for (int i = 0; i < 32; ++i) values.push_back(i);
  cuMemAlloc(&memory, 128);
  cuMemcpyHtoD(memory, values.data(), 128);
  void *parameters[] = {&memory};
  if (cuLaunchKernel(square, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr) != CUDA_SUCCESS) return 5;
  cuMemcpyDtoH(values.data(), memory, 128);
  int sum = 0;
  for (int value : values) sum += value;
  std::printf("%d\n", sum);
  cuIpcCloseMemHandle(memory);
  return cuCtxDestroy(context);
}
"""  # noqa: E501


def test_a_program_of_nvrtc(lifter: ContainerLifter, tmp_path: Path) -> None:
    """The sum of the squares below 32, 31 * 32 * 63 / 6; Nvidia's compiler needs no GPU."""
    homes = [home.path for home in SearchPaths().cuda_homes()]
    home = next((path for path in homes if (path / "include/nvrtc.h").exists()), None)
    if home is None:
        pytest.skip("no toolkit here has NVRTC")
    source = tmp_path / "nvrtc.cpp"
    source.write_text(NVRTC)
    flags = (f"-I{home}/include", f"-L{home}/lib", f"-L{home}/lib64", "-l:libnvrtc.so.13")
    executable = read_executable(linked(lifter, source, tmp_path / "nvrtc", *flags))
    assert executable.runtime is None
    assert not_provided(executable, lifter.nvidia) == []
    done = execute(port(executable, lifter), [], runtime_library(), RunOptions(seconds=120))
    assert (done.returncode, done.stdout_text) == (0, "10416\n"), done.stderr_text
    assert done.stderr_text == "cass CUDA runtime: cuIpcCloseMemHandle is not supported\n"


def test_all_of_the_drivers_entry_points_are_there(lifter: ContainerLifter) -> None:
    """Those that CUDA's header declares, by the names that it gives them in objects."""
    folder = next(f for f in lifter.nvidia.include_directories if (f / "cuda.h").exists())
    command = ["g++", "-E", "-P", "-x", "c++", folder / "cuda.h"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    declared = set(re.findall(r"CUresult\s+(cu[A-Z]\w*)\s*\(", text))
    library = driver_library(runtime_library())
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True
    ).stdout
    exported = {line.split()[2] for line in listed.splitlines()}
    assert len(declared) > 400
    assert declared - exported == set()
