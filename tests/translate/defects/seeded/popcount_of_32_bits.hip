#include <cstdio>
#include <hip/hip_runtime.h>

__global__ void count(const int *flags, int *counts)
{
    int found = __popc(__ballot(flags[threadIdx.x]));
    if (threadIdx.x % warpSize == 0) counts[threadIdx.x / warpSize] = found;
}

int main()
{
    return hipDeviceSynchronize() != hipSuccess;
}
