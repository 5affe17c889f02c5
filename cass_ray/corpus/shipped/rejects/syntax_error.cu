// SPDX-License-Identifier: MIT
// An edit left half done: a parenthesis and a semicolon are missing.
#include <cuda_runtime.h>
#include <cstdio>

__global__ void scale(float* data, int n, float factor)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x
    if (i < n
        data[i] *= factor;
}

int main()
{
    float *device, host[64];
    for (int i = 0; i < 64; ++i)
        host[i] = (float)i;
    cudaMalloc(&device, sizeof host);
    cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
    scale<<<1, 64>>>(device, 64, 0.5f);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    printf("%.2f\n", host[63]);
    return 0;
}
