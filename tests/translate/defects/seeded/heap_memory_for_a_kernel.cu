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
    float *values = (float *)malloc(256 * sizeof(float));
    for (int i = 0; i < 256; ++i) values[i] = i;
    scale<<<1, 256>>>(values, 2.0f);
    CHECK(cudaDeviceSynchronize());
    printf("%g\n", values[7]);
    free(values);
}
