#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void scale(float *data, float factor)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] *= factor;
}

int main()
{
    float host[256] = {1.0f}, *device;
    cudaMalloc(&device, sizeof(host));
    cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice);
    scale<<<1, 256>>>(device, 2.0f);
    cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost);
    cudaFree(device);
    printf("%g\n", host[0]);
}
