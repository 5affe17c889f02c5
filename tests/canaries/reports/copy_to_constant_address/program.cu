// A pool hands out parts of one constant array; copies go by address and kind Default.
#include <cstdio>
#include <cstring>

__constant__ char arena[4096];

__global__ void sum(const int* where, int count, int* result) {
  int total = 0;
  for (int i = 0; i < count; i++) total += where[i];
  *result = total;
}

int main() {
  char* base = nullptr;
  cudaGetSymbolAddress(reinterpret_cast<void**>(&base), arena);
  int* result;
  cudaMallocManaged(&result, 2 * sizeof(int));
  int first[4] = {42, 42, 42, 42}, second[3] = {1, 2, 3};
  printf("%d ", cudaMemcpy(base, first, sizeof first, cudaMemcpyDefault));
  printf("%d ", cudaMemcpy(base + 256, second, sizeof second, cudaMemcpyHostToDevice));
  printf("%d\n", cudaMemset(base + 256 + 2 * sizeof(int), 0, sizeof(int)));
  sum<<<1, 1>>>(reinterpret_cast<int*>(base), 4, result);
  sum<<<1, 1>>>(reinterpret_cast<int*>(base + 256), 3, result + 1);
  cudaDeviceSynchronize();
  printf("%d %d\n", result[0], result[1]);
}
