#include <cstdio>
#include <hip/hip_runtime.h>

constexpr int kWarpSize = 32;

__global__ void sum(float *data)
{
    float value = data[threadIdx.x];
    for (int offset = kWarpSize / 2; offset > 0; offset /= 2) value += __shfl_xor(value, offset);
    data[threadIdx.x] = value;
}

int main()
{
    return hipDeviceSynchronize() != hipSuccess;
}
