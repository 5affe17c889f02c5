"""``cudaFree`` of mapped memory is an error that frees nothing (CUDA's reference of it)."""

from __future__ import annotations

import pytest

from cass_ray.translate.rules import RulesTranslator
from tests.translate.programs import output_of

PROGRAM = """
#include <cstdio>
__global__ void count(int* p) { p[threadIdx.x] = threadIdx.x; }
int main() {
  int *here, *there, *own;
  cudaHostAlloc((void**)&here, 32 * sizeof(int), cudaHostAllocMapped);
  cudaHostGetDevicePointer((void**)&there, here, 0);
  cudaMalloc(&own, 64);
  count<<<1, 32>>>(there);
  cudaDeviceSynchronize();
  const bool refused = cudaFree(there) == cudaErrorInvalidValue;
  cudaGetLastError();
  int sum = 0;
  for (int i = 0; i < 32; ++i) sum += here[i];
  printf("results: %d %d %d", refused, sum, cudaFree(own) == cudaSuccess);
  printf(" %d %d\\n", cudaFree(nullptr) == cudaSuccess, cudaFreeHost(here) == cudaSuccess);
}
"""


@pytest.mark.amd
def test_the_host_keeps_its_memory() -> None:
    assert output_of(PROGRAM)["results"].split() == ["1", "496", "1", "1", "1"]


@pytest.mark.parametrize(
    ("line", "checked"),
    [
        ("cudaHostGetDevicePointer(&d, h, 0);", True),
        ("cudaHostRegister(p, 4, cudaHostRegisterMapped);", True),
        ("cudaHostAlloc(&p, 4, cudaHostAllocDefault);", False),
        ("pool.cudaHostGetDevicePointers();", False),
    ],
)
def test_which_files_check(line: str, checked: bool) -> None:
    made = RulesTranslator().translate(f"{line}\ncudaFree(q);\n", filename="a.cu").source
    assert made.endswith("cass::free_device_memory(q);\n" if checked else "\nhipFree(q);\n")
