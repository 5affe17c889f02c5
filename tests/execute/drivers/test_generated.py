"""Kernels of programs without inputs: launched alone, where that means something."""

from __future__ import annotations

from pathlib import Path

import pytest

import cass_ray as cass
from cass_ray.emulator.launches import Launch
from cass_ray.execute.backends.base import Language
from cass_ray.execute.backends.rdna3 import Rdna3Backend
from cass_ray.execute.drivers.driver import drivable_kernels, with_driver
from cass_ray.execute.drivers.generated import drivable, generated_runs
from tests.execute.conftest import hip

SMOOTH = r"""
#include <hip/hip_runtime.h>
#include <cstdio>
namespace {
__global__ void smooth(const float* in, float* out, int n)
{
    __shared__ float tile[66];
    const int i = blockIdx.x * 64 + threadIdx.x;
    tile[threadIdx.x + 1] = i < n ? in[i] : 0.0f;
    if (threadIdx.x == 0) tile[0] = i > 0 && i <= n ? in[i - 1] : 0.0f;
    if (threadIdx.x == 63) tile[65] = i + 1 < n ? in[i + 1] : 0.0f;
    __syncthreads();
    if (i < n) out[i] = tile[threadIdx.x] + tile[threadIdx.x + 1] + tile[threadIdx.x + 2];
}
__global__ void scatter(const int* to, float* out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[to[i]] = i;
}
}
int main()
{
    float host[64] = {1, 2, 3}, *in, *out;
    if (hipMalloc(&in, sizeof host) || hipMalloc(&out, sizeof host)) return 2;
    hipMemcpy(in, host, sizeof host, hipMemcpyHostToDevice);
    smooth<<<1, 64>>>(in, out, 64);
    hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost);
    printf("%g %g\n", host[0], host[63]);
}
"""
"""One block of 64: what the kernel does in a second one, no run of the program shows."""

ONE_BLOCK = ("blockIdx.x * 64 + threadIdx.x", "blockIdx.x * 32 + threadIdx.x")


def test_kernels_at_file_scope_and_in_unnamed_namespaces_are_drivable() -> None:
    assert [kernel.name for kernel in drivable_kernels(SMOOTH)] == ["smooth", "scatter"]
    named = SMOOTH.replace("namespace {", "namespace filters {")
    assert drivable_kernels(named) == []
    assert drivable(hip(SMOOTH), hip(SMOOTH.replace("main()", "other()"))) == []


def test_the_programs_own_main_is_not_called() -> None:
    made = with_driver(hip(SMOOTH), drivable_kernels(SMOOTH), Language.HIP)
    text = made.files["program.hip"].decode()
    assert text.index("#define main") < text.index("int main()") < text.index("#undef main")
    assert text.rindex("int main(") > text.index("#undef main")


@pytest.mark.amd
def test_launches_that_race_are_left_out(backend: Rdna3Backend) -> None:
    """``scatter`` writes many numbers to the same places, as generated indices repeat."""
    own = Launch("_ZN12_GLOBAL__N_16smoothEPKfPfi", (1, 1, 1), (64, 1, 1), 0, 1)
    kernels = drivable(hip(SMOOTH), hip(SMOOTH))
    found = generated_runs(hip(SMOOTH), kernels, [own], backend)
    launched = [run.inputs.arguments for run in found.reference.runs]
    assert {found.kernel(arguments) for arguments in launched} == {"smooth"}
    assert [arguments[:2] for arguments in launched] == [
        ("1024", "64"),
        ("1000", "64"),
        ("300", "64"),
    ]


@pytest.mark.amd
def test_a_fault_behind_the_first_block_is_found(tmp_path: Path) -> None:
    original, port = tmp_path / "smooth.hip", tmp_path / "port.hip"
    original.write_text(SMOOTH)
    port.write_text(SMOOTH.replace(*ONE_BLOCK))
    right = cass.verify(original, original, backend="rdna3", reference_backend="rdna3")
    assert (right.passed, right.generated) == (True, "3 launches of smooth")
    wrong = cass.verify(original, port, backend="rdna3", reference_backend="rdna3")
    assert [run.numeric for run in wrong.runs] == [True, False, False, False]
    assert "with smooth alone, generated arguments 1024 64 0 1" in wrong.reason
    given = cass.verify(original, port, inputs=[["5"]], backend="rdna3", reference_backend="rdna3")
    assert (given.passed, given.generated) == (False, "3 launches of smooth")


