// All blocks wait for each other between the steps of a scan, by a cooperative launch.
#include <cooperative_groups.h>
#include <cstdio>
#include <utility>
namespace cg = cooperative_groups;

__global__ void scan(int* from, int* to, int count) {
  cg::grid_group grid = cg::this_grid();
  const int i = grid.thread_rank();
  for (int step = 1; step < count; step *= 2) {
    if (i < count) to[i] = from[i] + (i >= step ? from[i - step] : 0);
    grid.sync();
    int* const other = from;
    from = to;
    to = other;
  }
}

int main() {
  int *from, *to, count = 256;
  cudaMallocManaged(&from, count * sizeof(int));
  cudaMallocManaged(&to, count * sizeof(int));
  for (int i = 0; i < count; i++) from[i] = i + 1;
  void* arguments[] = {&from, &to, &count};
  int cooperative = 0;
  cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, 0);
  const cudaError_t error = cudaLaunchCooperativeKernel(
      reinterpret_cast<void*>(scan), dim3(4), dim3(64), arguments, 0, nullptr);
  printf("%d %d %d\n", cooperative, error, cudaDeviceSynchronize());
  printf("%d %d %d\n", from[0], from[99], from[255]);
}
