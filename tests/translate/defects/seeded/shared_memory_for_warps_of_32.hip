#include <cstdio>
#include <hip/hip_runtime.h>

__global__ void sum(float *data)
{
    __shared__ float sums[256 / 32];
    float value = data[threadIdx.x];
    for (int offset = warpSize / 2; offset > 0; offset /= 2) value += __shfl_down(value, offset);
    if (threadIdx.x % warpSize == 0) sums[threadIdx.x / warpSize] = value;
    __syncthreads();
    if (threadIdx.x == 0) data[0] = sums[0];
}

int main()
{
    return hipDeviceSynchronize() != hipSuccess;
}
