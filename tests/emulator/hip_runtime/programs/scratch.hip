// Private memory: by index, and by a pointer that another function gets. gfx90a has buffers for it.
#include <hip/hip_runtime.h>

#include "expect.hpp"

namespace {

constexpr int size = 96;

__host__ __device__ __attribute__((noinline)) int weighted(const volatile int* values, int count) {
  int sum = 0;
  for (int k = 0; k < count; ++k) sum += (k % 5 + 1) * values[k];
  return sum;
}

__host__ __device__ int work(int number) {
  volatile int own[size];  // volatile: it stays in memory
  for (int k = 0; k < size; ++k) own[(7 * k + number) % size] = 1000 * number + k;
  return own[number * 5 % size] + weighted(own + number % 3, size - 3);
}

__global__ void all(int* results) {
  const int number = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  results[number] = work(number);
}

}  // namespace

int main() {
  constexpr int blocks = 3;
  constexpr int threads = 100;
  int* results = nullptr;
  OK(hipMallocManaged(&results, blocks * threads * sizeof(int)));
  all<<<blocks, threads>>>(results);
  OK(hipDeviceSynchronize());
  for (int i = 0; i < blocks * threads; ++i) EXPECT(results[i] == work(i));
  return report();
}
