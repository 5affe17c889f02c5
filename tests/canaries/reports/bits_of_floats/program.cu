// Atomic extremes of floats by their bits, a common helper.
#include <cfloat>
#include <cstdio>

__device__ float atomic_max(float* address, float value) {
  int* bits = reinterpret_cast<int*>(address);
  int old = *bits, expected;
  do {
    expected = old;
    old = atomicCAS(bits, expected, __float_as_int(fmaxf(value, __int_as_float(expected))));
  } while (expected != old);
  return __int_as_float(old);
}

__device__ double atomic_add(double* address, double value) {
  auto* bits = reinterpret_cast<unsigned long long*>(address);
  unsigned long long old = *bits, expected;
  do {
    expected = old;
    old = atomicCAS(bits, expected, __double_as_longlong(value + __longlong_as_double(expected)));
  } while (expected != old);
  return __longlong_as_double(old);
}

__global__ void work(const float* values, float* largest, double* sum) {
  const float value = values[blockIdx.x * blockDim.x + threadIdx.x];
  atomic_max(largest, value);
  atomic_add(sum, value);
}

int main() {
  float *values, *largest;
  double* sum;
  cudaMallocManaged(&values, 256 * sizeof(float));
  cudaMallocManaged(&largest, sizeof(float));
  cudaMallocManaged(&sum, sizeof(double));
  for (int i = 0; i < 256; i++) values[i] = (i * 37 % 256) * 0.25f - 40;
  *largest = -FLT_MAX;
  *sum = 0;
  work<<<4, 64>>>(values, largest, sum);
  cudaDeviceSynchronize();
  printf("%g %g\n", *largest, *sum);
}
