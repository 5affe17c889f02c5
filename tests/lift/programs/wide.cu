// Comparisons of 64-bit integers one of which is known to be small: ptxas swaps one half of them.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void compare(int n, const unsigned long long* values, unsigned* out) {
  const size_t small = (threadIdx.x + blockIdx.x * blockDim.x) >> 2;
  const size_t total = (sizeof(float) * n + 65535) / 65536;
  const unsigned long long v = values[threadIdx.x];
  unsigned bits = small < total;
  bits |= (small <= total) << 1 | (small > total) << 2 | (small >= v) << 3 | (small < v) << 4;
  bits |= ((long long)small > (long long)v) << 5 | ((long long)small <= (long long)v) << 6;
  bits |= (small == v) << 7 | (small != v) << 8 | ((long long)v < n) << 9;
  out[threadIdx.x] = bits;
}

int main() {
  constexpr int n = 64;
  unsigned long long host[n], *values;
  unsigned result[n], *out;
  for (int k = 0; k < n; ++k) host[k] = (k % 3 ? 0ull : k % 2 ? ~0ull << 32 : 1ull << 32) + (k >> 2) + k % 5 - 2;
  cudaMalloc(&values, sizeof host);
  cudaMalloc(&out, sizeof result);
  cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice);
  for (int count : {1, 100000, 1 << 20, -1}) {
    compare<<<1, n>>>(count, values, out);
    cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost);
    for (int k = 0; k < n; ++k) printf("%03x%c", result[k], k % 32 == 31 ? '\n' : ' ');
  }
}
