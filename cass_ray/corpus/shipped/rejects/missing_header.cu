// SPDX-License-Identifier: MIT
// Cut out of a project: its helper header did not come along.
#include <cuda_runtime.h>
#include <cstdio>

#include "helper_math_missing.h"

__global__ void normaliseAll(float3* v, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        v[i] = normalize(v[i]);
}

int main()
{
    float3 *device, host = make_float3(3.0f, 0.0f, 4.0f);
    cudaMalloc(&device, sizeof host);
    cudaMemcpy(device, &host, sizeof host, cudaMemcpyHostToDevice);
    normaliseAll<<<1, 32>>>(device, 1);
    cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost);
    printf("%.3f %.3f %.3f\n", host.x, host.y, host.z);
    return 0;
}
