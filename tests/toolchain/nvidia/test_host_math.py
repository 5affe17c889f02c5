"""Host functions of CUDA's that clang has on the device alone: what nvcc makes of them is right."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from cass_ray.toolchain.nvidia.toolchain import NvidiaToolchain
from cass_ray.toolchain.sandbox import isolation
from cass_ray.toolchain.sandbox.process import run
from cass_ray.toolchain.unit import Unit
from tests.toolchain.nvidia.test_toolchain import TOOLCHAIN

pytestmark = [
    pytest.mark.nvidia,
    pytest.mark.skipif(TOOLCHAIN is None, reason="no CUDA compiler among the Python packages"),
    pytest.mark.skipif(not isolation.available(), reason=isolation.problem()),
]

PROGRAM = """
#include <cmath>
#include <cstdio>
#include <type_traits>
template <class T, class F> void say(T value, F) {
  static_assert(std::is_same<T, F>::value, "of the type that CUDA's documentation says");
  printf("%.17g\\n", static_cast<double>(value));
}
template <class T> __host__ __device__ T both(T a, T b) { return min(max(a, b), T(7)); }
__global__ void kernel(int *out) { out[0] = both(out[1], min(out[2], 3)); }
int main(int count, char **) {
  int i = -count; unsigned u = count; long l = -3L * count; unsigned long ul = 4ul * count;
  long long ll = -5ll * count; unsigned long long ull = 6ull * count;
  float f = 0.5f * count, lost = NAN; double d = 0.25 * count;
  say(min(i, 2), int()); say(max(i, 2), int());
  say(min(i, u), unsigned()); say(max(u, i), unsigned());
  say(min(l, 2l), long()); say(max(l, ul), (unsigned long)0); say(min(ul, l), (unsigned long)0);
  say(min(ll, 0ll), (long long)0); say(max(ll, ull), 0ull); say(min(ull, ll), 0ull);
  say(min(f, 2.0f), float()); say(max(f, d), double()); say(min(d, f), double());
  say(min(lost, f), float()); say(max(f, lost), float()); say(max(double(lost), d), double());
  say(both(i, 9), int()); say(both(d, 0.125), double());
}
"""
SAID = [
    *("-1", "2", "1", "4294967295", "-3", "18446744073709551613", "4"),
    *("-5", "18446744073709551611", "6", "0.5", "0.5", "0.25", "0.5", "0.5", "0.25", "7", "0.25"),
]
"""By hand, for a count of one: a negative number converted to an unsigned one is the greater."""


def unit_of(folder: Path, *definitions: str) -> Unit:
    folder.mkdir(exist_ok=True)
    (folder / "program.cu").write_text(PROGRAM)
    return Unit(folder, PurePosixPath("program.cu"), definitions=definitions)


def says(program: Path) -> list[str]:
    return run([program], cwd=program.parent).stdout_text.split()


def numbers(words: list[str]) -> list[float]:
    return [float(word) for word in words]


def test_a_unit_of_a_project_that_calls_them_needs_one_compiler(tmp_path: Path) -> None:
    assert TOOLCHAIN is not None
    if TOOLCHAIN.clang is None:
        pytest.skip("no clang")
    output = TOOLCHAIN.compile(unit_of(tmp_path / "tree", "OF_A_PROJECT=1"))
    assert "cudafe++" not in output.cpu_seconds_by_tool


def test_nvcc_and_clang_compute_the_same(tmp_path: Path) -> None:
    assert TOOLCHAIN is not None
    if TOOLCHAIN.clang is None:
        pytest.skip("no clang")
    unit = unit_of(tmp_path / "tree", "OF_A_PROJECT=1")
    by_nvcc = TOOLCHAIN.build_executable(unit, tmp_path / "by_nvcc")
    assert numbers(says(by_nvcc)) == numbers(SAID)
    assert numbers(says(linked(TOOLCHAIN, unit, tmp_path))) == numbers(SAID)


def linked(toolchain: NvidiaToolchain, unit: Unit, folder: Path) -> Path:
    """The host code that rows have, with CUDA's runtime."""
    (folder / "host.s").write_text(toolchain.compile(unit).host_assembly)
    program = folder / "by_clang"
    libraries = [f"-L{path}" for path in toolchain.library_directories]
    libraries += ["-lcudart_static", "-lpthread", "-ldl", "-lrt"]
    done = run(
        [toolchain.host_compiler, "-no-pie", "host.s", *libraries, "-o", program], cwd=folder
    )
    assert done.ok, done.stderr_text
    return program
