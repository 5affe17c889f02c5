// SPDX-License-Identifier: MIT
// Conjugate gradients for the five-point Poisson matrix without forming it. All scalars stay on
// the device: dot products are reduced in two fixed-order stages and feed the vector updates.
#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CG_CHECK(call)                                                            \
    do {                                                                          \
        cudaError_t e = (call);                                                   \
        if (e != cudaSuccess) {                                                   \
            fprintf(stderr, "cg: %s, line %d\n", cudaGetErrorString(e), __LINE__); \
            exit(2);                                                              \
        }                                                                         \
    } while (0)

constexpr int kBlock = 128;
constexpr int kBlocks = 8;

struct Scalars {
    double residual, curvature, alpha, beta;
};

__global__ void applyPoisson(const double* p, double* ap, int n)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n)
        return;
    const int i = y * n + x;
    double v = 4.0 * p[i];
    v -= x > 0 ? p[i - 1] : 0.0;
    v -= x < n - 1 ? p[i + 1] : 0.0;
    v -= y > 0 ? p[i - n] : 0.0;
    v -= y < n - 1 ? p[i + n] : 0.0;
    ap[i] = v;
}

__device__ double blockSum(double v)
{
    __shared__ double partial[kBlock];
    partial[threadIdx.x] = v;
    __syncthreads();
    for (int width = kBlock / 2; width > 0; width /= 2) {
        if (threadIdx.x < width)
            partial[threadIdx.x] += partial[threadIdx.x + width];
        __syncthreads();
    }
    return partial[0];
}

__global__ void partialDot(const double* a, const double* b, int cells, double* sums)
{
    double v = 0.0;
    for (int i = blockIdx.x * kBlock + threadIdx.x; i < cells; i += kBlocks * kBlock)
        v += a[i] * b[i];
    v = blockSum(v);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = v;
}

// Completes p.Ap and sets alpha, or completes r.r and sets beta.
template <bool kCurvature>
__global__ void finishDot(const double* sums, Scalars* s)
{
    const double v = blockSum(threadIdx.x < kBlocks ? sums[threadIdx.x] : 0.0);
    if (threadIdx.x)
        return;
    if (kCurvature) {
        s->curvature = v;
        s->alpha = v > 0.0 ? s->residual / v : 0.0;
    } else {
        s->beta = s->residual > 0.0 ? v / s->residual : 0.0;
        s->residual = v;
    }
}

__global__ void moveSolution(double* x, double* r, const double* p, const double* ap, int cells, const Scalars* s)
{
    const int i = blockIdx.x * kBlock + threadIdx.x;
    if (i < cells) {
        x[i] += s->alpha * p[i];
        r[i] -= s->alpha * ap[i];
    }
}

__global__ void newDirection(double* p, const double* r, int cells, const Scalars* s)
{
    const int i = blockIdx.x * kBlock + threadIdx.x;
    if (i < cells)
        p[i] = r[i] + s->beta * p[i];
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 24;
    const int iterations = argc > 2 ? atoi(argv[2]) : 90;
    unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 1u;
    if (n < 2 || iterations < 1)
        return 2;
    const int cells = n * n, grid = (cells + kBlock - 1) / kBlock;
    const size_t bytes = cells * sizeof(double);
    std::vector<double> b(cells), solution(cells);
    double start = 0.0;
    for (double& v : b) {
        seed = seed * 1664525u + 1013904223u;
        v = (double)(seed >> 8) / 8388608.0 - 1.0;
        start += v * v;
    }
    double *x, *r, *p, *ap, *sums;
    Scalars *s, host = {start, 0.0, 0.0, 0.0};
    CG_CHECK(cudaMalloc(&x, bytes));
    CG_CHECK(cudaMalloc(&r, bytes));
    CG_CHECK(cudaMalloc(&p, bytes));
    CG_CHECK(cudaMalloc(&ap, bytes));
    CG_CHECK(cudaMalloc(&sums, kBlocks * sizeof(double)));
    CG_CHECK(cudaMalloc(&s, sizeof(Scalars)));
    CG_CHECK(cudaMemset(x, 0, bytes));
    CG_CHECK(cudaMemcpy(r, b.data(), bytes, cudaMemcpyHostToDevice));
    CG_CHECK(cudaMemcpy(p, r, bytes, cudaMemcpyDeviceToDevice));
    CG_CHECK(cudaMemcpy(s, &host, sizeof host, cudaMemcpyHostToDevice));
    const dim3 tile(16, 8), tiles((n + 15) / 16, (n + 7) / 8);
    for (int it = 0; it < iterations; ++it) {
        applyPoisson<<<tiles, tile>>>(p, ap, n);
        partialDot<<<kBlocks, kBlock>>>(p, ap, cells, sums);
        finishDot<true><<<1, kBlock>>>(sums, s);
        moveSolution<<<grid, kBlock>>>(x, r, p, ap, cells, s);
        partialDot<<<kBlocks, kBlock>>>(r, r, cells, sums);
        finishDot<false><<<1, kBlock>>>(sums, s);
        newDirection<<<grid, kBlock>>>(p, r, cells, s);
        CG_CHECK(cudaGetLastError());
    }
    CG_CHECK(cudaMemcpy(&host, s, sizeof host, cudaMemcpyDeviceToHost));
    CG_CHECK(cudaMemcpy(solution.data(), x, bytes, cudaMemcpyDeviceToHost));

    // The true residual b - A x must be small and agree with the recursive one.
    double residual = 0.0, norm = 0.0;
    for (int y = 0; y < n; ++y)
        for (int c = 0; c < n; ++c) {
            const int i = y * n + c;
            double v = 4.0 * solution[i];
            v -= c > 0 ? solution[i - 1] : 0.0;
            v -= c < n - 1 ? solution[i + 1] : 0.0;
            v -= y > 0 ? solution[i - n] : 0.0;
            v -= y < n - 1 ? solution[i + n] : 0.0;
            residual += (b[i] - v) * (b[i] - v);
            norm += solution[i] * solution[i];
        }
    const bool ok = fabs(sqrt(residual) - sqrt(host.residual)) < 1e-9 * sqrt(start) && residual < start;
    printf("unknowns %d, iterations %d\n", cells, iterations);
    printf("solution norm %.6f, residual below 1e-6: %s\n", sqrt(norm), residual < 1e-12 * start ? "yes" : "no");
    printf("x[0] %.6f x[middle] %.6f\n", solution[0], solution[cells / 2 + n / 2]);
    printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    for (double* q : {x, r, p, ap, sums})
        CG_CHECK(cudaFree(q));
    CG_CHECK(cudaFree(s));
    return ok ? 0 : 1;
}
