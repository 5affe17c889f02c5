// Waiting between workgroups: `BLOCKS SWEEPS` synchronises the whole grid after each sweep;
// `chain BLOCKS` has every workgroup wait for the next one, without sleeping.
#include <hip/hip_cooperative_groups.h>
#include <hip/hip_runtime.h>

#include <cstdlib>
#include <cstring>

#include "expect.hpp"

// A value moves one place to the left in each sweep, and grows by one.
__global__ void shift(int* values, int sweeps) {
  const auto grid = cooperative_groups::this_grid();
  const int size = static_cast<int>(grid.size());
  const int mine = static_cast<int>(grid.thread_rank());
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    const int* from = values + (sweep & 1) * size;
    values[mine + (~sweep & 1) * size] = from[(mine + 1) % size] + 1;
    grid.sync();
  }
}

__global__ void chain(volatile int* flags, volatile int* sums) {
  if (threadIdx.x != 0) return;
  const unsigned block = blockIdx.x;
  const bool last = block + 1 == gridDim.x;
  while (!last && flags[block + 1] == 0) {
  }
  sums[block] = static_cast<int>(block) + (last ? 0 : sums[block + 1]);
  __threadfence();
  flags[block] = 1;
}

int main(int, char** arguments) {
  constexpr int threads = 64;
  int* memory = nullptr;
  if (std::strcmp(arguments[1], "chain") == 0) {
    const int blocks = std::atoi(arguments[2]);
    OK(hipMallocManaged(&memory, 2 * blocks * sizeof(int)));
    OK(hipMemset(memory, 0, 2 * blocks * sizeof(int)));
    chain<<<blocks, threads>>>(memory, memory + blocks);
    OK(hipDeviceSynchronize());
    EXPECT(memory[blocks] == blocks * (blocks - 1) / 2);
    return report();
  }
  const int size = std::atoi(arguments[1]) * threads;
  int sweeps = std::atoi(arguments[2]);
  OK(hipMallocManaged(&memory, 2 * size * sizeof(int)));
  for (int i = 0; i < size; ++i) memory[i] = 10 * i;
  void* parameters[] = {&memory, &sweeps};
  OK(hipLaunchCooperativeKernel(reinterpret_cast<const void*>(shift), dim3(size / threads),
                                dim3(threads), parameters, 0, nullptr));
  OK(hipDeviceSynchronize());
  const int* result = memory + (sweeps & 1) * size;
  for (int i = 0; i < size; ++i) EXPECT(result[i] == 10 * ((i + sweeps) % size) + sweeps);
  return report();
}
