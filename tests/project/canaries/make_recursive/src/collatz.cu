#include "collatz.h"
#include <stdexcept>
__global__ void lengths(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int steps = 0;
  for (long value = i + 1; value != 1; ++steps) value = value % 2 ? 3 * value + 1 : value / 2;
  out[i] = steps;
}
std::vector<int> collatz(int n) {
  if (n <= 0) throw std::out_of_range("at least one");
  int* out;
  cudaMalloc(&out, n * sizeof(int));
  lengths<<<(n + 63) / 64, 64>>>(out, n);
  std::vector<int> host(n);
  const cudaError_t error = cudaMemcpy(host.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost);
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
  cudaFree(out);
  return host;
}
