// A block size whose dynamic shared memory is a function of it.
#include <cstdio>

__global__ void work(float* out) {
  extern __shared__ float space[];
  space[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = space[blockDim.x - 1 - threadIdx.x];
}

struct SharedBytes {
  __host__ __device__ size_t operator()(int threads) const { return threads * sizeof(float); }
};

int main() {
  int grid = 0, threads = 0;
  printf("%d ", cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &threads, work, SharedBytes()));
  printf("%d %d\n", grid > 0, threads >= 32 && threads <= 1024 && threads % 32 == 0);
  printf("%d ", cudaOccupancyMaxPotentialBlockSizeVariableSMem(
                    &grid, &threads, work, [](int) { return size_t{0}; }, 128));
  printf("%d\n", threads > 0 && threads <= 128);
  int blocks = 0;
  printf("%d ", cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, work, 256, 256 * sizeof(float)));
  printf("%d\n", blocks > 0);
  float* out;
  cudaMallocManaged(&out, 256 * sizeof(float));
  work<<<2, 128, SharedBytes()(128)>>>(out);
  cudaDeviceSynchronize();
  printf("%g %g\n", out[0], out[255]);
}
