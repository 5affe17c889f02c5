// prmt.b32 with selectors of 8 to 15 spreads the sign of a byte; __byte_perm masks them.
#include <cstdio>

__device__ unsigned permute(unsigned x, unsigned y, unsigned selector) {
  unsigned result;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(x), "r"(y), "r"(selector));
  return result;
}

__global__ void select(uint2* result, unsigned x, unsigned y, const unsigned* selectors) {
  const unsigned selector = selectors[threadIdx.x];
  result[threadIdx.x] = make_uint2(__byte_perm(x, y, selector), permute(x, y, selector));
}

__global__ void constant(uint2* result, unsigned x, unsigned y) {
  result[0] = make_uint2(__byte_perm(x, y, 0xba98), permute(x, y, 0xba98));
  result[1] = make_uint2(__byte_perm(x, 0, 0x9180), permute(x, 0, 0x9180));
  result[2] = make_uint2(__byte_perm(x, y, 0xfedc), permute(x, y, 0xfedc));
}

int main() {
  uint2* result;
  unsigned* selectors;
  cudaMallocManaged(&result, 8 * sizeof(uint2));
  cudaMallocManaged(&selectors, 8 * sizeof(unsigned));
  const unsigned chosen[] = {0x3210, 0x7654, 0x8888, 0xba98, 0xfedc, 0x1f2e, 0xffff0123, 0x4c5d};
  for (int i = 0; i < 8; i++) selectors[i] = chosen[i];
  select<<<1, 8>>>(result, 0x80017ff2u, 0x12f38495u, selectors);
  cudaDeviceSynchronize();
  for (int i = 0; i < 8; i++) printf("%08x %08x\n", result[i].x, result[i].y);
  constant<<<1, 1>>>(result, 0x80017ff2u, 0x12f38495u);
  cudaDeviceSynchronize();
  for (int i = 0; i < 3; i++) printf("%08x %08x\n", result[i].x, result[i].y);
}
