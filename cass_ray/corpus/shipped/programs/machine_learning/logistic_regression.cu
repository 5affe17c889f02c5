// SPDX-License-Identifier: MIT
// Logistic regression in double precision on managed memory. Gradients are reduced in a fixed
// tree order: a block per slice of samples, then one block over the slices.
#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_CHECK(call)                                               \
    do {                                                               \
        if (cudaError_t e = (call); e != cudaSuccess) {                \
            fprintf(stderr, "logistic: %s\n", cudaGetErrorString(e));  \
            exit(2);                                                   \
        }                                                              \
    } while (0)

constexpr int kFeatures = 8;
constexpr int kThreads = 64;

template <int kWidth>
__device__ void foldRows(double (*rows)[kFeatures])
{
    for (int width = kWidth / 2; width > 0; width /= 2) {
        __syncthreads();
        if (threadIdx.x < width)
            for (int f = 0; f < kFeatures; ++f)
                rows[threadIdx.x][f] += rows[threadIdx.x + width][f];
    }
    __syncthreads();
}

__global__ void sliceGradient(const double* samples, const unsigned char* label, int n, const double* weight,
                              double* slices)
{
    __shared__ double partial[kThreads][kFeatures];
    const int i = blockIdx.x * kThreads + threadIdx.x;
    double z = 0.0;
    for (int f = 0; f < kFeatures; ++f)
        z += i < n ? weight[f] * samples[f * n + i] : 0.0;
    const double residual = i < n ? 1.0 / (1.0 + exp(-z)) - label[i] : 0.0;
    for (int f = 0; f < kFeatures; ++f)
        partial[threadIdx.x][f] = i < n ? residual * samples[f * n + i] : 0.0;
    foldRows<kThreads>(partial);
    if (threadIdx.x < kFeatures)
        slices[blockIdx.x * kFeatures + threadIdx.x] = partial[0][threadIdx.x];
}

__global__ void descend(const double* slices, int count, int n, double rate, double* weight)
{
    __shared__ double partial[kThreads][kFeatures];
    for (int f = 0; f < kFeatures; ++f) {
        double sum = 0.0;
        for (int s = threadIdx.x; s < count; s += kThreads)
            sum += slices[s * kFeatures + f];
        partial[threadIdx.x][f] = sum;
    }
    foldRows<kThreads>(partial);
    if (threadIdx.x < kFeatures)
        weight[threadIdx.x] -= rate / n * partial[0][threadIdx.x];
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 1500;
    const int iterations = argc > 2 ? atoi(argv[2]) : 15;
    unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 18u;
    if (n < 1 || iterations < 1)
        return 2;
    const double rate = 1.5;
    const double hidden[kFeatures] = {0.3, 1.2, -0.7, 0.0, 2.0, -1.1, 0.4, -0.2};
    const int blocks = (n + kThreads - 1) / kThreads;
    double *samples, *weight, *slices;
    unsigned char* label;
    CUDA_CHECK(cudaMallocManaged(&samples, sizeof(double) * n * kFeatures));
    CUDA_CHECK(cudaMallocManaged(&weight, sizeof(double) * kFeatures));
    CUDA_CHECK(cudaMallocManaged(&slices, sizeof(double) * blocks * kFeatures));
    CUDA_CHECK(cudaMallocManaged(&label, n));
    for (int i = 0; i < n; ++i) {
        double z = 0.0;
        for (int f = 0; f < kFeatures; ++f) {
            seed = seed * 1664525u + 1013904223u;
            samples[f * n + i] = f == 0 ? 1.0 : (double)(seed >> 8) / 8388608.0 - 1.0;
            z += hidden[f] * samples[f * n + i];
        }
        seed = seed * 1664525u + 1013904223u;
        label[i] = z + ((double)(seed >> 8) / 16777216.0 - 0.5) > 0.0;
    }
    std::vector<double> expected(kFeatures, 0.0);
    for (int f = 0; f < kFeatures; ++f)
        weight[f] = 0.0;
    for (int it = 0; it < iterations; ++it) {
        sliceGradient<<<blocks, kThreads>>>(samples, label, n, weight, slices);
        descend<<<1, kThreads>>>(slices, blocks, n, rate, weight);
    }
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaDeviceSynchronize());

    for (int it = 0; it < iterations; ++it) {
        std::vector<double> g(kFeatures, 0.0);
        for (int i = 0; i < n; ++i) {
            double z = 0.0;
            for (int f = 0; f < kFeatures; ++f)
                z += expected[f] * samples[f * n + i];
            for (int f = 0; f < kFeatures; ++f)
                g[f] += (1.0 / (1.0 + exp(-z)) - label[i]) * samples[f * n + i];
        }
        for (int f = 0; f < kFeatures; ++f)
            expected[f] -= rate / n * g[f];
    }
    double worst = 0.0;
    int correct = 0;
    for (int f = 0; f < kFeatures; ++f)
        worst = fmax(worst, fabs(weight[f] - expected[f]));
    for (int i = 0; i < n; ++i) {
        double z = 0.0;
        for (int f = 0; f < kFeatures; ++f)
            z += weight[f] * samples[f * n + i];
        correct += (z > 0.0) == (label[i] != 0);
    }
    printf("samples %d, correct after training %d\n", n, correct);
    printf("weights:");
    for (int f = 0; f < kFeatures; ++f)
        printf(" %.6f", weight[f]);
    printf("\nverify: %s\n", worst < 1e-9 ? "OK" : "MISMATCH");
    CUDA_CHECK(cudaFree(samples));
    CUDA_CHECK(cudaFree(weight));
    CUDA_CHECK(cudaFree(slices));
    CUDA_CHECK(cudaFree(label));
    return worst < 1e-9 ? 0 : 1;
}
