#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                         \
    do {                                                                    \
        cudaError_t error_ = (call);                                        \
        if (error_ != cudaSuccess) {                                        \
            fprintf(stderr, "%s\n", cudaGetErrorString(error_));            \
            exit(1);                                                        \
        }                                                                   \
    } while (0)
__global__ void scale(float *data, float factor)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] *= factor;
}

int main()
{
    float *host, *device;
    CHECK(cudaMallocHost(&host, 1024));
    CHECK(cudaMalloc(&device, 1024));
    CHECK(cudaMemset(device, 0, 1024));
    scale<<<1, 256>>>(device, 2.0f);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyAsync(host, device, 1024, cudaMemcpyDeviceToHost));
    printf("%g\n", host[0]);
    CHECK(cudaFree(device));
    CHECK(cudaFreeHost(host));
}
