// SPDX-License-Identifier: MIT
// Producer and consumer warps that meet at an asynchronous barrier object in shared memory,
// written in inline PTX (sm_80): there is no such object on AMD hardware.
#include <cuda_runtime.h>
#include <cstdio>

__device__ unsigned sharedAddress(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ void initBarrier(unsigned long long* barrier, unsigned arrivals)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(sharedAddress(barrier)), "r"(arrivals));
}

__device__ unsigned long long arrive(unsigned long long* barrier)
{
    unsigned long long token;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(sharedAddress(barrier)) : "memory");
    return token;
}

__device__ bool finished(unsigned long long* barrier, unsigned long long token)
{
    int done;
    asm volatile("{\n\t.reg .pred p;\n\tmbarrier.test_wait.shared.b64 p, [%1], %2;\n\tselp.s32 %0, 1, 0, p;\n\t}"
                 : "=r"(done)
                 : "r"(sharedAddress(barrier)), "l"(token)
                 : "memory");
    return done != 0;
}

__global__ void reverse(const int* in, int* out)
{
    __shared__ unsigned long long barrier;
    __shared__ int tile[128];
    if (threadIdx.x == 0)
        initBarrier(&barrier, 128);
    __syncthreads();
    tile[threadIdx.x] = in[threadIdx.x];
    const unsigned long long token = arrive(&barrier);
    while (!finished(&barrier, token)) {
    }
    out[threadIdx.x] = tile[127 - threadIdx.x];
}

int main()
{
    int *in, *out, host[128];
    for (int i = 0; i < 128; ++i)
        host[i] = i * i;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    reverse<<<1, 128>>>(in, out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    printf("%d %d\n", host[0], host[127]);
    return host[0] == 127 * 127 ? 0 : 1;
}
