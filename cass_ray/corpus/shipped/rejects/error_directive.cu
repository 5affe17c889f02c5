// SPDX-License-Identifier: MIT
// Refuses to compile unless a project setting is given.
#include <cuda_runtime.h>
#include <cstdio>

#ifndef PROJECT_TILE_WIDTH
#error "configure the project first: PROJECT_TILE_WIDTH is not set"
#define PROJECT_TILE_WIDTH 16
#endif

__global__ void fill(int* out) { out[threadIdx.x] = (int)threadIdx.x * PROJECT_TILE_WIDTH; }

int main()
{
    int *device, host[PROJECT_TILE_WIDTH];
    cudaMalloc(&device, sizeof host);
    fill<<<1, PROJECT_TILE_WIDTH>>>(device);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    printf("%d\n", host[PROJECT_TILE_WIDTH - 1]);
    return 0;
}
