"""PyTorch extensions: built for AMD, their operators run on the CPU backend's devices."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cass_ray.commands.project import app
from cass_ray.project.build_system import (
    BuildSystem,
    find_plan,
    has_tensors_on_devices,
    has_torch_extension,
    uses_torch,
)
from cass_ray.project.pytorch.backend import TorchInstall, translated_headers
from cass_ray.project.pytorch.startup.cass_torch_device import with_old_argument
from cass_ray.translate.engines.registry import make_translator

EXTENSION = {
    "setup.py": """\
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension

setup(
    name="rowsoftmax",
    ext_modules=[CUDAExtension("rowsoftmax", ["rowsoftmax.cpp", "rowsoftmax_kernel.cu"])],
    cmdclass={"build_ext": BuildExtension},
)
""",
    "rowsoftmax.cpp": """\
#include <torch/extension.h>

torch::Tensor row_softmax(torch::Tensor input);
void sparse_handle();
void graph();
void pool();
bool peers(int64_t device, int64_t peer);
bool overlaps(torch::Tensor tensor);
std::tuple<uint64_t, uint64_t> philox(int64_t increment);

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("row_softmax", &row_softmax, "softmax of each row");
  m.def("sparse_handle", &sparse_handle, "a handle of cuSPARSE");
  m.def("graph", &graph, "a CUDA graph");
  m.def("pool", &pool, "a pool of memory");
  m.def("peers", &peers, "whether a device reads another's memory");
  m.def("overlaps", &overlaps, "whether two indices may be of one element");
  m.def("philox", &philox, "seed and offset for a kernel that draws numbers");
}
""",
    "rowsoftmax_kernel.cu": """\
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/cuda/CUDAGraph.h>
#include <ATen/cuda/CUDAGraphsUtils.cuh>
#include <ATen/cuda/MemPool.h>
#include <ATen/cuda/PeerToPeerAccess.h>
#include <ATen/cuda/Sleep.h>
#include <ATen/cuda/detail/IndexUtils.cuh>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>
#include <torch/extension.h>

template <typename scalar_t>
__global__ void softmax_kernel(const scalar_t* input, scalar_t* output, int columns) {
  const scalar_t* row = input + blockIdx.x * static_cast<int64_t>(columns);
  float most = -INFINITY;
  for (int i = threadIdx.x; i < columns; i += 32) most = fmaxf(most, static_cast<float>(row[i]));
  for (int step = 16; step > 0; step /= 2)
    most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, step));
  float sum = 0.0f;
  for (int i = threadIdx.x; i < columns; i += 32)
    sum += expf(static_cast<float>(row[i]) - most);
  for (int step = 16; step > 0; step /= 2)
    sum += __shfl_xor_sync(0xffffffff, sum, step);
  for (int i = threadIdx.x; i < columns; i += 32)
    output[blockIdx.x * static_cast<int64_t>(columns) + i] =
        static_cast<scalar_t>(expf(static_cast<float>(row[i]) - most) / sum);
}

torch::Tensor row_softmax(torch::Tensor input) {
  TORCH_CHECK(input.is_cuda(), "a CUDA tensor is wanted");
    const c10::cuda::CUDAGuard guard(input.device());
  torch::Tensor output = torch::empty_like(input);
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(input.scalar_type(), "row_softmax", [&] {
    softmax_kernel<scalar_t><<<input.size(0), 32, 0, at::cuda::getCurrentCUDAStream()>>>(
        input.data_ptr<scalar_t>(), output.data_ptr<scalar_t>(), input.size(1));
  });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return output;
}

void sparse_handle() { at::cuda::getCurrentCUDASparseHandle(); }
void graph() { at::cuda::CUDAGraph graph; }
void pool() { at::cuda::MemPool pool; }

bool peers(int64_t device, int64_t peer) {
  at::cuda::sleep(1000000);
  return at::cuda::get_p2p_access(device, peer);
}

bool overlaps(torch::Tensor tensor) { return at::cuda::detail::maybeOverlappingIndices(tensor); }

std::tuple<uint64_t, uint64_t> philox(int64_t increment) {
  auto* generator = at::get_generator_or_default<at::CUDAGeneratorImpl>(
      std::nullopt, at::cuda::detail::getDefaultCUDAGenerator());
  std::lock_guard<std::mutex> lock(generator->mutex_);
  return at::cuda::philox::unpack(generator->philox_cuda_state(increment));
}
""",
    "test_rowsoftmax.py": """\
import pytest
import torch

