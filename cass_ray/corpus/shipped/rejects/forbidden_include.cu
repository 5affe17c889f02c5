// SPDX-License-Identifier: MIT
// Tries to pull a file of the host into the translation unit, where an error message would show it.
#include <cuda_runtime.h>
#include <cstdio>

#include "/etc/passwd"

__global__ void increment(int* value) { atomicAdd(value, 1); }

int main()
{
    int *device, host = 0;
    cudaMalloc(&device, sizeof host);
    cudaMemset(device, 0, sizeof host);
    increment<<<4, 64>>>(device);
    cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost);
    printf("%d\n", host);
    return 0;
}
