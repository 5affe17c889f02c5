// 72 KiB of shared memory in a block: an H100 has them, no gfx card here does. Nobody looks at the error.
#include <cstdio>

__global__ void reverse(int* out, int words) {
  extern __shared__ int tile[];
  for (int i = threadIdx.x; i < words; i += blockDim.x) tile[i] = i;
  __syncthreads();
  out[threadIdx.x] = tile[words - 1 - threadIdx.x];
}

int main() {
  const int words = 72 * 256;
  int *device, host[64];
  cudaMalloc(&device, sizeof host);
  cudaMemset(device, 0, sizeof host);
  cudaFuncSetAttribute((const void*)reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, words * 4);
  reverse<<<1, 64, words * 4>>>(device, words);
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  printf("%d %d\n", host[0], host[63]);
}
