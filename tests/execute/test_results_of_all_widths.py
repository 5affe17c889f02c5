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


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.parametrize(
    ("written", "bytes_of_port", "shown", "grade"),
    [
        # Part of a word is right for as long as the number is small.
        ("sizeof counted", "2", "counted", Grade.DIFFERS),
        ("sizeof counted", "3", "counted", Grade.DIFFERS),
        ("sizeof counted", "1 + 1 * (counted == 0)", "counted", Grade.DIFFERS),
        # One bit says whether a number is zero; the low byte does so while the number is small.
        ("sizeof counted", "2", "counted != 0", Grade.VERIFIED),
        # Fewer whole words, of which the original uses no more.
        ("8", "4", "counted[0]", Grade.VERIFIED),
    ],
)
def test_part_of_a_word_is_told_from_fewer_words(
    written: str, bytes_of_port: str, shown: str, grade: Grade, tmp_path: Path
) -> None:
    original = (PROGRAM % {"type": "int"}).replace("(int)counted", shown)
    if written == "8":
        original = original.replace("counted = 0", "counted[2] = {}")
        original = original.replace("cudaMalloc(&found, sizeof *found)", "cudaMalloc(&found, 8)")
        original = original.replace("found, 0, sizeof *found", "found, 0, 8")
        original = original.replace("&counted, found, sizeof counted", "counted, found, 8")
    copy = f"found, {written},"
    assert copy in original
    (tmp_path / "a.cu").write_text(original)
    (tmp_path / "b.cu").write_text(original.replace(copy, f"found, {bytes_of_port},"))
    programs = (tmp_path / "a.cu", tmp_path / "b.cu")
    (result,) = compare_programs(*programs, Comparison()).values()
    assert result.grade is grade


def test_an_option_names_the_change() -> None:
    change = Perturbation(Where.OUT_WIDE)
    assert change.option == "out-wide"
    assert Perturbation.parse(change.option) == change
