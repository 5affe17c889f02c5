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
    float host[256], *device;
    for (int i = 0; i < 256; ++i) host[i] = i;
    CHECK(cudaMalloc(&device, sizeof(host)));
    CHECK(cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice));
    scale<<<1, 256>>>(device, 2.0f);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(device));
    CHECK(cudaFree(device));
    printf("%g\n", host[0]);
}
