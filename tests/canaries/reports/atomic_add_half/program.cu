// Single halves are added; each call returns what was there.
#include <cuda_fp16.h>
#include <cstdio>

__global__ void add(__half* sums, float* before) {
  const __half old = atomicAdd(&sums[threadIdx.x & 1], __float2half(0.5f));
  if (threadIdx.x < 2) before[threadIdx.x] = __half2float(old) >= 1.0f ? 1.0f : 0.0f;
}

int main() {
  __half* sums;
  float* before;
  cudaMallocManaged(&sums, 3 * sizeof(__half));
  cudaMallocManaged(&before, 2 * sizeof(float));
  sums[0] = __float2half(1.0f);
  sums[1] = __float2half(2.0f);
  sums[2] = __float2half(7.0f);
  add<<<2, 64>>>(sums, before);
  cudaDeviceSynchronize();
  printf("%g %g %g\n", __half2float(sums[0]), __half2float(sums[1]), __half2float(sums[2]));
  printf("%g %g\n", before[0], before[1]);
}
