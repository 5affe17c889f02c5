// SPDX-License-Identifier: MIT
// Residuals and norms of the five-point Poisson problem; sums run in a fixed order.
#pragma once

#include "grid.cuh"

#include <cmath>

__host__ __device__ inline double poissonResidual(const GridShape& s, const double* u, const double* f, int x, int y)
{
    const int i = s.at(x, y);
    const double laplacian = u[i - 1] + u[i + 1] + u[i - s.side()] + u[i + s.side()] - 4.0 * u[i];
    return f[i] + laplacian / (s.spacing * s.spacing);
}

// One block; result[0] is the sum of squares.
__global__ void residualNormKernel(GridShape s, const double* u, const double* f, double* result)
{
    __shared__ double partial[128];
    double sum = 0.0;
    for (int k = threadIdx.x; k < s.inner * s.inner; k += 128) {
        const double r = poissonResidual(s, u, f, k % s.inner + 1, k / s.inner + 1);
        sum += r * r;
    }
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (int width = 64; width > 0; width >>= 1) {
        if (threadIdx.x < width)
            partial[threadIdx.x] += partial[threadIdx.x + width];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        result[0] = partial[0];
}

inline double residualNorm(const GridShape& s, const Field& u, const Field& f)
{
    double *device, host;
    GRID_CHECK(cudaMalloc(&device, sizeof(double)));
    residualNormKernel<<<1, 128>>>(s, u.get(), f.get(), device);
    GRID_CHECK(cudaGetLastError());
    GRID_CHECK(cudaMemcpy(&host, device, sizeof(double), cudaMemcpyDeviceToHost));
    GRID_CHECK(cudaFree(device));
    return sqrt(host) * s.spacing;
}
