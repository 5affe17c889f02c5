#include <cuda.h>
#include <cuda_runtime.h>
#if !defined(CUDART_VERSION) || CUDART_VERSION < 9000
#error "an old toolkit"
#endif
#include <iostream>
#ifdef __CUDACC__
#define BOTH __host__ __device__ __forceinline__
#else
#define BOTH inline
#endif
BOTH int where() {
#ifdef __CUDA_ARCH__
  return 1;
#else
  return 2;
#endif
}
__device__ double add(double* place, double value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 600
  unsigned long long* bits = (unsigned long long*)place;
  unsigned long long old = *bits, assumed;
  do {
    assumed = old;
    old = atomicCAS(bits, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
  } while (assumed != old);
  return __longlong_as_double(old);
#else
  return atomicAdd(place, value);
#endif
}
__global__ void sum(double* out) {
  add(out, threadIdx.x * 0.5);
  if (threadIdx.x == 0) out[1] = where();
#if __CUDA_ARCH__ >= 350
  if (threadIdx.x == 1) out[2] = __ldg(out + 3);
#endif
}
int main() {
  double* out;
  size_t left = 0;
  if (cudaMemGetInfo(&left, NULL) != cudaSuccess || left == 0) return 1;
  if (cudaMallocManaged(&out, 4 * sizeof(double)) != cudaSuccess) return 1;
  for (int i = 0; i < 4; ++i) out[i] = i == 3 ? 6 : 0;
  sum<<<1, 65>>>(out);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  std::cout << out[0] << ' ' << out[1] << ' ' << out[2] << ' ' << where() << std::endl;  // 64 * 65 / 4
}
