"""Symbols of managed variables; results are those of CUDA's reference for the same calls."""

from __future__ import annotations

import pytest

from tests.translate.programs import output_of

SOURCE = r"""
#include <cstdio>

struct Point { int x; double y; };
__managed__ int scalar = 4;
__device__ __managed__ Point points[3] = {{1, 0.5}, {2, 1.5}};
__managed__ unsigned char bytes[8], others[2];
static __managed__ const char* text;
__device__ int plain = 7;

__global__ void change() {
  scalar += 1;
  points[2].x = points[0].x + points[1].x;
  others[1] = bytes[3] + 1;
}

int main() {
  const int ten = 10;
  printf("errors: %d ", cudaMemcpyToSymbol(scalar, &ten, sizeof ten));
  const unsigned char part[2] = {30, 40};
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  printf("%d ", cudaMemcpyToSymbolAsync(bytes, part, 2, 3, cudaMemcpyHostToDevice, stream));
  cudaStreamSynchronize(stream);
  change<<<1, 1>>>();
  int result = 0;
  printf("%d ", cudaMemcpyFromSymbol(&result, scalar, sizeof result));
  Point last;
  printf("%d\n", cudaMemcpyFromSymbol(&last, ::points, sizeof last, 2 * sizeof(Point),
                                      cudaMemcpyDeviceToHost));
  unsigned char other = 0;
  cudaMemcpyFromSymbolAsync(&other, others, 1, 1);
  cudaDeviceSynchronize();
  printf("values: %d %d %d\n", result, last.x, other);
  void* address = nullptr;
  size_t size = 0;
  printf("symbol: %d ", cudaGetSymbolAddress(&address, points));
  printf("%d ", cudaGetSymbolSize(&size, points));
  printf("%d %d\n", address == points, size == sizeof points);
  printf("outside: %d\n", cudaMemcpyFromSymbol(&result, bytes, 4, 5));
  cudaMemcpyFromSymbol(&result, plain, sizeof result);
  printf("plain: %d\n", result);
}
"""


@pytest.mark.amd
@pytest.mark.parametrize("target", ["gfx1100", "gfx942"])
def test_symbols_of_managed_variables(target: str) -> None:
    assert output_of(SOURCE, architecture=target) == {
        "errors": "0 0 0 0",
        "values": "11 3 31",
        "symbol": "0 0 1 1",
        "outside": "1",
        "plain": "7",
    }
