// Threads that pass a filter share one atomic addition; places follow lanes.
#include <cstdio>

__device__ unsigned lower_lanes() {
  unsigned mask;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
  return mask;
}

__device__ unsigned lane() {
  unsigned number;
  asm("mov.u32 %0, %%laneid;" : "=r"(number));
  return number;
}

__global__ void filter(const int* values, int* kept, int* count, unsigned* masks) {
  const int value = values[threadIdx.x];
  const unsigned passing = __ballot_sync(0xffffffff, value % 3 == 0);
  int base = 0;
  const int leader = __ffs(passing) - 1;
  if (lane() == leader) base = atomicAdd(count, __popc(passing));
  base = __shfl_sync(0xffffffff, base, leader);
  if (value % 3 == 0) kept[base + __popc(passing & lower_lanes())] = value;
  unsigned equal, greater, at_most, at_least;
  asm("mov.u32 %0, %%lanemask_eq;" : "=r"(equal));
  asm("mov.u32 %0, %%lanemask_gt;" : "=r"(greater));
  asm("mov.u32 %0, %%lanemask_le;" : "=r"(at_most));
  asm("mov.u32 %0, %%lanemask_ge;" : "=r"(at_least));
  if (threadIdx.x == 37) masks[0] = equal, masks[1] = greater, masks[2] = at_most, masks[3] = at_least;
}

int main() {
  int *values, *kept, *count;
  unsigned* masks;
  cudaMallocManaged(&values, 64 * sizeof(int));
  cudaMallocManaged(&kept, 64 * sizeof(int));
  cudaMallocManaged(&count, sizeof(int));
  cudaMallocManaged(&masks, 4 * sizeof(unsigned));
  for (int i = 0; i < 64; i++) values[i] = i, kept[i] = -1;
  *count = 0;
  filter<<<1, 64>>>(values, kept, count, masks);
  cudaDeviceSynchronize();
  int sum = 0, rising = 0;
  for (int i = 0; i < *count; i++) sum += kept[i];
  for (int i = 1; i < *count; i++) rising += kept[i] > kept[i - 1];
  printf("%d %d %d\n", *count, sum, rising >= *count - 2);
  printf("%08x %08x %08x %08x\n", masks[0], masks[1], masks[2], masks[3]);
}