import rowsoftmax


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16])
def test_softmax(dtype):
    x = torch.randn(5, 77, device="cuda", dtype=dtype)
    expected = torch.softmax(x.cpu().double(), dim=1)
    found = rowsoftmax.row_softmax(x)
    assert found.is_cuda
    torch.testing.assert_close(found.cpu().double(), expected, atol=1e-3, rtol=1e-3)


def test_host_tensor_is_refused():
    with pytest.raises(RuntimeError, match="CUDA tensor"):
        rowsoftmax.row_softmax(torch.randn(2, 3))


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (rowsoftmax.sparse_handle, "a handle of hipSPARSE"),
        (rowsoftmax.graph, "a CUDA graph"),
        (rowsoftmax.pool, "a memory pool"),
    ],
)
def test_what_is_not_there_is_refused_by_name(function, what):
    with pytest.raises(NotImplementedError, match=f"{what} is not there"):
        function()


def test_a_device_is_no_peer_of_its_own():
    assert not rowsoftmax.peers(0, 0)


def test_overlapping_indices():
    x = torch.arange(12, device="cuda")
    assert not rowsoftmax.overlaps(x)
    assert not rowsoftmax.overlaps(x.view(3, 4).t())
    assert not rowsoftmax.overlaps(x.view(3, 1, 4)[:, :, ::2])
    assert rowsoftmax.overlaps(x[:3].expand(2, 3))
    assert rowsoftmax.overlaps(x.as_strided((3, 3), (2, 1)))
    assert not rowsoftmax.overlaps(x.as_strided((3, 2), (2, 1)))


def test_generators():
    torch.cuda.manual_seed(42)
    assert rowsoftmax.philox(5) == (42, 0)
    assert rowsoftmax.philox(1) == (42, 8)  # Philox makes four numbers at a time
    state = torch.cuda.get_rng_state()
    first = torch.rand(4, device="cuda").tolist()
    assert len(set(first + torch.rand(4, device="cuda").tolist())) == 8
    torch.cuda.set_rng_state(state)
    assert torch.rand(4, device="cuda").tolist() == first
    host = torch.get_rng_state()
    own = torch.Generator(device="cuda").manual_seed(7)
    drawn = torch.randn(3, device="cuda", generator=own).tolist()
    assert torch.randn(3, device="cuda", generator=own.manual_seed(7)).tolist() == drawn
    assert torch.equal(torch.get_rng_state(), host)
    with pytest.raises(RuntimeError, match="Expected a 'cuda' device type"):
        torch.rand(2, device="cuda", generator=torch.Generator())


def test_memory():
    free, total = torch.cuda.mem_get_info()
    assert 0 < free <= total == torch.cuda.get_device_properties(0).total_memory


def test_operators_of_pytorch():
    x = torch.arange(6.0, device="cuda").view(2, 3)
    assert (x @ x.T).cpu().tolist() == [[5.0, 14.0], [14.0, 50.0]]
    assert x.t()[1].tolist() == [1.0, 4.0]
    assert x[x > 3].tolist() == [4.0, 5.0]
    x[:, 1] = 7
    assert x.tolist() == [[0.0, 7.0, 2.0], [3.0, 7.0, 5.0]]
    y = torch.ones(3, 3, device="cuda", requires_grad=True)
    (y * y).sum().backward()
    assert y.grad.tolist() == [[2.0] * 3] * 3
    empty = torch.empty(0, device="cuda").resize_(2).fill_(1)
    assert torch.cat([empty, empty]).sum().item() == 4.0
    assert torch.cuda.get_device_properties(0).warp_size == 32
