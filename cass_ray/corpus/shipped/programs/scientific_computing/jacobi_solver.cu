// SPDX-License-Identifier: MIT
// Jacobi iteration for a dense diagonally dominant system; stops when the largest update is
// small. The maximum is kept as double bits with a 64-bit atomicMax in managed memory.
#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#define JACOBI_CUDA(x)                                                          \
    do {                                                                        \
        const cudaError_t e = (x);                                              \
        if (e != cudaSuccess) {                                                 \
            fprintf(stderr, "jacobi %d: %s\n", __LINE__, cudaGetErrorString(e)); \
            exit(2);                                                            \
        }                                                                       \
    } while (0)

constexpr int kThreads = 128;

// One warp per row.
__global__ void sweep(const double* __restrict__ a, const double* __restrict__ b, const double* __restrict__ x,
                      double* __restrict__ next, int n, unsigned long long* largest)
{
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    double sum = 0.0;
    if (row < n)
        for (int c = lane; c < n; c += 32)
            if (c != row)
                sum += a[(size_t)row * n + c] * x[c];
    for (int offset = 16; offset; offset >>= 1)
        sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (row < n && lane == 0) {
        const double v = (b[row] - sum) / a[(size_t)row * n + row];
        next[row] = v;
        atomicMax(largest, (unsigned long long)__double_as_longlong(fabs(v - x[row])));
    }
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 120;
    const int maxSweeps = argc > 2 ? atoi(argv[2]) : 60;
    unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 50u;
    if (n < 1 || maxSweeps < 1)
        return 2;
    std::vector<double> a((size_t)n * n), b(n, 0.0), truth(n), x(n);
    for (int i = 0; i < n; ++i)
        truth[i] = 1.0 + (i * 7 % 11) * 0.25;
    for (int r = 0; r < n; ++r) {
        double row = 0.0;
        for (int c = 0; c < n; ++c) {
            seed = seed * 1664525u + 1013904223u;
            a[(size_t)r * n + c] = (double)(seed >> 8) / 8388608.0 - 1.0;
            row += fabs(a[(size_t)r * n + c]);
        }
        a[(size_t)r * n + r] = 1.6 * row + 1.0;
        for (int c = 0; c < n; ++c)
            b[r] += a[(size_t)r * n + c] * truth[c];
    }
    double *da, *db, *dx, *dnext;
    unsigned long long* largest;
    JACOBI_CUDA(cudaMalloc(&da, a.size() * sizeof(double)));
    JACOBI_CUDA(cudaMalloc(&db, n * sizeof(double)));
    JACOBI_CUDA(cudaMalloc(&dx, n * sizeof(double)));
    JACOBI_CUDA(cudaMalloc(&dnext, n * sizeof(double)));
    JACOBI_CUDA(cudaMallocManaged(&largest, sizeof *largest));
    JACOBI_CUDA(cudaMemcpy(da, a.data(), a.size() * sizeof(double), cudaMemcpyHostToDevice));
    JACOBI_CUDA(cudaMemcpy(db, b.data(), n * sizeof(double), cudaMemcpyHostToDevice));
    JACOBI_CUDA(cudaMemset(dx, 0, n * sizeof(double)));
    int sweeps = 0;
    double change = 1.0;
    while (sweeps < maxSweeps && change > 1e-10) {
        *largest = 0;
        sweep<<<(n * 32 + kThreads - 1) / kThreads, kThreads>>>(da, db, dx, dnext, n, largest);
        JACOBI_CUDA(cudaGetLastError());
        JACOBI_CUDA(cudaDeviceSynchronize());
        memcpy(&change, largest, sizeof change);
        std::swap(dx, dnext);
        ++sweeps;
    }
    JACOBI_CUDA(cudaMemcpy(x.data(), dx, n * sizeof(double), cudaMemcpyDeviceToHost));
    double worst = 0.0, sum = 0.0;
    for (int i = 0; i < n; ++i) {
        worst = fmax(worst, fabs(x[i] - truth[i]));
        sum += x[i];
    }
    const bool ok = worst < 1e-8 && change <= 1e-10;
    printf("unknowns %d, converged after %d sweeps\n", n, sweeps);
    printf("sum %.6f x[0] %.6f x[last] %.6f\n", sum, x[0], x[n - 1]);
    printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    for (double* p : {da, db, dx, dnext})
        JACOBI_CUDA(cudaFree(p));
    JACOBI_CUDA(cudaFree(largest));
    return ok ? 0 : 1;
}
