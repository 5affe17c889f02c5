// Ranks, indices and extents of a block of three dimensions.
#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;

__device__ int sum(cg::thread_group group, int* space, int value) {
  const int rank = group.thread_rank();
  for (int half = group.size() / 2; half > 0; half /= 2) {
    space[rank] = value;
    group.sync();
    if (rank < half) value += space[rank + half];
    group.sync();
  }
  return value;
}

__global__ void work(int* result) {
  __shared__ int space[64];
  cg::thread_block block = cg::this_thread_block();
  const dim3 index = block.thread_index(), place = block.group_index(), extent = block.group_dim();
  const int total = sum(block, space, index.x + 10 * index.y + 100 * index.z);
  if (block.thread_rank() == 0) {
    int* own = result + 4 * (place.x + 2 * place.y);
    own[0] = total;
    own[1] = extent.x * 100 + extent.y * 10 + extent.z;
    own[2] = block.size() + block.num_threads();
    own[3] = block.dim_threads().y;
  }
}

int main() {
  int* result;
  cudaMallocManaged(&result, 16 * sizeof(int));
  work<<<dim3(2, 2), dim3(4, 2, 8)>>>(result);
  cudaDeviceSynchronize();
  for (int i = 0; i < 16; i++) printf("%d ", result[i]);
  printf("\n");
}
