"""A program that draws its inputs: its numbers are no evidence, what it says of them is."""

from __future__ import annotations

import pytest

from cass_ray.execute.rewards.settings import RewardSettings
from cass_ray.execute.rewards.verdicts import Outcome, RewardItem

PROGRAM = r"""
#include <cstdio>
#include <random>
__global__ void twice(float* p) { p[threadIdx.x] = 2.0f * p[threadIdx.x]; }
int main() {
  std::mt19937 draw(SEED);
  std::uniform_real_distribution<float> numbers(0.5f, 1.0f);
  float x[256], y[256], *p;
  for (float& each : x) each = numbers(draw);
  cudaMalloc(&p, sizeof x);
  cudaMemcpy(p, x, sizeof x, cudaMemcpyHostToDevice);
  twice<<<1, 256>>>(p);
  cudaMemcpy(y, p, sizeof y, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < 256; ++i) wrong += y[i] != 2.0f * x[i];
  SAYS
}
"""
NUMBERS = 'for (int i = 0; i < 5; ++i) printf("%f\\n", y[i]);'
VERDICT = NUMBERS + ' puts(wrong ? "FAILED" : "PASSED");'


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.parametrize(
    ("seed", "says", "factor", "outcome"),
    [
        ("std::random_device{}()", VERDICT, "2.0f * p", Outcome.RIGHT),
        ("std::random_device{}()", VERDICT, "2.5f * p", Outcome.WRONG),
        ("std::random_device{}()", NUMBERS, "2.0f * p", Outcome.UNDECIDED),
        ("std::random_device{}()", NUMBERS, "2.5f * p", Outcome.UNDECIDED),
        ("7", NUMBERS, "2.0f * p", Outcome.RIGHT),
        ("7", NUMBERS, "2.5f * p", Outcome.WRONG),
    ],
)
def test_numbers_that_are_drawn_show_nothing(
    seed: str, says: str, factor: str, outcome: Outcome
) -> None:
    question = PROGRAM.replace("SEED", seed).replace("SAYS", says)
    answer = question.replace("cuda", "hip").replace("2.0f * p", factor)
    answer = answer.replace("#include <cstdio>", "#include <hip/hip_runtime.h>\n#include <cstdio>")
    judge = RewardSettings(cached=False).judge()
    item = RewardItem(question=question, answer=f"```hip\n{answer}\n```", inputs=[[]])
    assert judge.judge(item).outcome is outcome
