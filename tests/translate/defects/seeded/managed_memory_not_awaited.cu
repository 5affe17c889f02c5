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
    float *data;
    CHECK(cudaMallocManaged(&data, 1024));
    for (int i = 0; i < 256; ++i) data[i] = i;
    scale<<<1, 256>>>(data, 2.0f);
    CHECK(cudaGetLastError());
    printf("%g\n", data[3]);
    CHECK(cudaFree(data));
}
