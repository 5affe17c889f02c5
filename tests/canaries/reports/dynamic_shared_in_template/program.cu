// Dynamic shared memory of several types and alignments in one file.
#include <cstdio>

template <typename T>
__device__ T* dynamic_shared() {
  extern __shared__ __align__(16) unsigned char space[];
  return reinterpret_cast<T*>(space);
}

template <typename T>
__global__ void reverse(T* values) {
  T* shared = dynamic_shared<T>();
  shared[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}

extern __shared__ int outside[];

__global__ void two_parts(int* result, int count) {
  double* numbers = reinterpret_cast<double*>(outside);
  int* places = reinterpret_cast<int*>(numbers + count);
  numbers[threadIdx.x] = threadIdx.x * 0.5;
  places[threadIdx.x] = count - 1 - threadIdx.x;
  __syncthreads();
  result[threadIdx.x] = static_cast<int>(2 * numbers[places[threadIdx.x]]);
}

template <typename T>
void run() {
  T* values;
  cudaMallocManaged(&values, 64 * sizeof(T));
  for (int i = 0; i < 64; i++) values[i] = T(i);
  reverse<T><<<1, 64, 64 * sizeof(T)>>>(values);
  cudaDeviceSynchronize();
  printf("%g %g\n", static_cast<double>(values[0]), static_cast<double>(values[60]));
}

int main() {
  run<float>();
  run<double>();
  run<short>();
  int* result;
  cudaMallocManaged(&result, 64 * sizeof(int));
  two_parts<<<1, 64, 64 * (sizeof(double) + sizeof(int))>>>(result, 64);
  cudaDeviceSynchronize();
  printf("%d %d\n", result[0], result[63]);
}
