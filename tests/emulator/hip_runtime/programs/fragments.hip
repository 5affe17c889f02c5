// Memory of many sizes, given back in another order and taken again: all of it zero, none of it
// shared. Prints how many of its words were not as expected.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <vector>

__global__ void fill(unsigned* to, size_t count, unsigned value, unsigned long long* wrong) {
  for (size_t k = threadIdx.x; k < count; k += blockDim.x) {
    if (to[k] != 0) atomicAdd(wrong, 1ull);
    to[k] = value;
  }
}

__global__ void check(const unsigned* from, size_t count, unsigned value,
                      unsigned long long* wrong) {
  for (size_t k = threadIdx.x; k < count; k += blockDim.x) {
    if (from[k] != value) atomicAdd(wrong, 1ull);
  }
}

int main() {
  const size_t sizes[] = {1, 1000, 1025, 4096, 300'000, 524'288, 524'289, 1'500'000};  // words
  unsigned long long *wrong, result = 0;
  hipMalloc(&wrong, sizeof *wrong);
  hipMemset(wrong, 0, sizeof *wrong);
  for (int round = 0; round < 3; ++round) {
    std::vector<unsigned*> blocks;
    for (size_t count : sizes) {
      unsigned* block = nullptr;
      if (hipMalloc(&block, count * sizeof *block) != hipSuccess) return 1;
      fill<<<1, 256>>>(block, count, blocks.size() + 7, wrong);
      blocks.push_back(block);
    }
    for (size_t k = 0; k < blocks.size(); k += 2) hipFree(blocks[k]);
    for (size_t k = 1; k < blocks.size(); k += 2) {
      check<<<1, 256>>>(blocks[k], sizes[k], k + 7, wrong);
    }
    hipDeviceSynchronize();
    for (size_t k = 1; k < blocks.size(); k += 2) {
      if (hipFree(blocks[k]) != hipSuccess) return 1;
    }
  }
  hipMemcpy(&result, wrong, sizeof result, hipMemcpyDeviceToHost);
  std::printf("%llu\n", result);
}
