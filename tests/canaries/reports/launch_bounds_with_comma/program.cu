// The second bound is a call of a template of two arguments.
#include <cstdio>

constexpr __device__ int threads() { return 128; }

template <int A, int B>
constexpr __device__ int blocks() {
  return A > B ? 2 : 1;
}

template <int A, int B>
__launch_bounds__(threads(), blocks<A, B>())
static __global__ void work(int* result) {
  result[threadIdx.x] = threadIdx.x * A - B;
}

template <int threads_of_block>
__global__ void __launch_bounds__(threads_of_block) second(int* result) {
  result[threadIdx.x] += threads_of_block;
}

int main() {
  int* result;
  cudaMallocManaged(&result, 128 * sizeof(int));
  work<3, 2><<<1, 128>>>(result);
  second<128><<<1, 128>>>(result);
  cudaDeviceSynchronize();
  printf("%d %d\n", result[0], result[127]);
}
