"""Waits at barriers and fences on CDNA, where LLVM 19 loses those of fences in loops."""

from __future__ import annotations

import re
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


def lifted(folder: Path, text: str, target: str) -> str:
    """Assembly of the program ``text``."""
    (folder / "steps.cu").write_text(text)
    unit = Unit(folder, PurePosixPath("steps.cu"))
    cubin = find_nvidia().compile(unit, ("sm_80",)).cubins["sm_80"]
    return lift_cubin(cubin, target).assembly


@pytest.mark.parametrize("target", ["gfx942", "gfx90a", "gfx1100"])
def test_what_a_round_wrote_is_waited_for_before_the_next_barrier(
    tmp_path: Path, target: str
) -> None:
    assembly = lifted(tmp_path, STEPS, target)
    assert "s_barrier" in assembly
    assert missing_waits(assembly) == []


# The same in global memory, with a fence; what a round wrote is out where the next one begins.
FENCED = """
extern "C" __global__ void steps(int *values, int from, int count) {
  const int t = threadIdx.x;
  for (int distance = from; distance > 0; distance >>= 1) {
    FENCE;
    for (int i = t; i < count; i += blockDim.x) {
      const int other = i ^ distance;
      if (other > i && values[i] > values[other]) {
        const int least = values[other];
        values[other] = values[i];
        values[i] = least;
      }
    }
  }
}
int main() { return 0; }
"""
_OF_FENCES = re.compile(
    r"^\s(buffer_wbl2|s_waitcnt vmcnt\(0\)|buffer_inv|global_store)", re.MULTILINE
)


@pytest.mark.parametrize("fence", ["__threadfence()", "__threadfence_system()"])
def test_a_fence_waits_before_it_empties_the_cache(tmp_path: Path, fence: str) -> None:
    """LLVM's memory model of gfx942: write back, wait for it and for what is out, invalidate.

    A load that follows could else find what the cache was given after it had been emptied, by an
    operation that was still out.
    """
    found = _OF_FENCES.findall(lifted(tmp_path, FENCED.replace("FENCE", fence), "gfx942"))
    assert found[:3] == ["buffer_wbl2", "s_waitcnt vmcnt(0)", "buffer_inv"]
    assert found.count("buffer_inv") == 1
    assert found[-1] == "global_store"
