// Threads, static shared memory and constants of kernels, by their attributes.
#include <cstdio>

__constant__ int table[64];

__global__ void plain(int* out) {
  __shared__ int space[100];
  space[threadIdx.x] = table[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = space[63 - threadIdx.x];
}

__global__ void __launch_bounds__(96) bounded(int* out) { out[threadIdx.x] = 1; }

int main() {
  cudaFuncAttributes attributes;
  printf("%d ", cudaFuncGetAttributes(&attributes, plain));
  printf("%d %d\n", static_cast<int>(attributes.sharedSizeBytes), attributes.maxThreadsPerBlock);
  printf("%d ", cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(bounded)));
  printf("%d %d\n", static_cast<int>(attributes.sharedSizeBytes), attributes.maxThreadsPerBlock);
  printf("%d\n", cudaFuncSetCacheConfig(plain, cudaFuncCachePreferShared));
}
