"""A port that brings back half of each result is told apart, though the results are small."""

from __future__ import annotations

from pathlib import Path

import pytest

from cass_ray.emulator.perturbation import Perturbation, Where
from cass_ray.execute.grades import Grade
from cass_ray.public.verifying import Comparison, compare_programs

PROGRAM = r"""
#include <cstdio>
__global__ void count(const int* values, int n, %(type)s* found) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && values[i] %% 3 == 0) atomicAdd(found, 1);
}
int main() {
  const int n = 1000;
  int host[n], *values;
  %(type)s *found, counted = 0;
  for (int i = 0; i < n; ++i) host[i] = i * 7;
  cudaMalloc(&values, sizeof host);
  cudaMalloc(&found, sizeof *found);
  cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemset(found, 0, sizeof *found);
  count<<<4, 256>>>(values, n, found);
  cudaMemcpy(&counted, found, sizeof counted, cudaMemcpyDeviceToHost);
  printf("%%d\n", (int)counted);
}
"""


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.parametrize("kind", ["int", "unsigned", "float"])
@pytest.mark.parametrize(
    ("written", "instead", "verified"),
    [
        ("", "", True),
        ("sizeof counted,", "sizeof counted / 2,", False),
        ("(int)counted", "(short)counted", False),
        ("(int)counted", "(int)counted & 0xffff", False),
    ],
)
def test_half_of_a_result_is_not_the_result(
    kind: str, written: str, instead: str, verified: bool, tmp_path: Path
) -> None:
    if kind == "float" and written:
        pytest.skip("half of a float is another number without a change")
    original = PROGRAM % {"type": kind}
    (tmp_path / "a.cu").write_text(original)
    (tmp_path / "b.cu").write_text(original.replace(written, instead) if written else original)
    programs = (tmp_path / "a.cu", tmp_path / "b.cu")
    (result,) = compare_programs(*programs, Comparison()).values()
    assert (result.grade is Grade.VERIFIED) is verified


def test_an_option_names_the_change() -> None:
    change = Perturbation(Where.OUT_WIDE)
    assert change.option == "out-wide"
    assert Perturbation.parse(change.option) == change
