"""PTX's ``ldmatrix`` and ``mma``: products of small integers, exact whatever the order of sums."""

from __future__ import annotations

import pytest

from tests.translate.programs import output_of

pytestmark = pytest.mark.amd

# The registers of a lane as the PTX manual lays them out: rows of A, and of B's transpose, are 16
# bytes a step; C and D are 16 by 8.
MULTIPLY = r"""
#include <cstdio>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void halves(const unsigned* a, const unsigned* b, float* d) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  float sum[4] = {1, 1, 1, 1};
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
               "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[8 * g + t]), "r"(a[8 * (g + 8) + t]), "r"(a[8 * g + t + 4]),
        "r"(a[8 * (g + 8) + t + 4]), "r"(b[8 * g + t]), "r"(b[8 * g + t + 4]));
  for (int i = 0; i < 4; ++i) d[8 * (g + i / 2 * 8) + 2 * t + i % 2] = sum[i];
}
__global__ void sum_of_halves(const unsigned* a, const unsigned* b, __half2* d) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  unsigned sum[2] = {0x3c003c00u, 0x3c003c00u};  // ones
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, "
               "{%6, %7}, {%8, %9};\n"
      : "=r"(sum[0]), "=r"(sum[1])
      : "r"(a[8 * g + t]), "r"(a[8 * (g + 8) + t]), "r"(a[8 * g + t + 4]),
        "r"(a[8 * (g + 8) + t + 4]), "r"(b[8 * g + t]), "r"(b[8 * g + t + 4]), "r"(sum[0]),
        "r"(sum[1]));
  for (int i = 0; i < 2; ++i) d[4 * (g + 8 * i) + t] = *reinterpret_cast<__half2*>(&sum[i]);
}
__global__ void bfloat16(const unsigned* a, const unsigned* b, float* d) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  float sum[4] = {1, 1, 1, 1};
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5}, "
               "{%6}, {%0, %1, %2, %3};\n"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[4 * g + t]), "r"(a[4 * (g + 8) + t]), "r"(b[4 * g + t]));
  for (int i = 0; i < 4; ++i) d[8 * (g + i / 2 * 8) + 2 * t + i % 2] = sum[i];
}
__global__ void tf32(const unsigned* a, const unsigned* b, float* d) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  float sum[4] = {1, 1, 1, 1};
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
               "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[8 * g + t]), "r"(a[8 * (g + 8) + t]), "r"(a[8 * g + t + 4]),
        "r"(a[8 * (g + 8) + t + 4]), "r"(b[8 * g + t]), "r"(b[8 * g + t + 4]));
  for (int i = 0; i < 4; ++i) d[8 * (g + i / 2 * 8) + 2 * t + i % 2] = sum[i];
}
__global__ void bytes(const unsigned* a, const unsigned* b, int* d) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  int sum[4] = {1, 1, 1, 1};
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, "
               "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
      : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
      : "r"(a[8 * g + t]), "r"(a[8 * (g + 8) + t]), "r"(a[8 * g + t + 4]),
        "r"(a[8 * (g + 8) + t + 4]), "r"(b[8 * g + t]), "r"(b[8 * g + t + 4]));
  for (int i = 0; i < 4; ++i) d[8 * (g + i / 2 * 8) + 2 * t + i % 2] = sum[i];
}
// A by ldmatrix as it is stored, B (k by n, n fastest) transposed by it.
__global__ void loaded(const __half* a, const __half* b, float* d) {
  __shared__ __align__(16) __half left[256], right[128];
  for (int i = threadIdx.x; i < 256; i += 32) left[i] = a[i];
  for (int i = threadIdx.x; i < 128; i += 32) right[i] = b[i];
  __syncthreads();
  const int lane = threadIdx.x, g = lane / 4, t = lane % 4;
  unsigned x[4], y[2];
  const unsigned from = __cvta_generic_to_shared(left + lane % 16 * 16 + lane / 16 * 8);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
      : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(from));
  const unsigned row = __cvta_generic_to_shared(right + lane % 16 * 8);
  asm volatile("ldmatrix.sync.aligned.x2.trans.m8n8.shared.b16 {%0, %1}, [%2];\n"
      : "=r"(y[0]), "=r"(y[1]) : "r"(row));
  float sum[4] = {1, 1, 1, 1};
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
               "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
  for (int i = 0; i < 4; ++i) d[8 * (g + i / 2 * 8) + 2 * t + i % 2] = sum[i];
}

int left_of(int i, int k) { return (3 * i + 5 * k) % 7 - 3; }
int right_of(int k, int j) { return (2 * k + 3 * j) % 5 - 2; }
void put(char* to, int at, int value, int bits, bool whole) {
  float number = value;
  unsigned image;
  __builtin_memcpy(&image, &number, 4);
  __half half = __float2half(number);
  if (bits == 8) to[at] = value;
  if (bits == 32) __builtin_memcpy(to + 4 * at, &image, 4);
  if (bits == 16 && whole) __builtin_memcpy(to + 2 * at, (char*)&image + 2, 2);
  if (bits == 16 && !whole) __builtin_memcpy(to + 2 * at, &half, 2);
}
template <class T, class Kernel>
void check(const char* name, Kernel kernel, int depth, int bits, bool whole, bool plain = false) {
  char *a, *b;
  T* d;
  cudaMallocManaged(&a, 16 * 32);
  cudaMallocManaged(&b, 8 * 32);
  cudaMallocManaged(&d, 128 * sizeof(T));
  for (int k = 0; k < depth; ++k) {
    for (int i = 0; i < 16; ++i) put(a, i * depth + k, left_of(i, k), bits, whole);
    for (int j = 0; j < 8; ++j)
      put(b, plain ? k * 8 + j : j * depth + k, right_of(k, j), bits, whole);
  }
  kernel(a, b, d);
  if (cudaDeviceSynchronize()) return;
  int wrong = 0;
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 8; ++j) {
      int sum = 1;
      for (int k = 0; k < depth; ++k) sum += left_of(i, k) * right_of(k, j);
      wrong += (float)d[8 * i + j] != sum;
    }
  printf("%s: %d wrong, %g %g\n", name, wrong, (float)d[0], (float)d[127]);
}
#define RUN(name, cast, type) [](char* a, char* b, type* d) { \
    name<<<1, 32>>>((const cast*)a, (const cast*)b, d); }
int main() {
  check<float>("halves", RUN(halves, unsigned, float), 16, 16, false);
  const auto summed = [](char* a, char* b, __half* d) {
    sum_of_halves<<<1, 32>>>((const unsigned*)a, (const unsigned*)b, (__half2*)d);
  };
  check<__half>("sum of halves", summed, 16, 16, false);
  check<float>("bfloat16", RUN(bfloat16, unsigned, float), 8, 16, true);
  check<float>("tf32", RUN(tf32, unsigned, float), 8, 32, true);
  check<int>("bytes", RUN(bytes, unsigned, int), 32, 8, false);
  check<float>("loaded", RUN(loaded, __half, float), 16, 16, false, true);
}
"""


def product(depth: int, row: int, column: int) -> int:
    """An element, plus one, of the matrices in the program."""
    pairs = (((3 * row + 5 * k) % 7 - 3, (2 * k + 3 * column) % 5 - 2) for k in range(depth))
    return 1 + sum(left * right for left, right in pairs)


@pytest.mark.parametrize("architecture", ["gfx1100", "gfx90a"])
def test_products_of_fragments(architecture: str) -> None:
    said = output_of(MULTIPLY, architecture=architecture)
    depths = {
        "halves": 16,
        "sum of halves": 16,
        "bfloat16": 8,
        "tf32": 8,
        "bytes": 32,
        "loaded": 16,
    }
    assert said == {
        name: f"0 wrong, {product(depth, 0, 0)} {product(depth, 15, 7)}"
        for name, depth in depths.items()
    }
