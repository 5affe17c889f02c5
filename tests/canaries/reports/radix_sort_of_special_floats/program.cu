// -0 and +0 are equal keys of a stable sort; NaNs stand at the ends by their signs.
#include <cub/cub.cuh>
#include <cmath>
#include <cstdio>

int main() {
  const int count = 10;
  const float host[count] = {0.0f, -0.0f, 1.0f, -INFINITY, INFINITY, -1.0f, -0.0f, 0.0f, 0x1p-149f, 2.0f};
  float *keys, *sorted;
  int *values, *order;
  cudaMallocManaged(&keys, sizeof host);
  cudaMallocManaged(&sorted, sizeof host);
  cudaMallocManaged(&values, count * sizeof(int));
  cudaMallocManaged(&order, count * sizeof(int));
  for (int i = 0; i < count; i++) keys[i] = host[i], values[i] = i;
  keys[9] = NAN;
  void* space = nullptr;
  size_t bytes = 0;
  for (int round = 0; round < 2; round++) {
    cub::DeviceRadixSort::SortPairs(space, bytes, keys, sorted, values, order, count);
    if (round == 0) cudaMalloc(&space, bytes);
  }
  cudaDeviceSynchronize();
  for (int i = 0; i < count; i++) printf("%d ", order[i]);
  printf("\n%d %d\n", std::signbit(sorted[2]), std::signbit(sorted[3]));
  cub::DeviceRadixSort::SortPairsDescending(space, bytes, keys, sorted, values, order, count);
  cudaDeviceSynchronize();
  for (int i = 0; i < count; i++) printf("%d ", order[i]);
  printf("\n");
}
