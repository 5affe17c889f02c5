#include "halves.h"
#include <cuda_fp16.h>
#include <stdexcept>
__global__ void halve_all(float* values) {
  const __half2 pair = __floats2half2_rn(values[2 * threadIdx.x], values[2 * threadIdx.x + 1]);
  const __half2 made = __hmul2(pair, __float2half2_rn(0.5f));
  values[2 * threadIdx.x] = __low2float(made);
  values[2 * threadIdx.x + 1] = __high2float(made);
}
std::vector<float> halve(const std::vector<float>& values) {
  if (values.size() % 2) throw std::invalid_argument("in pairs");
  float* device;
  const size_t bytes = values.size() * sizeof(float);
  cudaMalloc(&device, bytes);
  cudaMemcpy(device, values.data(), bytes, cudaMemcpyHostToDevice);
  halve_all<<<1, values.size() / 2>>>(device);
  std::vector<float> made(values.size());
  cudaMemcpy(made.data(), device, bytes, cudaMemcpyDeviceToHost);
  cudaFree(device);
  return made;
}
