// SPDX-License-Identifier: MIT
// Host code only: asks the runtime for devices and copies a buffer, but defines no kernel.
#include <cuda_runtime.h>
#include <cstdio>
#include <vector>

int main()
{
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        printf("no device\n");
        return 0;
    }
    std::vector<float> host(256, 1.5f), back(256);
    float* device;
    cudaMalloc(&device, host.size() * sizeof(float));
    cudaMemcpy(device, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(back.data(), device, host.size() * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device);
    printf("%s\n", back == host ? "copied" : "lost");
    return 0;
}
