"""A port whose threads race agrees with its original by chance: it is not verified."""

from __future__ import annotations

import pytest

from cass_ray.execute.backends.base import Inputs
from cass_ray.execute.backends.rdna3 import Rdna3Backend
from cass_ray.execute.grades import Grade
from cass_ray.execute.references import measure
from cass_ray.execute.verify import Policy, verify
from tests.execute.conftest import hip

PROGRAM = """
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void work(int* p) {
  __shared__ int s[256];
  const int i = threadIdx.x;
  BODY
}
int main() {
  int host[256], *p;
  for (int i = 0; i < 256; ++i) host[i] = 3 * i + 1;
  hipMalloc(&p, sizeof host);
  hipMemcpy(p, host, sizeof host, hipMemcpyHostToDevice);
  work<<<1, 256>>>(p);
  hipMemcpy(host, p, sizeof host, hipMemcpyDeviceToHost);
  long sum = 0;
  for (int i = 0; i < 256; ++i) sum += (i + 1) * (long)host[i];
  printf("%ld\\n", sum);
}
"""
RACES = {
    "a sum without an atomic": "p[0] = p[0] + i;",
    "a maximum without an atomic": "if (p[0] < 1000 + i) p[0] += i;",
    "a neighbor before its wave wrote it": "s[i] = p[i]; p[i] = s[(i + 1) % 256];",
    "a neighbor that is overwritten in place": "int v = p[(i + 32) % 256]; p[i] = v + p[i];",
    "a tree without barriers": "s[i] = p[i]; "
    "for (int n = 128; n > 0; n /= 2) if (i < n) s[i] += s[i + n]; p[i] = s[0];",
}
ORDERLY = {
    "a sum by atomics": "atomicAdd(&p[0], i);",
    "a neighbor behind a barrier": "s[i] = p[i]; __syncthreads(); p[i] = s[(i + 1) % 256];",
    "the same value by all": "if (p[i] > 2) s[0] = 7; __syncthreads(); p[i] = s[0] + i;",
    "a tree with barriers": "s[i] = p[i]; __syncthreads(); "
    "for (int n = 128; n > 0; n /= 2) { if (i < n) s[i] += s[i + n]; __syncthreads(); } "
    "p[i] = s[0];",
    "lanes of one wave": "p[i] = __shfl_xor(p[i], 1) + i;",
}


def grade(backend: Rdna3Backend, body: str) -> tuple[Grade, str]:
    built = backend.build(hip(PROGRAM.replace("BODY", body)))
    result = verify(measure(backend, built, [Inputs()]), built, backend, Policy(check=True))
    return result.grade, result.reason


@pytest.mark.amd
@pytest.mark.parametrize("body", RACES.values(), ids=RACES)
def test_what_races_decide_is_not_verified(backend: Rdna3Backend, body: str) -> None:
    found, why = grade(backend, body)
    assert found is Grade.AGREES
    assert "race" in why or "another order" in why


@pytest.mark.amd
@pytest.mark.parametrize("body", ORDERLY.values(), ids=ORDERLY)
def test_what_no_order_decides_is(backend: Rdna3Backend, body: str) -> None:
    assert grade(backend, body) == (Grade.VERIFIED, "")
