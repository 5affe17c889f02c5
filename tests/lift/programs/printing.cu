// printf: formats that are known when code is lifted, one that is not, and none of the arguments.
#include <cstdio>
#include <cuda_runtime.h>

__device__ char changeable[] = "changeable %d\n";

__global__ void print(int n) {
  const int t = threadIdx.x;
  if (t % 3 == 0) printf("plain\n");
  printf("thread %d of %u: %5.2f %%\n", t, n, 1.5 * t);
  const long long wide = 1LL << (t + 33);
  printf("%s|%*d|%-*.*f|%lld %c %hhd|%d %d %d %d %d %d|%x %p|%s\n", "text", 6, 42, 9, 3, 2.5, wide,
         'a' + t, 7, 1, 2, 3, 4, 5, 6, 255, (void *)16, "");
  printf("%s and %s\n", "one", n > 3 + t ? "two" : "three");
  printf(n > 3 + t ? "less %d\n" : "more %d %d\n", t, n);
  printf(changeable, t);
}

int main() {
  print<<<1, 3>>>(5);
  return cudaDeviceSynchronize();
}
