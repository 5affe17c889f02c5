// SPDX-License-Identifier: MIT
// Layer normalisation with learned scale and shift. One block per row; per-thread Welford
// statistics are merged with Chan's formula, first by shuffles and then through shared memory.
#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_CHECK(x)                                                            \
    if (cudaError_t err = (x)) {                                                 \
        fprintf(stderr, "layer_norm:%d %s\n", __LINE__, cudaGetErrorString(err)); \
        exit(2);                                                                 \
    }

struct Moments {
    float mean, m2, count;
};

__device__ Moments merge(Moments a, Moments b)
{
    const float count = a.count + b.count;
    if (count == 0.0f)
        return a;
    const float delta = b.mean - a.mean, share = b.count / count;
    return Moments{a.mean + delta * share, a.m2 + b.m2 + delta * delta * a.count * share, count};
}

__device__ Moments shuffleDown(Moments m, int offset)
{
    Moments other;
    other.mean = __shfl_down_sync(0xffffffffu, m.mean, offset);
    other.m2 = __shfl_down_sync(0xffffffffu, m.m2, offset);
    other.count = __shfl_down_sync(0xffffffffu, m.count, offset);
    return other;
}

template <int kThreads>
__global__ __launch_bounds__(kThreads) void layerNorm(const float* __restrict__ x, const float* __restrict__ gamma,
                                                      const float* __restrict__ beta, float* __restrict__ y,
                                                      int width, float epsilon)
{
    __shared__ Moments partial[kThreads / 32];
    const float* row = x + (size_t)blockIdx.x * width;
    Moments m{0.0f, 0.0f, 0.0f};
    for (int i = threadIdx.x; i < width; i += kThreads) {
        m.count += 1.0f;
        const float delta = row[i] - m.mean;
        m.mean += delta / m.count;
        m.m2 += delta * (row[i] - m.mean);
    }
    for (int offset = 16; offset > 0; offset /= 2)
        m = merge(m, shuffleDown(m, offset));
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = m;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < kThreads / 32; ++w)
            m = merge(m, partial[w]);
        partial[0] = m;
    }
    __syncthreads();
    m = partial[0];
    const float scale = rsqrtf(m.m2 / m.count + epsilon);
    for (int i = threadIdx.x; i < width; i += kThreads)
        y[(size_t)blockIdx.x * width + i] = (row[i] - m.mean) * scale * gamma[i] + beta[i];
}

int main(int argc, char** argv)
{
    const int rows = argc > 1 ? atoi(argv[1]) : 64;
    const int width = argc > 2 ? atoi(argv[2]) : 300;
    unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 30u;
    if (rows < 1 || width < 1)
        return 2;
    const float epsilon = 1e-5f;
    auto uniform = [&seed]() {
        seed = seed * 1664525u + 1013904223u;
        return (float)(seed >> 12) / 1048576.0f;
    };
    std::vector<float> x((size_t)rows * width), y(x.size()), gamma(width), beta(width);
    for (size_t i = 0; i < x.size(); ++i)
        x[i] = 10.0f + (float)(i / width % 7) * uniform();
    for (int i = 0; i < width; ++i) {
        gamma[i] = 0.5f + uniform();
        beta[i] = uniform() - 0.5f;
    }
    float *dx, *dy, *dGamma, *dBeta;
    CUDA_CHECK(cudaMalloc(&dx, x.size() * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&dy, x.size() * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&dGamma, width * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&dBeta, width * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(dx, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(dGamma, gamma.data(), width * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(dBeta, beta.data(), width * sizeof(float), cudaMemcpyHostToDevice));
    layerNorm<128><<<rows, 128>>>(dx, dGamma, dBeta, dy, width, epsilon);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(y.data(), dy, y.size() * sizeof(float), cudaMemcpyDeviceToHost));

    double worst = 0.0, square = 0.0;
    for (int r = 0; r < rows; ++r) {
        const float* in = &x[(size_t)r * width];
        double mean = 0.0, variance = 0.0;
        for (int i = 0; i < width; ++i)
            mean += in[i] / (double)width;
        for (int i = 0; i < width; ++i)
            variance += (in[i] - mean) * (in[i] - mean) / width;
        // A constant row has no variance: rounding noise is amplified there, so it is compared loosely.
        const double slack = variance > 1e-6 ? 1.0 : 0.05;
        for (int i = 0; i < width; ++i) {
            const double expected = (in[i] - mean) / sqrt(variance + epsilon) * gamma[i] + beta[i];
            const double got = y[(size_t)r * width + i];
            worst = fmax(worst, slack * fabs(got - expected));
            square += got * got;
        }
    }
    printf("rows %d width %d\n", rows, width);
    printf("mean square %.4f, y[1][0] %.4f\n", square / y.size(), y[rows > 1 ? width : 0]);
    printf("verify: %s\n", worst < 1e-3 ? "OK" : "MISMATCH");
    CUDA_CHECK(cudaFree(dx));
    CUDA_CHECK(cudaFree(dy));
    CUDA_CHECK(cudaFree(dGamma));
    CUDA_CHECK(cudaFree(dBeta));
    return worst < 1e-3 ? 0 : 1;
}
