// Packed integers: signs apply to each half, and sums do not carry from one into the other.
#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>

__global__ void packed(const uint32_t* x, uint32_t* out, int n) {
  const int i = threadIdx.x;
  const uint32_t a = x[i], b = x[(i + 7) % n];
  out[4 * i] = __vsub2(a, b);
  out[4 * i + 1] = __vadd2(a, b);
  out[4 * i + 2] = __vneg2(a);
  out[4 * i + 3] = __vmaxs2(a, __vneg2(b));
}

int main() {
  constexpr int n = 64;
  uint32_t host[n], result[4 * n], *x, *out;
  for (int k = 0; k < n; ++k) host[k] = k < 4 ? 0x80000000u >> (k * 16 % 32) : k * 2654435761u;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&out, sizeof result);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  packed<<<1, n>>>(x, out, n);
  cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost);
  for (int k = 0; k < 4 * n; ++k) printf("%08x%c", result[k], k % 8 == 7 ? '\n' : ' ');
}
