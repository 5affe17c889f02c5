"""A project of CMake's that finds PyTorch, as the backend's package has it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cass_ray.commands.project import app
from cass_ray.project.pytorch.cmake_package import write_cmake_package

PROJECT = {
    "CMakeLists.txt": """\
cmake_minimum_required(VERSION 3.18)
project(squares LANGUAGES CXX CUDA)
list(APPEND CMAKE_PREFIX_PATH "${TORCH_CMAKE}")
find_package(Torch 2.0 REQUIRED)
set(CMAKE_CXX_FLAGS "${CMAKE_CXX_FLAGS} ${TORCH_CXX_FLAGS}")
add_library(squares SHARED squares.cu)
set_property(TARGET squares PROPERTY CXX_STANDARD 20)
set_property(TARGET squares PROPERTY CUDA_STANDARD 20)
target_include_directories(squares PRIVATE ${TORCH_INCLUDE_DIRS})
target_link_libraries(squares PRIVATE ${TORCH_LIBRARIES})
""",
    "squares.cu": """\
#include <ATen/ops/empty_like.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>
__global__ void square(const float* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x] * in[threadIdx.x];
}
at::Tensor squares(const at::Tensor& in) {
  TORCH_CHECK(in.is_cuda(), "a tensor of a device");
  at::Tensor out = at::empty_like(in);
  const auto stream = c10::cuda::getCurrentCUDAStream();
  square<<<1, in.numel(), 0, stream>>>(in.data_ptr<float>(), out.data_ptr<float>());
  return out;
}
TORCH_LIBRARY(squares, m) { m.def("squares", squares); }
""",
    "check.py": """\
import torch
torch.ops.load_library("build-hip/libsquares.so")
print(torch.ops.squares.squares(torch.arange(5.0, device="cuda")).tolist())
try:
    torch.ops.squares.squares(torch.arange(5.0))
except RuntimeError as error:
    print("refused:", "a tensor of a device" in str(error))
""",
}
BUILD = (
    "cmake -S . -B build-hip -DTORCH_CMAKE=$(python -c"
    ' "import torch; print(torch.utils.cmake_prefix_path)") && cmake --build build-hip'
)


@pytest.mark.slow
def test_a_library_of_operators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    root = tmp_path / "squares"
    root.mkdir()
    for name, text in PROJECT.items():
        (root / name).write_text(text)
    command = [str(root), "-o", "out", "--build", BUILD, "--test", "python check.py"]
    done = CliRunner().invoke(app, [*command, "--no-reference"])
    assert done.exit_code == 0, done.output
    report = json.loads((tmp_path / "out/report.json").read_text())
    (target,) = report["targets"]
    lines = target["test"]["log"].strip().splitlines()
    assert lines[-2:] == ["[0.0, 1.0, 4.0, 9.0, 16.0]", "refused: True"]


def test_the_package_names_what_the_wheels_has(tmp_path: Path) -> None:
    torch = tmp_path / "torch"
    write_cmake_package(tmp_path, torch, tmp_path / "include", tmp_path / "l.so", "2.7.1+cpu")
    folder = tmp_path / "lib/cmake/Torch"
    text = (folder / "TorchConfig.cmake").read_text()
    for name in ("TORCH_INCLUDE_DIRS", "TORCH_LIBRARIES", "TORCH_CXX_FLAGS", "Torch_FOUND"):
        assert f"set({name} " in text
    assert f'"{torch}/include/torch/csrc/api/include"' in text
    assert 'set(PACKAGE_VERSION "2.7.1")' in (folder / "TorchConfigVersion.cmake").read_text()
