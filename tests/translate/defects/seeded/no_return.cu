#include <cstdio>
#include <cuda_runtime.h>

__global__ void fill(int *values)
{
    values[threadIdx.x] = threadIdx.x;
}

int run(int *values, int kind)
{
    if (kind > 2) {
        fill<<<1, 32>>>(values);
        return cudaGetLastError() != cudaSuccess;
    } else if (kind > 1) {
        return 2;
    }
}

int main()
{
    int *values;
    if (cudaMalloc(&values, 32 * sizeof(int)) != cudaSuccess) return 1;
    return run(values, 3) + (cudaFree(values) != cudaSuccess);
}
