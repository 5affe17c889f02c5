// Bounds before and after __global__, from constants, macros and an expression.
#include <cstdio>

const int kMaxThreadsPerBlock = 256;
enum { kBlocks = 2 };
#define BOUNDS(threads) __launch_bounds__(threads)

template <int dimensions>
__launch_bounds__(kMaxThreadsPerBlock)
__global__ void first(const int count, const bool add, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = add ? out[i] + dimensions : dimensions;
}

__global__ void __launch_bounds__(kMaxThreadsPerBlock / 2, kBlocks) second(int* out) {
  out[threadIdx.x] *= 3;
}

BOUNDS(64) __global__ void third(int* out) { out[threadIdx.x] += 1; }

int main() {
  int* out;
  cudaMallocManaged(&out, 512 * sizeof(int));
  first<5><<<2, 256>>>(512, false, out);
  first<2><<<1, 256>>>(100, true, out);
  second<<<1, 128>>>(out);
  third<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  printf("%d %d %d %d\n", out[0], out[99], out[127], out[511]);
  cudaFuncAttributes attributes;
  cudaFuncGetAttributes(&attributes, third);
  printf("%d\n", attributes.maxThreadsPerBlock);
  third<<<1, 128>>>(out);
  printf("%d\n", cudaGetLastError());
}
