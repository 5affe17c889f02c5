// More allocations than a process may have mappings, as programs make of each number of an object.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <vector>

__global__ void number(double** places, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) *places[i] = i;
}

int main() {
  constexpr int count = 40000;
  std::vector<double*> places(count);
  for (int round = 0; round < 2; ++round) {
    for (auto& place : places) {
      if (hipMalloc(&place, sizeof(double)) != hipSuccess) return 1;
    }
    double** there = nullptr;
    if (hipMalloc(&there, count * sizeof(double*)) != hipSuccess) return 2;
    (void)hipMemcpy(there, places.data(), count * sizeof(double*), hipMemcpyHostToDevice);
    number<<<(count + 255) / 256, 256>>>(there, count);
    double wrong = 0;
    for (int i = 0; i < count; i += 997) {
      double here = -1;
      (void)hipMemcpy(&here, places[i], sizeof here, hipMemcpyDeviceToHost);
      wrong += here != i;
    }
    std::printf("%g\n", wrong);
    for (auto* place : places) (void)hipFree(place);
    (void)hipFree(there);
  }
}
