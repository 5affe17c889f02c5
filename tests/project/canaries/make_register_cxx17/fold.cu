#include <cinttypes>
#include <cstdio>
#include <string>
#include "fold.cuh"
__global__ void run(const long long* values, long long* sum) { *sum = fold(values, 4); }
int main() {
  register long long *values;
  long long *sum;
  cudaMallocManaged(&values, 32);
  cudaMallocManaged(&sum, 8);
  for (int i = 0; i < 4; ++i) values[i] = 1LL << (10 * i);
  run<<<1, 1>>>(values, sum);
  cudaDeviceSynchronize();
  printf("%"PRId64" %s\n", static_cast<int64_t>(*sum), std::string("register").c_str());
}
