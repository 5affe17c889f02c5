// Pointers to constants and to parameters, which are generic addresses in the kernel.
#include <cstdio>
#include <cuda_runtime.h>

#ifdef __HIP__
#define READ_IN_PLACE
#else
#define READ_IN_PLACE __grid_constant__
#endif

__constant__ int unused[3] = {-1, -2, -3};
__constant__ int primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
__device__ int squares[8] = {0, 1, 4, 9, 16, 25, 36, 49};

struct Weights {
  int of[16];
};

__device__ __noinline__ int sum(const int *values, int count) {
  int total = 0;
  for (int i = 0; i < count; ++i) total = total * 3 + values[i];
  return total;
}

__global__ void choose(const READ_IN_PLACE Weights first, const READ_IN_PLACE Weights second, int *out,
                       int choices) {
  const int *from = primes;
  if (choices >> threadIdx.x & 1) from = squares;
  if (choices >> threadIdx.x & 2) from = first.of;
  if (choices >> threadIdx.x & 4) from = second.of + 3;
  if (threadIdx.x == 31) from = unused;
  out[threadIdx.x] = sum(from, threadIdx.x == 31 ? 3 : threadIdx.x % 8 + 1);
}

int main() {
  Weights first, second;
  for (int i = 0; i < 16; ++i) first.of[i] = 100 + i, second.of[i] = 7000 - i * i;
  int *out, found[32], changed[3] = {40, 50, 60};
  cudaMalloc(&out, sizeof found);
  for (int round = 0; round < 3; ++round) {
    choose<<<1, 32>>>(first, second, out, 0x2b31c6a4 >> round);
    cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 32; ++i) printf("%d%c", found[i], i == 31 ? '\n' : ' ');
    cudaMemcpyToSymbol(primes, changed, sizeof changed, round * sizeof(int));
  }
}
