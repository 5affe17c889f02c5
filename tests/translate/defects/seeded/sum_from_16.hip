#include <cstdio>
#include <hip/hip_runtime.h>

__global__ void sum(float *data)
{
    float value = data[threadIdx.x];
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down(value, offset);
    if (threadIdx.x % warpSize == 0) data[threadIdx.x / warpSize] = value;
}

int main()
{
    return hipDeviceSynchronize() != hipSuccess;
}