CLAMPED = r"""
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void clamped(float* x, int* bins, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    x[i] = x[i] > 62.5f ? 62.5f : x[i];
    bins[i] = bins[i] < 200 ? bins[i] : 200;
}
int main()
{
    float host[2] = {1, 2}, *x;
    int counts[2] = {3, 4}, *bins;
    if (hipMalloc(&x, sizeof host) || hipMalloc(&bins, sizeof counts)) return 2;
    hipMemcpy(x, host, sizeof host, hipMemcpyHostToDevice);
    hipMemcpy(bins, counts, sizeof counts, hipMemcpyHostToDevice);
    clamped<<<1, 2>>>(x, bins, 2);
    hipMemcpy(host, x, sizeof host, hipMemcpyDeviceToHost);
    printf("%g %g\n", host[0], host[1]);
}
"""


@pytest.mark.amd
@pytest.mark.parametrize(
    "wrong", [("x[i] > 62.5f ? 62.5f : x[i]", "x[i]"), ("bins[i] < 200 ?", "bins[i] < 2000000 ?")]
)
def test_bounds_that_no_input_reaches_are_reached(tmp_path: Path, wrong: tuple[str, str]) -> None:
    original, port = tmp_path / "clamped.hip", tmp_path / "port.hip"
    original.write_text(CLAMPED)
    port.write_text(CLAMPED.replace(*wrong))
    assert port.read_text() != CLAMPED
    assert cass.verify(original, original, backend="rdna3", reference_backend="rdna3").passed
    result = cass.verify(original, port, backend="rdna3", reference_backend="rdna3")
    assert not result.passed and "with clamped alone" in result.reason


@pytest.mark.amd
@pytest.mark.parametrize(
    ("change", "right"),
    [
        (("int* bins, int n", "int* bins, unsigned long long n"), True),
        (("int* bins, int n", "unsigned* bins, int n"), False),  # a negative number is none
    ],
)
def test_parameters_of_other_types_get_the_same_numbers(
    tmp_path: Path, change: tuple[str, str], right: bool
) -> None:
    original, port = tmp_path / "clamped.hip", tmp_path / "port.hip"
    original.write_text(CLAMPED)
    text = CLAMPED.replace(*change)
    port.write_text(text if right else text.replace("x, bins, 2", "x, (unsigned*)bins, 2"))
    result = cass.verify(original, port, backend="rdna3", reference_backend="rdna3")
    assert result.generated == "3 launches of clamped"
    assert result.numeric is right, result.reason


def test_parameters_that_take_something_else_are_not_driven() -> None:
    for other in ("int* bins, int n, int m", "long* bins, int n", "int* bins, float n"):
        assert drivable(hip(CLAMPED), hip(CLAMPED.replace("int* bins, int n", other))) == []


def test_numbers_are_the_originals() -> None:
    other = CLAMPED.replace("62.5f", "x[i]").replace("200", "0xC8")
    [kernel] = drivable(hip(CLAMPED), hip(other))
    assert {"62.5", "200"} <= set(kernel.numbers)
    [own] = drivable_kernels(
        "__global__ void k(int* a) { a[1'0] = 0x1F + 07 + 2.5e-3f + 1234567890123; }"
    )
    assert own.numbers == ("2.5e-3",)


@pytest.mark.nvidia
@pytest.mark.amd
def test_the_rules_translation_is_compared_with_the_lifted_original(tmp_path: Path) -> None:
    original = tmp_path / "smooth.cu"
    original.write_text(
        SMOOTH.replace("hip/hip_runtime.h", "cuda_runtime.h").replace("hip", "cuda")
    )
    result = cass.verify(original)
    assert (result.passed, result.exact, result.generated) == (True, True, "3 launches of smooth")
    assert result.reference_kind == "lifted sm_90"


SHIFT = """__global__ void shifted(const unsigned* in, unsigned* out, int n, int by)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] << by;
}
}
int main()"""


@pytest.mark.nvidia
@pytest.mark.amd
def test_what_is_undefined_is_disputed_and_decides_nothing(tmp_path: Path) -> None:
    """A shift by 1024: 0 on Nvidia (PTX ISA, shl clamps), by the low five bits on AMD."""
    original = tmp_path / "smooth.cu"
    text = SMOOTH.replace("}\nint main()", SHIFT)
    original.write_text(text.replace("hip/hip_runtime.h", "cuda_runtime.h").replace("hip", "cuda"))
    result = cass.verify(original)
    assert result.passed
    assert result.generated.startswith("3 launches of smooth; left out")
    assert result.generated.endswith(": shifted")
