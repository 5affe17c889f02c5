"""The CPU backend and small programs for it."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from cass_ray.corpus.reading.source_files import Sources
from cass_ray.execute.backends.base import BuiltProgram
from cass_ray.execute.backends.rdna3 import Rdna3Backend

HONEST = r"""
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
__global__ void squares(const int* in, long long* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd((unsigned long long*)out, (unsigned long long)in[i] * in[i]);
}
int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 1000;
  unsigned seed = argc > 2 ? atoi(argv[2]) : 7;
  int* host = new int[n];
  for (int i = 0; i < n; ++i) host[i] = (seed = seed * 1664525u + 1013904223u) >> 24;
  int* in;
  long long *out, sum = 0;
  if (hipMalloc(&in, n * sizeof(int)) || hipMalloc(&out, sizeof sum)) return 2;
  hipMemcpy(in, host, n * sizeof(int), hipMemcpyHostToDevice);
  hipMemcpy(out, &sum, sizeof sum, hipMemcpyHostToDevice);
  squares<<<(n + 127) / 128, 128>>>(in, out, n);
  hipMemcpy(&sum, out, sizeof sum, hipMemcpyDeviceToHost);
  printf("n %d\nsum %lld\n", n, sum);
  return hipFree(in) || hipFree(out);
}
"""
"""Sum of squares of ``argv[1]`` numbers from seed ``argv[2]``."""


@pytest.fixture(scope="session")
def backend() -> Rdna3Backend:
    made = Rdna3Backend(threads=1)
    if problem := made.problem():
        pytest.skip(problem)
    return made


@pytest.fixture(scope="session")
def honest(backend: Rdna3Backend) -> BuiltProgram:
    return backend.build(hip(HONEST))


def hip(source: str) -> Sources:
    """``source`` as the only file of a program."""
    return Sources(PurePosixPath("program.hip"), {"program.hip": source.encode()})
