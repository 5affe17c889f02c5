// Managed variables, one of them with a first value, that host and device both change.
#include <cstdio>
#include <cuda_runtime.h>

__managed__ int count;
static __managed__ int scores[4] = {10, 20, 30, 40};

__global__ void add(int step) {
  atomicAdd(&count, step);
  atomicAdd(&scores[threadIdx.x % 4], count > 0 ? 1 : 1);
}

int main() {
  for (int round = 0; round < 3; ++round) {
    add<<<2, 32>>>(round + 1);
    cudaDeviceSynchronize();
    scores[round] += 1000;
    printf("%d: %d %d %d %d\n", count, scores[0], scores[1], scores[2], scores[3]);
    count -= 5;
  }
}
