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
__global__ void scale(float *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= 2.0f;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1000;
    float *device, last;
    CHECK(cudaMalloc(&device, n * sizeof(float)));
    CHECK(cudaMemset(device, 0, n * sizeof(float)));
    scale<<<n / 256, 256>>>(device, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&last, device + n - 1, sizeof(last), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(device));
    printf("%g\n", last);
}
