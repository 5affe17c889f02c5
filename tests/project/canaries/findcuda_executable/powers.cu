#include <stdexcept>
#include <vector>
#include "power.h"
__global__ void power(long* out) {
  long value = 1;
  for (int i = 0; i < EXPONENT + static_cast<int>(threadIdx.x); ++i) value *= BASE;
  out[threadIdx.x] = value;
}
std::vector<long> powers(int n) {
#ifndef RELEASED
  throw std::runtime_error("flags of the configuration are lost");
#endif
  long* device;
  cudaMalloc(&device, n * sizeof(long));
  power<<<1, n>>>(device);
  std::vector<long> host(n);
  cudaMemcpy(host.data(), device, n * sizeof(long), cudaMemcpyDeviceToHost);
  return host;
}
