#include "shared.cuh"
#include <stdexcept>
__global__ void triangles(int* out, int n, int which) {
  *out = which == 0 ? triangle(n) : which == 1 ? __popc(n) : __float2int_rn(sqrtf(float(n)));
}
int on_device(int n, int which) {
  if (n < 0) throw std::domain_error("negative");
  int *out, host;
  cudaMalloc(&out, sizeof(int));
  triangles<<<1, 1>>>(out, n, which);
  cudaMemcpy(&host, out, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(out);
  return host;
}
