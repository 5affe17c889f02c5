// A dot product whose block sums live in dynamic shared memory of the template's type.
#include <cstdio>

template <class T>
__global__ void dot(const T* a, const T* b, T* sums, unsigned size) {
  extern __shared__ __align__(sizeof(T)) unsigned char memory[];
  T* block_sum = reinterpret_cast<T*>(memory);
  const unsigned local = threadIdx.x;
  block_sum[local] = 0;
  for (unsigned i = blockDim.x * blockIdx.x + local; i < size; i += blockDim.x * gridDim.x)
    block_sum[local] += a[i] * b[i];
  for (unsigned offset = blockDim.x / 2; offset > 0; offset /= 2) {
    __syncthreads();
    if (local < offset) block_sum[local] += block_sum[local + offset];
  }
  if (local == 0) sums[blockIdx.x] = block_sum[0];
}

template <class T>
void run(unsigned size) {
  T *a, *b, *sums;
  cudaMallocManaged(&a, size * sizeof(T));
  cudaMallocManaged(&b, size * sizeof(T));
  cudaMallocManaged(&sums, 4 * sizeof(T));
  for (unsigned i = 0; i < size; i++) a[i] = T(i % 8), b[i] = T(2);
  dot<T><<<4, 64, 64 * sizeof(T)>>>(a, b, sums, size);
  cudaDeviceSynchronize();
  printf("%g\n", static_cast<double>(sums[0] + sums[1] + sums[2] + sums[3]));
}

int main() {
  run<float>(1024);
  run<double>(1000);
}
