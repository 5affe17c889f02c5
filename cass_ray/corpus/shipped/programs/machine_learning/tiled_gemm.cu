// SPDX-License-Identifier: MIT
// Single-precision GEMM C = alpha A B + beta C with shared-memory tiles and a small register
// tile per thread; the tile edge is a template parameter and shapes may be ragged.
#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_CHECK(call)                                                               \
    do {                                                                               \
        cudaError_t err = (call);                                                      \
        if (err != cudaSuccess) {                                                      \
            fprintf(stderr, "gemm: %s at line %d\n", cudaGetErrorString(err), __LINE__); \
            exit(2);                                                                   \
        }                                                                              \
    } while (0)

// A tile of kEdge x kEdge outputs; each thread owns kRows of one column.
template <int kEdge, int kRows>
__global__ __launch_bounds__(kEdge * kEdge / kRows) void gemm(int m, int n, int k, float alpha,
                                                             const float* __restrict__ a, const float* __restrict__ b,
                                                             float beta, float* __restrict__ c)
{
    __shared__ float tileA[kEdge][kEdge + 1];
    __shared__ float tileB[kEdge][kEdge];
    const int column = blockIdx.x * kEdge + threadIdx.x;
    const int firstRow = blockIdx.y * kEdge + threadIdx.y * kRows;
    float sum[kRows] = {};
    for (int base = 0; base < k; base += kEdge) {
        for (int r = 0; r < kRows; ++r) {
            const int local = threadIdx.y * kRows + r;
            const int row = blockIdx.y * kEdge + local, depth = base + threadIdx.x;
            tileA[local][threadIdx.x] = row < m && depth < k ? a[row * k + depth] : 0.0f;
            tileB[local][threadIdx.x] = base + local < k && column < n ? b[(base + local) * n + column] : 0.0f;
        }
        __syncthreads();
        for (int d = 0; d < kEdge; ++d) {
            const float right = tileB[d][threadIdx.x];
#pragma unroll
            for (int r = 0; r < kRows; ++r)
                sum[r] += tileA[threadIdx.y * kRows + r][d] * right;
        }
        __syncthreads();
    }
    if (column < n)
        for (int r = 0; r < kRows; ++r)
            if (firstRow + r < m) {
                float* out = &c[(firstRow + r) * n + column];
                *out = alpha * sum[r] + beta * *out;
            }
}

static void fill(std::vector<float>& v, unsigned& seed)
{
    for (float& x : v) {
        seed = seed * 1664525u + 1013904223u;
        x = (float)(int)(seed >> 16 & 0x1ffu) / 256.0f - 1.0f;
    }
}

int main(int argc, char** argv)
{
    const int m = argc > 1 ? atoi(argv[1]) : 70;
    const int n = argc > 2 ? atoi(argv[2]) : 90;
    const int k = argc > 3 ? atoi(argv[3]) : 50;
    unsigned seed = argc > 4 ? (unsigned)atoi(argv[4]) : 1u;
    if (m < 1 || n < 1 || k < 1)
        return 2;
    const float alpha = 0.5f, beta = 0.25f;
    std::vector<float> a(m * k), b(k * n), c(m * n), result(m * n);
    fill(a, seed);
    fill(b, seed);
    fill(c, seed);
    float *da, *db, *dc;
    CUDA_CHECK(cudaMalloc(&da, a.size() * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&db, b.size() * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&dc, c.size() * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(da, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(db, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice));

    bool ok = true;
    double trace = 0.0, total = 0.0;
    for (int variant = 0; variant < 2; ++variant) {
        CUDA_CHECK(cudaMemcpy(dc, c.data(), c.size() * sizeof(float), cudaMemcpyHostToDevice));
        if (variant == 0)
            gemm<16, 2><<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 8)>>>(m, n, k, alpha, da, db, beta, dc);
        else
            gemm<32, 8><<<dim3((n + 31) / 32, (m + 31) / 32), dim3(32, 4)>>>(m, n, k, alpha, da, db, beta, dc);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpy(result.data(), dc, c.size() * sizeof(float), cudaMemcpyDeviceToHost));
        double worst = 0.0;
        trace = total = 0.0;
        for (int i = 0; i < m; ++i)
            for (int j = 0; j < n; ++j) {
                double sum = 0.0;
                for (int d = 0; d < k; ++d)
                    sum += (double)a[i * k + d] * b[d * n + j];
                worst = fmax(worst, fabs(alpha * sum + beta * c[i * n + j] - result[i * n + j]));
                total += result[i * n + j];
                if (i == j)
                    trace += result[i * n + j];
            }
        ok = ok && worst < 1e-4;
    }
    printf("C is %d x %d, inner dimension %d\n", m, n, k);
    printf("trace %.3f sum %.3f C[0][0] %.4f\n", trace, total, result[0]);
    printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    CUDA_CHECK(cudaFree(da));
    CUDA_CHECK(cudaFree(db));
    CUDA_CHECK(cudaFree(dc));
    return ok ? 0 : 1;
}
