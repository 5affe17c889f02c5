"""Inputs are changed into values that a program did not have, so that a port shows what it does."""

from __future__ import annotations

import pytest

from cass_ray.execute.backends.base import BuiltProgram, Inputs
from cass_ray.execute.backends.rdna3 import Rdna3Backend
from cass_ray.execute.grades import Grade
from cass_ray.execute.references import measure
from cass_ray.execute.verify import Policy, verify
from tests.execute.conftest import hip

PROGRAM = """
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void work(const TYPE* x, int* y, int n) {
  const int i = threadIdx.x;
  if (i < n) y[i] += 3 * x[i] + x[i] / 2;
}
int main() {
  TYPE given[256], *x;
  int sums[256], *y;
  for (int i = 0; i < 256; ++i) given[i] = VALUE, sums[i] = i;
  hipMalloc(&x, sizeof given);
  hipMalloc(&y, sizeof sums);
  hipMemcpy(x, given, sizeof given, hipMemcpyHostToDevice);
  hipMemcpy(y, sums, sizeof sums, hipMemcpyHostToDevice);
  work<<<1, 256>>>(x, y, COUNT);
  hipMemcpy(sums, y, sizeof sums, hipMemcpyDeviceToHost);
  long sum = 0;
  for (int each : sums) sum += each;
  printf("%ld\\n", sum);
}
"""
BYTES = {"TYPE": "unsigned char", "VALUE": "1 + i % 100", "COUNT": "256"}
NUMBERS = {"TYPE": "int", "VALUE": "1000 + i", "COUNT": "256"}
ENDS_IN_ZEROS = {"TYPE": "int", "VALUE": "i < 200 ? i + 7 : 0", "COUNT": "256"}


@pytest.mark.amd
@pytest.mark.parametrize(
    ("original", "wrong"),
    [
        (BYTES, {"TYPE": "signed char"}),
        (NUMBERS, {"TYPE": "unsigned"}),
        (ENDS_IN_ZEROS, {"COUNT": "200"}),
    ],
    ids=["bytes with another sign", "numbers without a sign", "zeros left out"],
)
def test_a_port_that_is_right_for_its_own_inputs_alone_differs(
    backend: Rdna3Backend, original: dict[str, str], wrong: dict[str, str]
) -> None:
    def built(words: dict[str, str]) -> BuiltProgram:
        text = PROGRAM
        for name, value in words.items():
            text = text.replace(name, value)
        return backend.build(hip(text))

    right = built(original)
    reference = measure(backend, right, [Inputs()])
    for port, grade in ((right, Grade.VERIFIED), (built(original | wrong), Grade.DIFFERS)):
        verdict = verify(reference, port, backend, Policy(), another=lambda: right)
        assert verdict.grade is grade, verdict.reason
