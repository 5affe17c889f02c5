// bfloat16, alone and in pairs, in global and in shared memory.
#include <cuda_bf16.h>
#include <cstdio>

__global__ void add(__nv_bfloat16* single, __nv_bfloat162* pair) {
  __shared__ __nv_bfloat16 local;
  if (threadIdx.x == 0) local = __float2bfloat16(0.0f);
  __syncthreads();
  atomicAdd(&local, __float2bfloat16(1.0f));
  atomicAdd(pair, __floats2bfloat162_rn(0.25f, 1.0f));
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(single, local);
}

int main() {
  __nv_bfloat16* single;
  __nv_bfloat162* pair;
  cudaMallocManaged(&single, sizeof *single);
  cudaMallocManaged(&pair, sizeof *pair);
  *single = __float2bfloat16(8.0f);
  *pair = __floats2bfloat162_rn(0.0f, 1.0f);
  add<<<2, 32>>>(single, pair);
  cudaDeviceSynchronize();
  printf("%g %g %g\n", __bfloat162float(*single), __low2float(*pair), __high2float(*pair));
}
