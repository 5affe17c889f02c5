// Cooperative launches: a barrier of the whole grid, and grids that are too large for it.
#include <hip/hip_cooperative_groups.h>
#include <hip/hip_runtime.h>

#include <vector>

#include "expect.hpp"

__global__ void sum_twice(int* values, int* result) {
  auto grid = cooperative_groups::this_grid();
  const int rank = static_cast<int>(grid.thread_rank());
  atomicAdd(&result[0], values[rank]);
  grid.sync();
  if (rank == 0) result[1] = result[0] * 2;
}

int main() {
  constexpr int count = 8 * 64;
  std::vector<int> values(count, 3);
  int* device = nullptr;
  int* result = nullptr;
  int out[2] = {};
  OK(hipMalloc(&device, count * 4));
  OK(hipMalloc(&result, sizeof out));
  OK(hipMemcpy(device, values.data(), count * 4, hipMemcpyHostToDevice));
  void* arguments[] = {&device, &result};
  for (const int threads : {64, 256}) {  // one wave and several
    OK(hipMemset(result, 0, sizeof out));
    OK(hipLaunchCooperativeKernel(reinterpret_cast<void*>(sum_twice), count / threads, threads,
                                  arguments, 0, nullptr));
    OK(hipMemcpy(out, result, sizeof out, hipMemcpyDeviceToHost));
    EXPECT(out[0] == 3 * count && out[1] == 6 * count);
  }
  EXPECT_HIP(hipErrorCooperativeLaunchTooLarge,
             hipLaunchCooperativeKernel(reinterpret_cast<void*>(sum_twice), 100000, 64, arguments,
                                        0, nullptr));
  OK(hipFree(device));
  OK(hipFree(result));
  return report();
}