""",
}


def write(folder: Path) -> Path:
    for name, text in EXTENSION.items():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_extension_is_recognized(tmp_path: Path) -> None:
    root = write(tmp_path / "rowsoftmax")
    (root / "CMakeLists.txt").write_text("project(rowsoftmax)\n")
    assert uses_torch(root)
    plan = find_plan(root)
    assert plan.system is BuildSystem.PYTHON
    assert plan.build == "MAX_JOBS=2 python setup.py build_ext --inplace"
    assert plan.test == "python -m pytest -q"
    (root / "test_rowsoftmax.py").unlink()
    assert find_plan(root).test == ""


def test_other_packages_need_no_torch(tmp_path: Path) -> None:
    (tmp_path / "setup.py").write_text("from setuptools import setup\nsetup()\n")
    assert not uses_torch(tmp_path)


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("setup.py", "from torch.utils.cpp_extension import CUDAExtension\n", True),
        ("src/setup.py", "import torch.utils.cpp_extension\n", True),
        ("a/b/ops.py", "from torch.utils.cpp_extension import load\n", True),
        ("CMakeLists.txt", "project(a)\nFind_Package( Torch REQUIRED)\n", True),
        ("cmake/deps.cmake", "find_package(Torch)\n", True),
        ("CMakeLists.txt", "# find_package(Torch)\nfind_package(TorchVision)\n", False),
        ("train.py", "import torch\n", False),
        ("build-hip/setup.py", "import torch.utils.cpp_extension\n", False),
        ("notes.md", "torch.utils.cpp_extension\n", False),
    ],
)
def test_extensions_anywhere_in_a_project(
    tmp_path: Path, path: str, text: str, expected: bool
) -> None:
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_text(text)
    assert has_torch_extension(tmp_path) is expected
    assert uses_torch(tmp_path) is (path == "setup.py")


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("examples/run.py", 'import torch\nx = torch.rand(3, device="cuda")\n', True),
        ("run.py", "from torch import rand\nx = rand(3).cuda()\n", True),
        ("run.py", "import torch\nx = torch.rand(3, device='cuda:0')\n", True),
        ("run.py", 'import torch\nx = torch.rand(3, device="cpu")\n', False),
        ("run.py", "import torchless\nx = y.cuda()\n", False),
        ("run.txt", "import torch\nx = y.cuda()\n", False),
    ],
)
def test_programs_that_put_tensors_on_devices(
    tmp_path: Path, path: str, text: str, expected: bool
) -> None:
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_text(text)
    assert has_tensors_on_devices(tmp_path) is expected
    assert not has_torch_extension(tmp_path)


def test_headers_of_pytorch_are_translated(tmp_path: Path) -> None:
    for folder in ("c10/cuda", "ATen/native/cuda", "ATen/native/cpu"):
        place = tmp_path / "include" / folder
        place.mkdir(parents=True)
        (place / "CUDAX.h").write_text("#include <curand_kernel.h>\n")
    install = TorchInstall(tmp_path / "python", tmp_path, "2.13.0")
    made = translated_headers(install, make_translator())
    found = {name: text for name, text in made.items() if "X." in name}
    # The names are those of PyTorch for ROCm, by which its headers include each other.
    assert found == {
        "c10/cuda/CUDAX.h": "#include <hiprand/hiprand_kernel.h>\n",
        "c10/hip/HIPX.h": "#pragma once\n#include <c10/cuda/CUDAX.h>\n",
        "ATen/native/cuda/CUDAX.h": "#include <hiprand/hiprand_kernel.h>\n",
        "ATen/native/hip/HIPX.h": "#pragma once\n#include <ATen/native/cuda/CUDAX.h>\n",
    }


@pytest.mark.parametrize("name", ["c10/cuda/impl/cuda_cmake_macros.h", "ATen/cuda/CUDAConfig.h"])
def test_headers_that_a_pytorch_built_without_cuda_lacks(tmp_path: Path, name: str) -> None:
    install = TorchInstall(tmp_path / "python", tmp_path, "2.13.0+cpu")
    made = translated_headers(install, make_translator())
    # CUDAMacros.h includes the one, which a build for CUDA writes; shared libraries are imported.
    assert "#define C10_CUDA_BUILD_SHARED_LIBS\n" in made["c10/cuda/impl/cuda_cmake_macros.h"]
    assert "#define AT_CUDNN_ENABLED() 0\n" in made["ATen/cuda/CUDAConfig.h"]
    own = tmp_path / "include" / name
    own.parent.mkdir(parents=True)
    own.write_text("#define OWN\n")
    assert translated_headers(install, make_translator())[name] == "#define OWN\n"


def test_paths_as_they_were_asked_for_before_pytorch_2_7() -> None:
    def new(device_type: str = "cpu", torch_include_dirs: bool = True) -> list[str]:
        return [f"{device_type} {torch_include_dirs}"]

    def old(cuda: bool = False) -> list[str]:
        return [f"old {cuda}"]

    assert with_old_argument(new)(cuda=True) == ["cuda True"]
    assert with_old_argument(new)(cuda=False) == ["cpu True"]
    assert with_old_argument(new)("xpu", torch_include_dirs=False) == ["xpu False"]
    assert with_old_argument(old)(cuda=True) == ["old True"]


@pytest.mark.slow
def test_tests_of_an_extension_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    root = write(tmp_path / "rowsoftmax")
    done = CliRunner().invoke(app, [str(root), "-o", "out"])
    assert done.exit_code == 0, done.output
    report = json.loads((tmp_path / "out/report.json").read_text())
    (target,) = report["targets"]
    assert "12 passed" in target["test"]["log"]
