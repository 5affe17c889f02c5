// Masks that a program computes as unsigned values, given to every exchange of a warp.
#include <cstdio>

__global__ void exchange(int* result) {
  const unsigned everyone = __activemask();
  const unsigned mask = 0xffffu << (threadIdx.x & 16);
  int value = threadIdx.x;
  value += __shfl_xor_sync(everyone, value, 1);
  value += __shfl_down_sync(mask, value, 2, 16);
  value += __shfl_up_sync(mask, value, 3, 16);
  value += __shfl_sync(everyone, value, 5);
  result[threadIdx.x] = value + (__any_sync(mask, threadIdx.x == 17) ? 1000 : 0);
}

int main() {
  int* result;
  cudaMallocManaged(&result, 64 * sizeof(int));
  exchange<<<1, 64>>>(result);
  cudaDeviceSynchronize();
  for (int i : {0, 1, 15, 16, 31, 33, 63}) printf("%d ", result[i]);
  printf("\n");
}
