// Halves are made, rounded, compared and taken apart on the host.
#include <cuda_fp16.h>
#include <cstdio>
#include <vector>

__global__ void twice(__half* values) {
  values[threadIdx.x] = __hadd(values[threadIdx.x], values[threadIdx.x]);
}

int main() {
  const float numbers[] = {1.0f, 2049.0f, 2051.0f, 65504.0f, 1e-8f, -0.1f};
  std::vector<__half> halves;
  for (float number : numbers) halves.push_back(__float2half(number));
  for (const __half& value : halves) printf("%g ", __half2float(value));
  printf("\n%g %g %g\n", __half2float(__float2half_rz(2051.0f)), __half2float(__float2half_ru(2049.0f)),
         __half2float(__float2half_rd(-0.1f)) < -0.1f ? 1.0 : 0.0);
  const __half2 pair = __floats2half2_rn(1.5f, -2.5f);
  printf("%g %g %d\n", __low2float(pair), __high2float(pair), __half_as_ushort(halves[0]));
  __half* device;
  cudaMalloc(&device, 3 * sizeof(__half));
  cudaMemcpy(device, halves.data(), 3 * sizeof(__half), cudaMemcpyHostToDevice);
  twice<<<1, 3>>>(device);
  cudaMemcpy(halves.data(), device, 3 * sizeof(__half), cudaMemcpyDeviceToHost);
  printf("%g %g %g\n", __half2float(halves[0]), __half2float(halves[1]), __half2float(halves[2]));
}
