#include <nvToolsExt.h>
#include <stdexcept>
#if !HAS_SYNC
#error "the version is asked for"
#endif
__global__ void longest(const int* values, int n, int* out) {
  int best = 0;
  for (int i = threadIdx.x; i < n; i += 32) best = max(best, values[i]);
  for (int offset = 16; offset > 0; offset /= 2)
    best = max(best, __shfl_down_sync(0xffffffff, best, offset));
  if (threadIdx.x == 0) *out = best;
}
int longest_of(const int* values, int n) {
  if (n == 0) throw std::length_error("nothing to look at");
  nvtxRangePushA("longest");
  int *device, *out, best;
  cudaMalloc(&device, n * sizeof(int));
  cudaMalloc(&out, sizeof(int));
  cudaMemcpy(device, values, n * sizeof(int), cudaMemcpyHostToDevice);
  longest<<<1, 32>>>(device, n, out);
  cudaMemcpy(&best, out, sizeof(int), cudaMemcpyDeviceToHost);
  nvtxRangePop();
  return best;
}
