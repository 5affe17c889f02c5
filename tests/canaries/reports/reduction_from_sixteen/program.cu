// Counts of rows: two levels of shuffles, the first from 16, the second by the first warp.
#include <cstdio>

__global__ void count(const int* values, int* total) {
  __shared__ int partial[32];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  int value = values[threadIdx.x];
  for (int offset = 16; offset > 0; offset >>= 1)
    value += __shfl_down_sync(0xffffffff, value, offset);
  if (lane == 0) partial[warp] = value;
  __syncthreads();
  if (warp == 0) {
    value = lane < blockDim.x / 32 ? partial[lane] : 0;
    for (int offset = 16; offset > 0; offset >>= 1)
      value += __shfl_down_sync(0xffffffff, value, offset);
    if (lane == 0) *total = value;
  }
}

int main() {
  int *values, *total;
  cudaMallocManaged(&values, 1024 * sizeof(int));
  cudaMallocManaged(&total, sizeof(int));
  for (int i = 0; i < 1024; i++) values[i] = i;
  for (int threads : {32, 96, 256, 1024}) {
    count<<<1, threads>>>(values, total);
    cudaDeviceSynchronize();
    printf("%d\n", *total);
  }
}
