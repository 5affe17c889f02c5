// nvcc declares min and max for the host too, for every mix of types that CUDA has.
#include <cstdio>

int smallest() {
  const int b = min(2, 3);
  return b * 10;
}

__host__ __device__ long long mixed(int a, long long b, unsigned c) {
  return max(static_cast<long long>(a), b) + min(c, 7u) + max(a, 4);
}

__global__ void work(long long* result) { *result = mixed(-3, -5, 9) + min(2.5f, 1.0f) * 1000; }

int main() {
  long long* result;
  cudaMallocManaged(&result, sizeof(long long));
  work<<<1, 1>>>(result);
  cudaDeviceSynchronize();
  printf("%d %lld %lld\n", smallest(), mixed(-3, -5, 9), *result);
  printf("%g %g %g %d\n", min(1.5, 0.5), max(1.5f, 2.5f), max(1.5, 2.0f), max(3u, 5u));
}
