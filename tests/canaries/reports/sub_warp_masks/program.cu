// Teams of 1 to 32 lanes reduce with masks that are computed from the lane.
#include <cstdio>

__device__ unsigned mask_of(int width) {
  const unsigned all = width == 32 ? 0xffffffffu : (1u << width) - 1u;
  return all << (threadIdx.y * blockDim.x + threadIdx.x) % 32 / width * width;
}

__global__ void reduce(int* result, int width) {
  __shared__ int space[64];
  const int rank = threadIdx.y * blockDim.x + threadIdx.x;
  const unsigned mask = mask_of(width);
  int value = rank;
  for (int step = width / 2; step > 0; step /= 2) {
    value += __shfl_down_sync(mask, value, step, width);
    __syncwarp(mask);
  }
  if (rank % width == 0) space[rank] = value;
  __syncwarp(mask);
  result[rank] = space[rank / width * width] + (__all_sync(mask, rank >= 32) ? 10000 : 0);
}

int main() {
  int* result;
  cudaMallocManaged(&result, 64 * sizeof(int));
  for (int width = 1; width <= 32; width *= 2) {
    reduce<<<1, dim3(8, 8)>>>(result, width);
    cudaDeviceSynchronize();
    printf("%d %d %d %d\n", result[0], result[21], result[33], result[63]);
  }
}
