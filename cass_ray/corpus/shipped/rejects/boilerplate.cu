// SPDX-License-Identifier: MIT
// The first program of every course.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void helloFromGpu()
{
    printf("Hello World from GPU! block %d thread %d\n", blockIdx.x, threadIdx.x);
}

int main()
{
    printf("Hello World from CPU!\n");
    helloFromGpu<<<2, 4>>>();
    cudaDeviceSynchronize();
    return 0;
}
