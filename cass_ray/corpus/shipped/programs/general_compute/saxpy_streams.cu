// SPDX-License-Identifier: MIT
// SAXPY over a vector cut into chunks: each chunk is copied in, scaled and copied out on one of
// several streams, and an event joins the streams before the host reads the result.
#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#define CUDA_CHECK(call)                                                              \
    do {                                                                              \
        cudaError_t status_ = (call);                                                 \
        if (status_ != cudaSuccess) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
            exit(2);                                                                  \
        }                                                                             \
    } while (0)

constexpr int kStreams = 3;

__global__ void saxpy(int n, float a, const float* __restrict__ x, float* __restrict__ y)
{
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        y[i] = a * x[i] + y[i];
}

static unsigned nextRandom(unsigned& state)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 30000;
    unsigned seed = argc > 2 ? (unsigned)strtoul(argv[2], nullptr, 10) : 1u;
    if (n <= 0) {
        fprintf(stderr, "usage: %s [elements > 0] [seed]\n", argv[0]);
        return 2;
    }
    const float a = 1.75f;

    float *hx, *hy, *hout, *dx, *dy;
    CUDA_CHECK(cudaMallocHost(&hx, n * sizeof(float)));
    CUDA_CHECK(cudaMallocHost(&hy, n * sizeof(float)));
    CUDA_CHECK(cudaMallocHost(&hout, n * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&dx, n * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&dy, n * sizeof(float)));
    for (int i = 0; i < n; ++i) {
        hx[i] = (float)(nextRandom(seed) % 2000u) / 1000.0f - 1.0f;
        hy[i] = (float)(nextRandom(seed) % 2000u) / 500.0f;
    }

    cudaStream_t streams[kStreams];
    cudaEvent_t finished[kStreams];
    for (int s = 0; s < kStreams; ++s) {
        CUDA_CHECK(cudaStreamCreate(&streams[s]));
        CUDA_CHECK(cudaEventCreateWithFlags(&finished[s], cudaEventDisableTiming));
    }

    const int chunk = (n + kStreams - 1) / kStreams;
    for (int s = 0; s < kStreams; ++s) {
        const int begin = s * chunk;
        const int count = begin + chunk <= n ? chunk : n - begin;
        if (count > 0) {
            const size_t bytes = count * sizeof(float);
            CUDA_CHECK(cudaMemcpyAsync(dx + begin, hx + begin, bytes, cudaMemcpyHostToDevice, streams[s]));
            CUDA_CHECK(cudaMemcpyAsync(dy + begin, hy + begin, bytes, cudaMemcpyHostToDevice, streams[s]));
            saxpy<<<16, 128, 0, streams[s]>>>(count, a, dx + begin, dy + begin);
            CUDA_CHECK(cudaGetLastError());
            CUDA_CHECK(cudaMemcpyAsync(hout + begin, dy + begin, bytes, cudaMemcpyDeviceToHost, streams[s]));
        }
        CUDA_CHECK(cudaEventRecord(finished[s], streams[s]));
    }
    for (int s = 0; s < kStreams; ++s)
        CUDA_CHECK(cudaEventSynchronize(finished[s]));

    double sum = 0.0;
    int bad = 0;
    for (int i = 0; i < n; ++i) {
        sum += hout[i];
        if (fabs(hout[i] - (a * (double)hx[i] + hy[i])) > 1e-5)
            ++bad;
    }
    printf("elements: %d\n", n);
    printf("sum: %.2f\n", sum);
    printf("first: %.4f last: %.4f\n", hout[0], hout[n - 1]);
    printf("verify: %s\n", bad ? "MISMATCH" : "OK");

    for (int s = 0; s < kStreams; ++s) {
        CUDA_CHECK(cudaEventDestroy(finished[s]));
        CUDA_CHECK(cudaStreamDestroy(streams[s]));
    }
    CUDA_CHECK(cudaFree(dx));
    CUDA_CHECK(cudaFree(dy));
    CUDA_CHECK(cudaFreeHost(hx));
    CUDA_CHECK(cudaFreeHost(hy));
    CUDA_CHECK(cudaFreeHost(hout));
    return bad ? 1 : 0;
}
