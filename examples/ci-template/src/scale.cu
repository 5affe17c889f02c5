#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                               \
    do {                                                          \
        cudaError_t error = (call);                               \
        if (error != cudaSuccess) {                               \
            fprintf(stderr, "%s\n", cudaGetErrorString(error));   \
            exit(1);                                              \
        }                                                         \
    } while (0)

__global__ void scale(float *data, float factor) { data[threadIdx.x] *= factor; }

int main()
{
    float host[64], *device;
    for (int i = 0; i < 64; ++i) host[i] = i;
    CHECK(cudaMalloc(&device, sizeof(host)));
    CHECK(cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice));
    scale<<<1, 64>>>(device, 3.0f);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(device));
    printf("%g\n", host[63]);
    return host[63] != 189.0f;
}
