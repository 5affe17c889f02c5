// SPDX-License-Identifier: MIT
// Carries an extra kernel for one vendor only, as hand-ported projects do.
#include <cuda_runtime.h>
#include <cstdio>

__global__ void square(float* v, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        v[i] *= v[i];
}

#ifndef __HIP_PLATFORM_AMD__
__global__ void squareVectorised(float4* v, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        v[i] = make_float4(v[i].x * v[i].x, v[i].y * v[i].y, v[i].z * v[i].z, v[i].w * v[i].w);
}
#endif

int main()
{
    float *device, host[64];
    for (int i = 0; i < 64; ++i)
        host[i] = 0.5f * i;
    cudaMalloc(&device, sizeof host);
    cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
#ifndef __HIP_PLATFORM_AMD__
    squareVectorised<<<1, 16>>>((float4*)device, 16);
#else
    square<<<1, 64>>>(device, 64);
#endif
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    printf("%.2f\n", host[63]);
    return 0;
}
