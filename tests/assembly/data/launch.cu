#include <cstdio>
__device__ int counter;
__global__ void count(int n) { if (threadIdx.x < n) atomicAdd(&counter, 1); }
int main() {
  count<<<1, 32>>>(7);
  std::puts("# not a comment");
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
