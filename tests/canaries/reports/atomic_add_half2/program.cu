// Both halves of a pair are added; the pair that was there comes back.
#include <cuda_fp16.h>
#include <cstdio>

__global__ void add(half2* sum, half2* before) {
  const half2 old = atomicAdd(sum, __floats2half2_rn(1.0f, -2.0f));
  if (threadIdx.x == 0) *before = old;
}

int main() {
  half2 *sum, *before;
  cudaMallocManaged(&sum, sizeof(half2));
  cudaMallocManaged(&before, sizeof(half2));
  *sum = __floats2half2_rn(3.0f, 4.0f);
  add<<<1, 1>>>(sum, before);
  cudaDeviceSynchronize();
  printf("%g %g\n", __low2float(*before), __high2float(*before));
  add<<<4, 32>>>(sum, before);
  cudaDeviceSynchronize();
  printf("%g %g\n", __low2float(*sum), __high2float(*sum));
}
