"""What checking mode says of tests that fail."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from cass_ray.commands.project import app
from cass_ray.project.checking import Violation, violations_in

# As ctest shows it: two tests with one kind of violation each, the first one twice.
LOG = """\
 4/10 Test  #4: fit ................***Failed    0.19 sec
Running 1 test case...

cass emulator: data race: read of 4 bytes of LDS byte 0 that wave 0 wrote
  kernel _Z9gradientsPfi
  at 0x1f698: flat_load_b32 v21, v[11:12]
  workgroup (0, 0, 0), work-item 32
  address 0x0
cass emulator: data race: read of 4 bytes of LDS byte 8 that wave 1 wrote
  kernel _Z9gradientsPfi
  at 0x1f698: flat_load_b32 v21, v[11:12]
cass emulator: access to memory that is not mapped
  kernel plain
  at 0x10: global_load_b32 v0, v[0:1], off
cass emulator: hipFoo is not supported by the CPU backend
"""


def test_a_violation_is_named_once() -> None:
    race = "data race: read of 4 bytes of LDS byte 0 that wave 0 wrote"
    assert violations_in(LOG) == (
        Violation("gradients(float*, int)", race, 2),
        Violation("plain", "access to memory that is not mapped", 1),
    )
    assert violations_in("all tests passed\n") == ()


# The first wave reads what the second one has not written yet.
RACE = {
    "Makefile": "fill: fill.cu\n\tnvcc -o $@ $<\ntest: fill\n\t./fill\n",
    "fill.cu": """\
#include <cuda_runtime.h>
__global__ void fill(int* out) {
  __shared__ int value;
  if (threadIdx.x == 0) value = 0;
  __syncthreads();
  if (threadIdx.x == 40) value = 7;
  out[threadIdx.x] = value;
}
int main() {
  int *device, host[64];
  cudaMalloc(&device, sizeof host);
  fill<<<1, 64>>>(device);
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  return host[0] == 7 ? 0 : 1;
}
""",
}


@pytest.mark.amd
def test_a_race_that_fails_a_test_is_named(tmp_path: Path) -> None:
    root = tmp_path / "race"
    root.mkdir()
    for name, text in RACE.items():
        (root / name).write_text(text)
    made = CliRunner().invoke(app, [str(root), "--no-reference", "-o", str(tmp_path / "out")])
    assert made.exit_code == 1
    assert "build passed, tests failed" in made.stdout
    assert "fill(int*): data race" in made.stdout
    assert "data race" in (tmp_path / "out" / "report.html").read_text()

    settings = ["--no-reference", "--check-seconds", "0", "-o", str(tmp_path / "out")]
    unchecked = CliRunner().invoke(app, [str(root), *settings])
    assert unchecked.exit_code == 1
    assert "checking mode" not in unchecked.stderr
    assert "data race" not in unchecked.stdout
