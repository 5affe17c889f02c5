// SPDX-License-Identifier: MIT
// One causal attention head with an online softmax: keys and values stream through dynamic
// shared memory in tiles while each thread keeps the running maximum, sum and output of a query.
#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_CALL(f)                                                            \
    do {                                                                        \
        cudaError_t e = (f);                                                    \
        if (e != cudaSuccess) {                                                 \
            fprintf(stderr, "attention: %s, line %d\n", cudaGetErrorString(e), __LINE__); \
            exit(2);                                                            \
        }                                                                       \
    } while (0)

constexpr int kHead = 16;
constexpr int kTile = 32;

__global__ void attend(const float* __restrict__ q, const float* __restrict__ k, const float* __restrict__ v,
                       float* __restrict__ out, int length, float scale)
{
    extern __shared__ float storage[];
    float* keys = storage;
    float* values = storage + kTile * kHead;
    const int query = blockIdx.x * blockDim.x + threadIdx.x;
    const int lastQuery = min((int)((blockIdx.x + 1) * blockDim.x), length) - 1;

    float mine[kHead], sum[kHead];
    for (int d = 0; d < kHead; ++d) {
        mine[d] = query < length ? q[query * kHead + d] * scale : 0.0f;
        sum[d] = 0.0f;
    }
    float largest = -1e30f, denominator = 0.0f;
    for (int base = 0; base <= lastQuery; base += kTile) {
        for (int i = threadIdx.x; i < kTile * kHead; i += blockDim.x) {
            const bool inside = base + i / kHead < length;
            keys[i] = inside ? k[base * kHead + i] : 0.0f;
            values[i] = inside ? v[base * kHead + i] : 0.0f;
        }
        __syncthreads();
        const int visible = min(kTile, query - base + 1);  // causal mask; may be negative
        for (int j = 0; j < visible; ++j) {
            float score = 0.0f;
            for (int d = 0; d < kHead; ++d)
                score += mine[d] * keys[j * kHead + d];
            const float highest = fmaxf(largest, score);
            const float shrink = expf(largest - highest), weight = expf(score - highest);
            denominator = denominator * shrink + weight;
            for (int d = 0; d < kHead; ++d)
                sum[d] = sum[d] * shrink + weight * values[j * kHead + d];
            largest = highest;
        }
        __syncthreads();
    }
    if (query < length)
        for (int d = 0; d < kHead; ++d)
            out[query * kHead + d] = sum[d] / denominator;
}

int main(int argc, char** argv)
{
    const int length = argc > 1 ? atoi(argv[1]) : 150;
    unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 9u;
    if (length < 1)
        return 2;
    const int n = length * kHead;
    const float scale = 1.0f / sqrtf((float)kHead);
    std::vector<float> host[3], result(n);
    float* device[3];
    for (int t = 0; t < 3; ++t) {
        host[t].resize(n);
        for (float& x : host[t]) {
            seed = seed * 22695477u + 1u;
            x = (float)(seed >> 16 & 0x3fffu) / 4096.0f - 2.0f;
        }
        CUDA_CALL(cudaMalloc(&device[t], n * sizeof(float)));
        CUDA_CALL(cudaMemcpy(device[t], host[t].data(), n * sizeof(float), cudaMemcpyHostToDevice));
    }
    float* dOut;
    CUDA_CALL(cudaMalloc(&dOut, n * sizeof(float)));
    const int threads = 64;
    attend<<<(length + threads - 1) / threads, threads, 2 * kTile * kHead * sizeof(float)>>>(
        device[0], device[1], device[2], dOut, length, scale);
    CUDA_CALL(cudaGetLastError());
    CUDA_CALL(cudaMemcpy(result.data(), dOut, n * sizeof(float), cudaMemcpyDeviceToHost));

    double worst = 0.0, norm = 0.0;
    std::vector<double> weight(length);
    for (int i = 0; i < length; ++i) {
        double total = 0.0;
        for (int j = 0; j <= i; ++j) {
            double score = 0.0;
            for (int d = 0; d < kHead; ++d)
                score += (double)host[0][i * kHead + d] * host[1][j * kHead + d];
            total += weight[j] = exp(score * scale);
        }
        for (int d = 0; d < kHead; ++d) {
            double expected = 0.0;
            for (int j = 0; j <= i; ++j)
                expected += weight[j] / total * host[2][j * kHead + d];
            worst = fmax(worst, fabs(expected - result[i * kHead + d]));
            norm += (double)result[i * kHead + d] * result[i * kHead + d];
        }
    }
    printf("sequence %d, head size %d\n", length, kHead);
    printf("output norm %.3f, first %.4f, last %.4f\n", sqrt(norm), result[0], result[n - 1]);
    printf("verify: %s\n", worst < 1e-4 ? "OK" : "MISMATCH");
    for (float* p : device)
        CUDA_CALL(cudaFree(p));
    CUDA_CALL(cudaFree(dOut));
    return worst < 1e-4 ? 0 : 1;
}
