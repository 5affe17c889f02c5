// SPDX-License-Identifier: MIT
// The kernel is a template that nobody instantiates: the program compiles to host code alone.
#include <cuda_runtime.h>
#include <cstdio>

template <typename T>
__global__ void axpy(int n, T a, const T* x, T* y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += a * x[i];
}

int main()
{
    float* x;
    if (cudaMalloc(&x, 1024) != cudaSuccess)
        return 1;
    cudaMemset(x, 0, 1024);
    // The launch waits for the rest of the port:
    // axpy<float><<<1, 256>>>(256, 2.0f, x, x);
    cudaFree(x);
    printf("nothing launched\n");
    return 0;
}
