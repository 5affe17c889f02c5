// One template shuffles every type that a scatter is made for.
#include <cuda_fp16.h>
#include <cstdio>
#define FULL_MASK 0xffffffff

template <typename T>
__device__ T neighbour(T value) {
  return __shfl_down_sync(FULL_MASK, value, 1);
}

template <>
__device__ bool neighbour(bool value) {
  return __shfl_down_sync(FULL_MASK, static_cast<int>(value), 1) != 0;
}

template <typename T>
__global__ void differences(T* values) {
  const T value = values[threadIdx.x];
  const T next = neighbour(value);
  values[threadIdx.x] = threadIdx.x % 32 == 31 ? value : next;
}

template <typename T>
double run() {
  T* values;
  cudaMallocManaged(&values, 64 * sizeof(T));
  for (int i = 0; i < 64; i++) values[i] = T(static_cast<float>(i * 3));
  differences<<<1, 64>>>(values);
  cudaDeviceSynchronize();
  double sum = 0;
  for (int i = 0; i < 64; i++) sum += (i + 1) * static_cast<double>(static_cast<float>(values[i]));
  cudaFree(values);
  return sum;
}

int main() {
  printf("%g %g %g\n", run<int>(), run<unsigned>(), run<float>());
  printf("%g %g %g\n", run<long long>(), run<unsigned long>(), run<double>());
  printf("%g %g\n", run<__half>(), run<bool>());
}
