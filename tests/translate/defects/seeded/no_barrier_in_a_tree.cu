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
__global__ void sum(float *data, int n)
{
    __shared__ float part[256];
    int t = threadIdx.x;
    part[t] = data[t];
    __syncthreads();
    for (int width = 128; width > 0; width /= 2) {
        if (t < width) part[t] += part[t + width];
    }
    if (t == 0) data[0] = part[0];
}

int main()
{
    float host[256], *device;
    for (int i = 0; i < 256; ++i) host[i] = i;
    CHECK(cudaMalloc(&device, sizeof(host)));
    CHECK(cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice));
    sum<<<1, 256>>>(device, 256);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(device));
    printf("%g\n", host[0]);
}
