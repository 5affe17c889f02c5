#include "filter.h"
#include "keep.cuh"
#include <algorithm>
__global__ void filter(const int* in, int n, int* out, int* count) {
  const int i = threadIdx.x;
  if (i < n && keep(in[i])) out[atomicAdd(count, 1)] = in[i];
}
std::vector<int> evens(const std::vector<int>& in, cudaStream_t stream) {
  const int n = static_cast<int>(in.size());
  int *from, *to, *count, kept;
  cudaMalloc(&from, n * 4);
  cudaMalloc(&to, n * 4);
  cudaMalloc(&count, 4);
  cudaMemset(count, 0, 4);
  cudaMemcpy(from, in.data(), n * 4, cudaMemcpyHostToDevice);
  filter<<<1, 64, 0, stream>>>(from, n, to, count);
  cudaStreamSynchronize(stream);
  cudaMemcpy(&kept, count, 4, cudaMemcpyDeviceToHost);
  std::vector<int> out(kept);
  cudaMemcpy(out.data(), to, kept * 4, cudaMemcpyDeviceToHost);
  std::sort(out.begin(), out.end());
  return out;
}
