// SPDX-License-Identifier: MIT
// Smoothed-particle hydrodynamics density estimate with a uniform cell grid. Particles are
// binned by a counting sort (atomic counts, scan, scatter); each then visits nine cells.
#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_GUARD(call)                                                              \
    do {                                                                              \
        cudaError_t err = (call);                                                     \
        if (err != cudaSuccess) {                                                     \
            std::fprintf(stderr, "%s, line %d\n", cudaGetErrorString(err), __LINE__); \
            std::exit(2);                                                             \
        }                                                                             \
    } while (0)

struct Grid {
    int edge;      // cells per side of the unit square
    float radius;  // smoothing radius, equal to the cell width
    __host__ __device__ int cellOf(float2 p) const
    {
        int cx = (int)(p.x * edge), cy = (int)(p.y * edge);
        cx = cx < edge ? cx : edge - 1;
        cy = cy < edge ? cy : edge - 1;
        return cy * edge + cx;
    }
};

__host__ __device__ inline float poly6(float2 a, float2 b, float h)
{
    const float dx = a.x - b.x, dy = a.y - b.y;
    const float d = h * h - dx * dx - dy * dy;
    return d > 0.0f ? d * d * d : 0.0f;
}

__global__ void countCells(const float2* pos, int n, Grid grid, int* count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&count[grid.cellOf(pos[i])], 1);
}

__global__ void scanCells(int* count, int* start, int cells)
{
    extern __shared__ int partial[];
    const int t = threadIdx.x, per = (cells + blockDim.x - 1) / blockDim.x;
    int sum = 0;
    for (int c = t * per; c < min((t + 1) * per, cells); ++c)
        sum += count[c];
    partial[t] = sum;
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        const int v = t >= d ? partial[t - d] : 0;
        __syncthreads();
        partial[t] += v;
        __syncthreads();
    }
    int running = partial[t] - sum;
    for (int c = t * per; c < min((t + 1) * per, cells); ++c) {
        start[c] = running;
        running += count[c];
        count[c] = 0;  // becomes the fill cursor of the scatter
    }
    if (t == blockDim.x - 1)
        start[cells] = partial[t];
}

__global__ void scatter(const float2* pos, int n, Grid grid, const int* start, int* cursor, float2* sorted)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const int c = grid.cellOf(pos[i]);
        sorted[start[c] + atomicAdd(&cursor[c], 1)] = pos[i];
    }
}

__global__ void density(const float2* pos, int n, Grid grid, const int* start, const float2* sorted, float* rho)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float2 p = pos[i];
    const int cell = grid.cellOf(p), cx = cell % grid.edge, cy = cell / grid.edge;
    float sum = 0.0f;
    for (int y = max(cy - 1, 0); y <= min(cy + 1, grid.edge - 1); ++y)
        for (int x = max(cx - 1, 0); x <= min(cx + 1, grid.edge - 1); ++x)
            for (int k = start[y * grid.edge + x]; k < start[y * grid.edge + x + 1]; ++k)
                sum += poly6(p, sorted[k], grid.radius);
    const float h2 = grid.radius * grid.radius;
    rho[i] = sum * 4.0f / (3.14159265f * h2 * h2 * h2 * h2 * n);
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 2000;
    const int edge = argc > 2 ? atoi(argv[2]) : 16;
    unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 8u;
    if (n < 1 || edge < 1)
        return 2;
    const Grid grid{edge, 1.0f / edge};
    const int cells = edge * edge;
    std::vector<float2> pos(n);
    for (float2& p : pos) {
        seed = seed * 1664525u + 1013904223u;
        p.x = (float)(seed >> 8) / 16777216.0f;
        seed = seed * 1664525u + 1013904223u;
        const float u = (float)(seed >> 8) / 16777216.0f;
        p.y = u * u;  // denser near the bottom
    }
    float2 *dPos, *dSorted;
    float* dRho;
    int *count, *start;
    CUDA_GUARD(cudaMalloc(&dPos, n * sizeof(float2)));
    CUDA_GUARD(cudaMalloc(&dSorted, n * sizeof(float2)));
    CUDA_GUARD(cudaMalloc(&dRho, n * sizeof(float)));
    CUDA_GUARD(cudaMalloc(&count, cells * sizeof(int)));
    CUDA_GUARD(cudaMalloc(&start, (cells + 1) * sizeof(int)));
    CUDA_GUARD(cudaMemset(count, 0, cells * sizeof(int)));
    CUDA_GUARD(cudaMemcpy(dPos, pos.data(), n * sizeof(float2), cudaMemcpyHostToDevice));
    const int block = 128, blocks = (n + block - 1) / block;
    countCells<<<blocks, block>>>(dPos, n, grid, count);
    scanCells<<<1, block, block * sizeof(int)>>>(count, start, cells);
    scatter<<<blocks, block>>>(dPos, n, grid, start, count, dSorted);
    density<<<blocks, block>>>(dPos, n, grid, start, dSorted, dRho);
    CUDA_GUARD(cudaGetLastError());
    std::vector<float> rho(n);
    CUDA_GUARD(cudaMemcpy(rho.data(), dRho, n * sizeof(float), cudaMemcpyDeviceToHost));

    double mean = 0.0, worst = 0.0;
    const double h2 = (double)grid.radius * grid.radius;
    for (int i = 0; i < n; ++i) {
        double expected = 0.0;
        for (int j = 0; j < n; ++j)
            expected += poly6(pos[i], pos[j], grid.radius);
        expected *= 4.0 / (3.14159265 * h2 * h2 * h2 * h2 * n);
        worst = fmax(worst, fabs(rho[i] - expected) / expected);
        mean += rho[i];
    }
    std::printf("%d particles, %d cells\n", n, cells);
    std::printf("mean density %.3f, at particle 0: %.3f\n", mean / n, rho[0]);
    std::printf("verify: %s\n", worst < 1e-3 ? "OK" : "MISMATCH");
    CUDA_GUARD(cudaFree(dPos));
    CUDA_GUARD(cudaFree(dSorted));
    CUDA_GUARD(cudaFree(dRho));
    CUDA_GUARD(cudaFree(count));
    CUDA_GUARD(cudaFree(start));
    return worst < 1e-3 ? 0 : 1;
}
