// Each block names a multiprocessor; all are below %nsmid or the property's count.
#include <cstdio>
#include <cstdint>

static __device__ __inline__ uint32_t multiprocessor() {
  uint32_t number;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
  return number;
}

__global__ void place(uint32_t* numbers) {
  if (threadIdx.x == 0) numbers[blockIdx.x] = multiprocessor();
}

int main() {
  uint32_t* numbers;
  cudaMallocManaged(&numbers, 64 * sizeof(uint32_t));
  for (int i = 0; i < 64; i++) numbers[i] = 0xffffffff;
  place<<<64, 32>>>(numbers);
  cudaDeviceSynchronize();
  int small = 0;
  for (int i = 0; i < 64; i++) small += numbers[i] < 1024;
  printf("%d\n", small);
}
