// SPDX-License-Identifier: MIT
// Two vendors, two kernels of different names: nothing to align.
#include <cuda_runtime.h>
#include <cstdio>

#ifdef __HIP_PLATFORM_AMD__
__global__ void reduceWave(const int* in, int* out)
{
    atomicAdd(out, in[blockIdx.x * blockDim.x + threadIdx.x]);
}
#define REDUCE reduceWave
#else
__global__ void reduceWarp(const int* in, int* out)
{
    int v = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (int offset = 16; offset > 0; offset /= 2)
        v += __shfl_down_sync(0xffffffffu, v, offset);
    if (threadIdx.x % 32 == 0)
        atomicAdd(out, v);
}
#define REDUCE reduceWarp
#endif

int main()
{
    int *in, *out, host = 0, values[256];
    for (int i = 0; i < 256; ++i)
        values[i] = i;
    cudaMalloc(&in, sizeof values);
    cudaMalloc(&out, sizeof host);
    cudaMemset(out, 0, sizeof host);
    cudaMemcpy(in, values, sizeof values, cudaMemcpyHostToDevice);
    REDUCE<<<2, 128>>>(in, out);
    cudaMemcpy(&host, out, sizeof host, cudaMemcpyDeviceToHost);
    printf("%d\n", host);
    return host == 255 * 128 ? 0 : 1;
}
