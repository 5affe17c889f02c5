// Hints for managed memory, its pointer's attributes and the limit of the stack.
#include <cstdio>

__global__ void square(int* values) { values[threadIdx.x] *= values[threadIdx.x]; }

int main() {
  int *values, device = 0;
  const size_t size = 64 * sizeof(int);
  cudaGetDevice(&device);
  printf("%d ", cudaMallocManaged(&values, size));
  for (int i = 0; i < 64; i++) values[i] = i;
  printf("%d ", cudaMemAdvise(values, size, cudaMemAdviseSetAccessedBy, cudaCpuDeviceId));
  printf("%d ", cudaMemAdvise(values, size, cudaMemAdviseSetReadMostly, device));
  printf("%d ", cudaMemPrefetchAsync(values, size, device, cudaStreamPerThread));
  cudaStreamSynchronize(cudaStreamPerThread);
  square<<<1, 64>>>(values);
  printf("%d ", cudaMemPrefetchAsync(values, size, cudaCpuDeviceId, 0));
  printf("%d\n", cudaDeviceSynchronize());
  cudaPointerAttributes attributes;
  printf("%d ", cudaPointerGetAttributes(&attributes, values));
  printf("%d %d\n", attributes.type == cudaMemoryTypeManaged, values[63]);
  size_t stack = 0;
  printf("%d ", cudaDeviceSetLimit(cudaLimitStackSize, 8192));
  printf("%d ", cudaDeviceGetLimit(&stack, cudaLimitStackSize));
  printf("%d\n", stack >= 8192);
}
