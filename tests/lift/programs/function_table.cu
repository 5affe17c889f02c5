// A kernel that calls functions through a table, beside one that calls others by their names: of
// code for debuggers each function is on its own, and its large literals are in the bank of the
// kernels that reach it.
#include <cstdio>

typedef double (*Function)(double);

__device__ __noinline__ double third(double x) { return x / 3.0; }
__device__ __noinline__ double squared(double x) { return x * x; }
__device__ __noinline__ double angle(double x) { return x * 0.63661977236758134; }

__device__ Function functions[2] = {third, squared};

__global__ void throughTable(double* out, int n) {
  const int i = threadIdx.x;
  if (i < n) out[i] = functions[i % 2](0.1 * i);
}

__global__ void byName(double* out, int n) {
  const int i = threadIdx.x;
  if (i < n) out[i] = angle(out[i] * 2.7182818284590452 + 3.1415926535897931) - 1.4142135623730951;
}

int main() {
  constexpr int n = 8;
  double* out;
  if (cudaMalloc(&out, n * sizeof(double))) return 2;
  double values[n];
  throughTable<<<1, 32>>>(out, n);
  cudaMemcpy(values, out, sizeof values, cudaMemcpyDeviceToHost);
  for (double value : values) printf("%.17g\n", value);
  byName<<<1, 32>>>(out, n);
  cudaMemcpy(values, out, sizeof values, cudaMemcpyDeviceToHost);
  for (double value : values) printf("%.15g\n", value);
  return cudaFree(out);
}
