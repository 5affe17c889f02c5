#include "norms.h"
__global__ void length(const float3* points, float* lengths) {
  const float3 p = points[threadIdx.x];
  lengths[threadIdx.x] = sqrtf(p.x * p.x + p.y * p.y + p.z * p.z);
}
cudaError_t norms(const float3* points, int n, float* lengths) {
  length<<<1, n>>>(points, lengths);
  return cudaDeviceSynchronize();
}
