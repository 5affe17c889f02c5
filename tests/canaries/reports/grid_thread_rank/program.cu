// Each thread of the grid has one number: blocks first, x fastest.
#include <cooperative_groups.h>
#include <cstdio>

__global__ void number(unsigned* seen, unsigned* sample) {
  const auto grid = cooperative_groups::this_grid();
  const unsigned rank = static_cast<unsigned>(grid.thread_rank());
  atomicAdd(seen + rank, 1u);
  if (blockIdx.x == 1 && blockIdx.y == 2 && blockIdx.z == 1 && threadIdx.x == 3 &&
      threadIdx.y == 1 && threadIdx.z == 1)
    *sample = rank, sample[1] = static_cast<unsigned>(grid.size());
}

int main() {
  unsigned *seen, *sample;
  cudaMallocManaged(&seen, 288 * sizeof(unsigned));
  cudaMallocManaged(&sample, 2 * sizeof(unsigned));
  cudaMemset(seen, 0, 288 * sizeof(unsigned));
  number<<<dim3(2, 3, 2), dim3(4, 3, 2)>>>(seen, sample);
  cudaDeviceSynchronize();
  int once = 0;
  for (int i = 0; i < 288; i++) once += seen[i] == 1;
  printf("%d %u %u\n", once, sample[0], sample[1]);
}
