// Sums 0 .. n-1: each warp by shuffles, the warps by atomics.
#include <cstdio>
#include <cstdlib>

__global__ void sum(const int *in, int n, unsigned long long *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int value = i < n ? in[i] : 0;
  for (int offset = warpSize / 2; offset > 0; offset /= 2)
    value += __shfl_down_sync(0xffffffff, value, offset);
  if (threadIdx.x % warpSize == 0) atomicAdd(out, (unsigned long long)value);
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1000, *in;
  unsigned long long *out;
  cudaMallocManaged(&in, n * sizeof(int));
  cudaMallocManaged(&out, sizeof(*out));
  for (int i = 0; i < n; i++) in[i] = i;
  *out = 0;
  sum<<<(n + 255) / 256, 256>>>(in, n, out);
  cudaDeviceSynchronize();
  printf("%llu\n", *out);
  cudaFree(in);
  cudaFree(out);
  return 0;
}
