#include <stdexcept>
#include <string>
#include <vector>
__global__ void cube(long* out) { out[threadIdx.x] = long(threadIdx.x) * threadIdx.x * threadIdx.x; }
std::vector<long> cubes(int n) {
  if (n > 1024) throw std::invalid_argument("more than a block has: " + std::to_string(n));
  long* out;
  if (cudaMalloc(&out, n * sizeof(long)) != cudaSuccess) throw std::bad_alloc();
  cube<<<1, n>>>(out);
  std::vector<long> host(n);
  cudaMemcpy(host.data(), out, n * sizeof(long), cudaMemcpyDeviceToHost);
  cudaFree(out);
  return host;
}
