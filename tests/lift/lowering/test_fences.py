"""Waits before barriers on CDNA, where LLVM 19 loses those of fences in loops."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from cass_ray.execute.evidence.waits import missing_waits
from cass_ray.lift import lift_cubin
from cass_ray.toolchain.locate import find_nvidia
from cass_ray.toolchain.unit import Unit

# What is written to shared memory in a round is read after the next round's barrier.
STEPS = """
extern "C" __global__ void steps(int *out, int from, int count) {
  extern __shared__ int values[];
  const int t = threadIdx.x;
  values[t] = out[t];
  for (int distance = from; distance > 0; distance >>= 1) {
    __syncthreads();
    for (int i = t; i < count; i += blockDim.x) {
      const int other = i ^ distance;
      if (other > i && values[i] > values[other]) {
        const int least = values[other];
        values[other] = values[i];
        values[i] = least;
      }
    }
  }
  __syncthreads();
  out[t] = values[t];
}
int main() { return 0; }
"""


@pytest.mark.parametrize("target", ["gfx942", "gfx90a", "gfx1100"])
def test_what_a_round_wrote_is_waited_for_before_the_next_barrier(
    tmp_path: Path, target: str
) -> None:
    (tmp_path / "steps.cu").write_text(STEPS)
    unit = Unit(tmp_path, PurePosixPath("steps.cu"))
    cubin = find_nvidia().compile(unit, ("sm_80",)).cubins["sm_80"]
    assembly = lift_cubin(cubin, target).assembly
    assert "s_barrier" in assembly
    assert missing_waits(assembly) == []
