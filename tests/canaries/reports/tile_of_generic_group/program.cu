// Matrix columns are summed by static tiles; dynamic tiles synchronise only.
#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;

__global__ void columns(const float* matrix, float* sums, int* shape) {
  __shared__ float space[64];
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_group dynamic = cg::tiled_partition(block, 16);
  const auto tile = cg::tiled_partition<16>(block);
  float value = matrix[threadIdx.x];
  for (int step = tile.size() / 2; step > 0; step /= 2) value += tile.shfl_xor(value, step);
  space[threadIdx.x] = dynamic.thread_rank() == 0 ? value : 0;
  dynamic.sync();
  if (dynamic.thread_rank() == 3) sums[threadIdx.x / 16] = space[threadIdx.x - 3];
  if (threadIdx.x == 40) {
    shape[0] = tile.meta_group_rank() * 10 + tile.meta_group_size();
    shape[1] = dynamic.size() * 100 + dynamic.thread_rank();
    shape[2] = tile.ballot(true) == 0xffffu;
  }
}

int main() {
  float *matrix, *sums;
  int* shape;
  cudaMallocManaged(&matrix, 64 * sizeof(float));
  cudaMallocManaged(&sums, 4 * sizeof(float));
  cudaMallocManaged(&shape, 3 * sizeof(int));
  for (int i = 0; i < 64; i++) matrix[i] = i * 0.5f;
  columns<<<1, 64>>>(matrix, sums, shape);
  cudaDeviceSynchronize();
  printf("%g %g %g %g\n", sums[0], sums[1], sums[2], sums[3]);
  printf("%d %d\n", shape[0], shape[1]);
}
