#include <cstdio>
#include <hip/hip_runtime.h>

__global__ void first(float *data)
{
    int lane = threadIdx.x & 31;
    float value = __shfl(data[threadIdx.x], 0);
    if (lane == 0) data[threadIdx.x] = value;
}

int main()
{
    return hipDeviceSynchronize() != hipSuccess;
}
