// Blocks of a grid of three dimensions are numbered by cooperative groups.
#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;

__global__ void number(unsigned long long* result) {
  const cg::grid_group grid = cg::this_grid();
  const unsigned place = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    result[4 * place] = grid.block_rank();
    result[4 * place + 1] = grid.num_blocks();
    const dim3 index = grid.block_index(), extent = grid.dim_blocks();
    result[4 * place + 2] = index.x + 10 * index.y + 100 * index.z;
    result[4 * place + 3] = extent.x + 10 * extent.y + 100 * extent.z;
  }
}

int main() {
  unsigned long long* result;
  cudaMallocManaged(&result, 48 * sizeof *result);
  number<<<dim3(2, 3, 2), dim3(4, 8)>>>(result);
  cudaDeviceSynchronize();
  for (int i = 0; i < 12; i += 3) {
    for (int j = 0; j < 4; j++) printf("%llu ", result[4 * i + j]);
    printf("\n");
  }
}
