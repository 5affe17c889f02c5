// The attribute is set, read back and used; a block of 48 KiB needs it, smaller ones do not.
#include <cstdio>

template <typename T>
__global__ void reverse(T* values, int count) {
  extern __shared__ __align__(16) char memory[];
  T* space = reinterpret_cast<T*>(memory);
  for (int i = threadIdx.x; i < count; i += blockDim.x) space[i] = values[i];
  __syncthreads();
  for (int i = threadIdx.x; i < count; i += blockDim.x) values[i] = space[count - 1 - i];
}

int main() {
  for (int bytes : {0, 1024, 49152})
    printf("%d ", cudaFuncSetAttribute(reverse<float>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  printf("%d\n", cudaFuncSetAttribute(reverse<float>, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
  printf("%d\n", cudaFuncSetAttribute(reverse<float>, cudaFuncAttributeMaxDynamicSharedMemorySize, -2));
  cudaGetLastError();
  float* values;
  cudaMallocManaged(&values, 49152);
  const int count = 49152 / sizeof(float);
  for (int i = 0; i < count; i++) values[i] = i;
  reverse<<<1, 256, 49152>>>(values, count);
  printf("%d %d ", cudaGetLastError(), cudaDeviceSynchronize());
  printf("%g %g\n", values[0], values[count - 1]);
}
