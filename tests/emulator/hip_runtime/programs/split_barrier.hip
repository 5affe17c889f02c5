// The two halves of a barrier on gfx12. The first wave signals, then waits for a flag that the
// second sets behind the barrier: with a barrier in one piece nobody would ever go on.
#include <hip/hip_runtime.h>

#include "expect.hpp"

__global__ void phases(int* order, int* numbers) {
  __shared__ volatile int flag;
  const unsigned wave = threadIdx.x / 32;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
#if defined(__gfx1201__)
  __builtin_amdgcn_s_barrier_signal(-1);
  if (wave == 0) {
    while (flag == 0) __builtin_amdgcn_s_sleep(1);
    if (threadIdx.x == 0) order[blockIdx.x] = flag;
  }
  __builtin_amdgcn_s_barrier_wait(-1);
  if (wave == 1 && threadIdx.x % 32 == 0) flag = 7;
#endif
  __syncthreads();
  if (threadIdx.x == 0)
    numbers[blockIdx.x * gridDim.y + blockIdx.y] = blockIdx.x * 100 + blockIdx.y;
}

int main() {
  constexpr int columns = 5, rows = 3;
  int *order, *numbers;
  OK(hipMallocManaged(reinterpret_cast<void**>(&order), columns * sizeof(int)));
  OK(hipMallocManaged(reinterpret_cast<void**>(&numbers), columns * rows * sizeof(int)));
  phases<<<dim3(columns, rows), 96>>>(order, numbers);
  OK(hipDeviceSynchronize());
  for (int x = 0; x < columns; ++x) {
    EXPECT(order[x] == 7);
    // The workgroup's number, which gfx12 has in registers of its own.
    for (int y = 0; y < rows; ++y) EXPECT(numbers[x * rows + y] == x * 100 + y);
  }
  return report();
}
