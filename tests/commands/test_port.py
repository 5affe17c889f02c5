"""``cass run-binary``: output and exit code are the program's; what is left out is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cass_ray.cli import app

pytestmark = [pytest.mark.nvidia, pytest.mark.amd]

SCALE = r"""
#include <cstdio>
#include <cstdlib>
__global__ void scale(float *values, float factor, int count) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < count) values[at] *= factor;
}
int main(int argc, char **argv) {
  float host[100], *device;
  for (int at = 0; at < 100; ++at) host[at] = at;
  cudaMalloc(&device, sizeof host);
  cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
  scale<<<2, 64>>>(device, atof(argv[1]), 100);
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  printf("%g %g\n", host[1], host[99]);
  return atoi(argv[2]);
}
"""

# A count over some of a block's warps at one of its barriers: that is refused.
PARTIAL = r"""
#include <cstdio>
__global__ void place(int *out) {
  asm volatile("{ .reg .pred is; isspacep.param is, %1; selp.s32 %0, 1, 0, is; }"
               : "=r"(out[0]) : "l"(out));
}
__global__ void whole(int *out) { *out = 41; }
int main() {
  int *device, host = 0;
  cudaMalloc(&device, 3 * sizeof host);
  whole<<<1, 1>>>(device);
  cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost);
  place<<<1, 32>>>(device);
  printf("%d %s\n", host, cudaGetErrorName(cudaGetLastError()));
}
"""


def test_output_and_exit_code_are_the_programs(build: Callable[..., Path]) -> None:
    executable = build("scale.cu", SCALE)
    done = CliRunner().invoke(app, ["port", str(executable), "--", "2.5", "7"])
    assert (done.stdout, done.exit_code) == ("2.5 247.5\n", 7)


def test_kernel_that_cannot_be_lifted_is_named(build: Callable[..., Path]) -> None:
    done = CliRunner().invoke(app, ["port", str(build("partial.cu", PARTIAL))])
    assert done.stdout == "41 cudaErrorInvalidDeviceFunction\n"
    assert "kernel _Z5placePi is left out" in done.stderr
    assert "the end of the kernel's parameters" in done.stderr


def test_missing_file_is_a_usage_error(tmp_path: Path) -> None:
    assert CliRunner().invoke(app, ["port", str(tmp_path / "none")]).exit_code == 2
