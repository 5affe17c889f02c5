// What kernels of the harvest had and no vector has: sines of what all threads have alike (on sm_75
// they read their table by LDG.E.U), %smid, and a block of instructions that is scheduled in stretches.
#include <cmath>

#include "expect.h"

constexpr int count = 32;

__global__ void angle(double given, double* out) {
  out[0] = sin(given);
  out[count] = cos(given);
}

__global__ void multiprocessor(unsigned* out) {
  asm volatile("mov.u32 %0, %%smid;" : "=r"(out[threadIdx.x]));
}

// Each round needs the one before: nothing can be left out of the block.
__host__ __device__ unsigned mixed(unsigned a, unsigned b) {
#pragma unroll
  for (unsigned round = 0; round < 900; ++round) {
    a ^= a << 13;
    a ^= b >> 17;
    b += a * (2 * round + 1);
    b ^= b << 5;
  }
  return a ^ b;
}

__global__ void mix(const unsigned* given, unsigned* out) {
  out[threadIdx.x] = mixed(given[threadIdx.x], given[count + threadIdx.x]);
}

template <typename T>
static T* copied(const T* values, int number) {
  T* made;
  GOOD(cudaMalloc(&made, number * sizeof(T)));
  GOOD(cudaMemcpy(made, values, number * sizeof(T), cudaMemcpyHostToDevice));
  return made;
}

int main() {
  double given[count], found[2 * count] = {};
  for (int k = 0; k < count; ++k) given[k] = 0.37 * k - 4;
  double* out = copied(found, 2 * count);
  for (int k = 0; k < count; ++k) angle<<<1, 1>>>(given[k], out + k);
  GOOD(cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost));
  for (int k = 0; k < count; ++k) {
    EXPECT(std::abs(found[k] - std::sin(given[k])) < 4e-16);  // CUDA: 2 units in the last place
    EXPECT(std::abs(found[count + k] - std::cos(given[k])) < 4e-16);
  }

  unsigned words[2 * count], results[count], numbers[count];
  for (unsigned k = 0; k < 2 * count; ++k) words[k] = 2654435761u * (k + 1);
  unsigned* place = copied(words, count);
  mix<<<1, count>>>(copied(words, 2 * count), place);
  GOOD(cudaMemcpy(results, place, sizeof results, cudaMemcpyDeviceToHost));
  for (int k = 0; k < count; ++k) EXPECT(results[k] == mixed(words[k], words[count + k]));

  multiprocessor<<<1, count>>>(place);
  GOOD(cudaMemcpy(numbers, place, sizeof numbers, cudaMemcpyDeviceToHost));
  cudaDeviceProp device;
  GOOD(cudaGetDeviceProperties(&device, 0));
  for (const unsigned number : numbers) EXPECT(number < static_cast<unsigned>(device.multiProcessorCount) && number == numbers[0]);
  return failures;
}
