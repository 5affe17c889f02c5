// Variables that host and device share by name: a struct, an array, a pointer.
#include <cstdio>

struct Counter {
  int hits;
  double total;
};
__device__ __managed__ Counter counter = {1, 0.5};
__managed__ int table[4] = {1, 2, 3};
static __managed__ float* pointer;

template <int factor>
__global__ void sum(int count) {
  for (int i = 0; i < count; i++) counter.hits += table[i] * factor;
  counter.total *= 3;
  pointer[0] += counter.hits;
}

int main() {
  table[3] = 10;
  cudaMallocManaged(&pointer, sizeof(float));
  *pointer = 0.5f;
  sum<1><<<1, 1>>>(4);
  cudaDeviceSynchronize();
  printf("%d %g %g\n", counter.hits, counter.total, *pointer);
  int host = 0;
  cudaMemcpyFromSymbol(&host, table, sizeof host, 3 * sizeof(int));
  printf("%d\n", host);
}
