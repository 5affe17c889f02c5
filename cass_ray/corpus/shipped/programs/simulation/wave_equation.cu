// SPDX-License-Identifier: MIT
// Two-dimensional wave equation in double precision with a driven source and absorbing rim.
// Three time levels rotate; the damping profile is a device-side table filled by a kernel.
#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

static inline void must(cudaError_t e, int line)
{
    if (e != cudaSuccess) {
        fprintf(stderr, "wave_equation.cu:%d: %s\n", line, cudaGetErrorString(e));
        exit(2);
    }
}
#define MUST(x) must((x), __LINE__)

constexpr int kMaxEdge = 256;
constexpr int kRim = 6;

__device__ double damping[kMaxEdge];

__host__ __device__ inline double rimDamping(int i, int n)
{
    const int toEdge = i < n - 1 - i ? i : n - 1 - i;
    if (toEdge >= kRim)
        return 1.0;
    const double depth = (double)(kRim - toEdge) / kRim;
    return 1.0 - 0.15 * depth * depth;
}

__global__ void fillDamping(int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        damping[i] = rimDamping(i, n);
}

__global__ void advance(const double* __restrict__ prev, const double* __restrict__ cur, double* __restrict__ next,
                        int n, double c2, double drive)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n)
        return;
    const int i = y * n + x;
    double v = 0.0;
    if (x > 0 && y > 0 && x < n - 1 && y < n - 1) {
        const double laplacian = cur[i - 1] + cur[i + 1] + cur[i - n] + cur[i + n] - 4.0 * cur[i];
        v = (2.0 * cur[i] - prev[i] + c2 * laplacian) * damping[x] * damping[y];
        if (x == n / 3 && y == n / 2)
            v += drive;
    }
    next[i] = v;
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 56;
    const int steps = argc > 2 ? atoi(argv[2]) : 40;
    if (n < 2 * kRim + 3 || n > kMaxEdge || steps < 1) {
        fprintf(stderr, "grid edge must lie in %d..%d\n", 2 * kRim + 3, kMaxEdge);
        return 2;
    }
    const double c2 = 0.25;
    auto source = [](int step) { return step < 20 ? sin(0.3 * step) : 0.0; };
    const size_t bytes = (size_t)n * n * sizeof(double);
    double* level[3];
    for (double*& p : level) {
        MUST(cudaMalloc(&p, bytes));
        MUST(cudaMemset(p, 0, bytes));
    }
    fillDamping<<<(n + 63) / 64, 64>>>(n);
    const dim3 block(32, 4), grid((n + 31) / 32, (n + 3) / 4);
    for (int s = 0; s < steps; ++s) {
        advance<<<grid, block>>>(level[0], level[1], level[2], n, c2, source(s));
        MUST(cudaGetLastError());
        double* oldest = level[0];
        level[0] = level[1];
        level[1] = level[2];
        level[2] = oldest;
    }
    std::vector<double> gpu((size_t)n * n);
    MUST(cudaMemcpy(gpu.data(), level[1], bytes, cudaMemcpyDeviceToHost));

    std::vector<double> p((size_t)n * n, 0.0), c(p), q(p);
    for (int s = 0; s < steps; ++s) {
        for (int y = 1; y < n - 1; ++y)
            for (int x = 1; x < n - 1; ++x) {
                const int i = y * n + x;
                q[i] = (2.0 * c[i] - p[i] + c2 * (c[i - 1] + c[i + 1] + c[i - n] + c[i + n] - 4.0 * c[i])) *
                       rimDamping(x, n) * rimDamping(y, n);
                if (x == n / 3 && y == n / 2)
                    q[i] += source(s);
            }
        p.swap(c);
        c.swap(q);
    }
    double energy = 0.0, worst = 0.0, peak = 0.0;
    for (size_t i = 0; i < gpu.size(); ++i) {
        energy += gpu[i] * gpu[i];
        peak = fmax(peak, fabs(gpu[i]));
        worst = fmax(worst, fabs(gpu[i] - c[i]));
    }
    printf("membrane %dx%d after %d steps\n", n, n, steps);
    printf("energy %.6f peak %.6f centre %.6f\n", energy, peak, gpu[(size_t)(n / 2) * n + n / 2]);
    printf("verify: %s\n", worst < 1e-9 ? "OK" : "MISMATCH");
    for (double* buffer : level)
        MUST(cudaFree(buffer));
    return worst < 1e-9 ? 0 : 1;
}
