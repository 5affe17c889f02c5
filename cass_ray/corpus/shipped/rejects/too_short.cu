// SPDX-License-Identifier: MIT
#include <cuda_runtime.h>
__global__ void twice(float* v) { v[threadIdx.x] *= 2.0f; }
int main()
{
    float* d;
    cudaMalloc(&d, 128);
    twice<<<1, 32>>>(d);
}
