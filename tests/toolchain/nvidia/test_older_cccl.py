"""Names of CUB and Thrust that CCCL 3 took away: CUDA 12's headers give them back.

Expected values are those of CUB's and Thrust's documentation for CUDA 12.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from cass_ray.dataset.row import Reason
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_nvidia
from cass_ray.toolchain.nvidia.older_cccl import lacks_cccl, older_cccl, with_what_was_removed
from cass_ray.toolchain.nvidia.toolchain import NvidiaToolchain
from cass_ray.toolchain.provided.store import HeaderStore
from cass_ray.toolchain.unit import CompileFailure, Unit


@pytest.fixture(scope="module")
def nvidia() -> NvidiaToolchain:
    try:
        toolchain = find_nvidia()
    except ToolMissing as missing:
        pytest.skip(str(missing))
    if not HeaderStore(toolchain.cache).has(older_cccl()):
        pytest.skip(f"cass setup headers {older_cccl().name}")
    return toolchain


def unit(folder: Path, source: str) -> Unit:
    (folder / "a.cu").write_text(source)
    return Unit(folder, PurePosixPath("a.cu"))


FUNCTORS = """
#include <cub/block/block_reduce.cuh>
#include <cub/util_type.cuh>
__global__ void k(float* p) {
  typedef cub::BlockReduce<float, 64> Reduce;
  __shared__ typename Reduce::TempStorage storage;
  float most = Reduce(storage).Reduce(p[threadIdx.x], cub::Max());
  p[0] = cub::Sum()(most, cub::Min()(p[1], CUB_MIN(p[2], p[3])));
  p[4] = cub::FpLimits<float>::Lowest();
}
"""
ITERATORS = """
#include <cub/iterator/transform_input_iterator.cuh>
#include <cub/iterator/counting_input_iterator.cuh>
#include <cub/iterator/constant_input_iterator.cuh>
struct Square { __host__ __device__ int operator()(int x) const { return x * x; } };
__global__ void k(int* p) {
  cub::TransformInputIterator<int, Square, cub::CountingInputIterator<int>> squares(
      cub::CountingInputIterator<int>(5), Square());
  p[0] = squares[2] + *cub::ConstantInputIterator<int>(1000);
}
"""
THRUST = """
#include <thrust/functional.h>
struct Half : public thrust::unary_function<int, int> {
  __host__ __device__ int operator()(int x) const { return x / 2; }
};
struct Less : public thrust::binary_function<int, int, bool> {
  __host__ __device__ bool operator()(int a, int b) const { return a < b; }
};
__global__ void k(int* p) {
  Half::result_type a = Half()(p[1]);
  thrust::plus<int>::first_argument_type b = thrust::identity<int>()(4242);
  p[0] = Less()(a, p[2]) ? a : b;
}
"""


@pytest.mark.parametrize(
    ("source", "ptx"),
    [
        (FUNCTORS, "-8388609"),  # the bits of -FLT_MAX
        (ITERATORS, "1049"),  # 7 * 7 + 1000
        (THRUST, "4242"),
    ],
)
def test_what_cuda_12_had_compiles_to_what_it_says(
    nvidia: NvidiaToolchain, tmp_path: Path, source: str, ptx: str
) -> None:
    made = nvidia.compile(unit(tmp_path, source), want_ptx=True)
    assert ptx in made.ptx["sm_80"]
    assert f"-I{older_cccl().key}/include" in made.flags
    assert "k" in made.host_assembly


def test_a_unit_that_lacks_nothing_is_compiled_with_the_toolkits_own(
    nvidia: NvidiaToolchain, tmp_path: Path
) -> None:
    kernel = "__global__ void k(int* p) { thrust::plus<> f; *p = f(1, 2); }\n"
    source = f"#include <thrust/functional.h>\n{kernel}"
    assert "cccl" not in nvidia.compile(unit(tmp_path, source)).flags


def test_both_ways_of_giving_back_meet_in_a_unit(nvidia: NvidiaToolchain, tmp_path: Path) -> None:
    source = (
        "#include <thrust/functional.h>\ntexture<float> t;\n"
        "__global__ void k(float* p) { *p = thrust::identity<float>()(tex1Dfetch(t, 1)); }\n"
    )
    made = nvidia.compile(unit(tmp_path, source))
    assert "-include cass_removed.h" in made.flags
    assert older_cccl().key in made.flags


@pytest.mark.parametrize(
    "body", ["cub::Nothing x;", "thrust::identity<int> f; undeclared();", "cub::Max m"]
)
def test_what_cuda_12_did_not_compile_is_cuda_13s_error(
    nvidia: NvidiaToolchain, tmp_path: Path, body: str
) -> None:
    source = (
        f"#include <cub/util_type.cuh>\n#include <thrust/functional.h>\nvoid f() {{ {body} }}\n"
    )
    with pytest.raises(CompileFailure) as failed:
        nvidia.compile(unit(tmp_path, source + "__global__ void k() {}\n"))
    assert failed.value.reason is Reason.COMPILE_ERROR
    assert 'namespace "' in failed.value.diagnostic


@pytest.mark.parametrize(
    ("diagnostic", "lacks"),
    [
        ('a.cu(3): error: namespace "cub" has no member "Max"', True),
        ('a.cu(3): error: namespace "thrust" has no member class "unary_function"', True),
        ('a.cu(3): error: name followed by "::" must be a class or namespace name', False),
        ('a.cu(3): error: identifier "CUB_MAX" is undefined', True),
        ("a.cu:1:10: fatal error: cub/iterator/transform_input_iterator.cuh: No such file", True),
        ("a.cu:1:10: fatal error: thrust/optional.h: No such file or directory", True),
        ('error: class "cuda::std::plus<int>" has no member "result_type"', True),
        ('a.cu(3): error: no instance of overloaded function "cub::DeviceReduce::Sum"', True),
        ('a.cu(3): error: identifier "thruster" is undefined', False),
        ('cub/a.cuh(3): warning: x\na.cu(3): error: identifier "y" is undefined', False),
        ('a.cu(3): error: identifier "INCUB_X" is undefined', False),
    ],
)
def test_which_errors_are_about_cub_or_thrust(diagnostic: str, lacks: bool) -> None:
    assert lacks_cccl(CompileFailure(Reason.COMPILE_ERROR, diagnostic, "cicc")) is lacks
    assert not lacks_cccl(CompileFailure(Reason.TIME_LIMIT, diagnostic, "cicc"))


def test_headers_that_cannot_be_had_are_named_and_not_remembered(tmp_path: Path) -> None:
    said = CompileFailure(
        Reason.COMPILE_ERROR, 'error: namespace "cub" has no member "Max"', "cicc"
    )

    def make(given: Unit) -> None:
        assert not given.before_toolchain
        raise said

    with pytest.raises(CompileFailure) as failed:
        with_what_was_removed(make, unit(tmp_path, ""), tmp_path / "empty", fetch=False)
    assert failed.value.reason is Reason.MISSING_HEADER  # tried again by the next build
    assert 'no member "Max"' in failed.value.diagnostic
    assert f"cass setup headers {older_cccl().name}" in failed.value.diagnostic
