#include <cstdio>
#include <hip/hip_runtime.h>

__global__ void count(const int *flags, int *counts)
{
    unsigned votes = __ballot(flags[threadIdx.x]);
    if (threadIdx.x % warpSize == 0) counts[threadIdx.x / warpSize] = __popc(votes);
}

int main()
{
    return hipDeviceSynchronize() != hipSuccess;
}
