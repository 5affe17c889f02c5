// A failed assertion is told apart from a trap.
#include <cassert>
#include <cstdio>
__device__ __noinline__ int checked(int i, int limit) {
  assert(i < limit);
  return i + 1;
}
__global__ void kernel(int *out, int limit) { out[threadIdx.x] = checked(threadIdx.x, limit); }
int main() {
  int *out, first;
  cudaMalloc(&out, 256);
  kernel<<<1, 64>>>(out, 64);
  printf("%d\n", cudaDeviceSynchronize());
  kernel<<<1, 64>>>(out, 63);
  first = cudaDeviceSynchronize();
  printf("%d %s\n", first, first == cudaErrorAssert ? "assertion" : "something else");
  printf("%d\n", cudaGetLastError());
  return 3;
}
