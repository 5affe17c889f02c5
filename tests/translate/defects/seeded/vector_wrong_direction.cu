#include <cstdio>
#include <cstdlib>
#include <vector>
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
    std::vector<float> values(256, 1.0f);
    float *device;
    CHECK(cudaMalloc(&device, values.size() * sizeof(float)));
    CHECK(cudaMemcpy(device, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice));
    scale<<<1, 256>>>(device, 2.0f);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyAsync(values.data(), device, values.size() * sizeof(float), cudaMemcpyDeviceToDevice));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(device));
    printf("%g\n", values[3]);
}
