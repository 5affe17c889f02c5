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
__global__ void sums(float *data, int n)
{
    __shared__ float tile[256];
    float sum = 0;
    for (int round = 0; round < n / 256; ++round) {
        tile[threadIdx.x] = data[round * 256 + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 256; ++k) sum += tile[k];
    }
    data[threadIdx.x] = sum;
}

int main()
{
    float host[256], *device;
    for (int i = 0; i < 256; ++i) host[i] = i;
    CHECK(cudaMalloc(&device, sizeof(host)));
    CHECK(cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice));
    sums<<<1, 256>>>(device, 256);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(device));
    printf("%g\n", host[0]);
}
