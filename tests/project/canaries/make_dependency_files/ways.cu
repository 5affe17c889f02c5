#include "ways.cuh"
#include <string>
#include <stdexcept>
#define CHECK(call)                                                                      \
  do {                                                                                   \
    cudaError_t status = (call);                                                         \
    if (status != cudaSuccess) throw std::runtime_error(std::string(#call) + cudaGetErrorString(status)); \
  } while (0)
__constant__ unsigned first[2];
__global__ void climb(unsigned* out, int n) {
  __shared__ unsigned last[2];
  if (threadIdx.x < 2) out[threadIdx.x] = last[threadIdx.x] = first[threadIdx.x];
  __syncthreads();
  for (int i = 2; i < n; ++i) {
    const unsigned next = last[0] + last[1];
    __syncthreads();
    if (threadIdx.x == 0) out[i] = next, last[0] = last[1], last[1] = next;
    __syncthreads();
  }
}
std::vector<unsigned> ways(int n) {
  unsigned *out, begin[2] = {1, 2};
  CHECK(cudaMalloc((void**)&out, n * sizeof(unsigned)));
  CHECK(cudaMemcpyToSymbol(first, begin, sizeof(begin)));
  climb<<<1, 128>>>(out, n);
  CHECK(cudaGetLastError());
  std::vector<unsigned> host(n);
  CHECK(cudaMemcpy(&host[0], out, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(out));
  return host;
}
