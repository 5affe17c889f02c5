// A kernel sets device variables; the host reads them by name, whole and in part.
#include <cstdio>

__device__ float error_value;
__device__ int table[4];

__global__ void set() {
  error_value = 1.5f;
  for (int i = 0; i < 4; i++) table[i] = 10 * i + 1;
}

int main() {
  set<<<1, 1>>>();
  float value = 0;
  int part[2] = {};
  printf("%d\n", cudaMemcpyFromSymbol(&value, error_value, sizeof value, 0, cudaMemcpyDeviceToHost));
  printf("%d\n", cudaMemcpyFromSymbol(part, table, sizeof part, 2 * sizeof(int)));
  printf("%g %d %d\n", value, part[0], part[1]);
}
