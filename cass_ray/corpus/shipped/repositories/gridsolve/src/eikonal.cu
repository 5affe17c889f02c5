// SPDX-License-Identifier: MIT
// Travel times from a point through a medium with varying slowness (fast iterative solution of
// the eikonal equation): cells relax until no time improves, checked with a block-wide vote.
#include "../include/grid.cuh"

#include <cmath>
#include <cstdlib>

constexpr double kFar = 1e6;

// Godunov upwind update from the smaller neighbour in each direction.
__host__ __device__ inline double arrival(const GridShape& s, const double* t, double cost, int x, int y)
{
    const int i = s.at(x, y);
    const double a = t[i - 1] < t[i + 1] ? t[i - 1] : t[i + 1];
    const double b = t[i - s.side()] < t[i + s.side()] ? t[i - s.side()] : t[i + s.side()];
    const double low = a < b ? a : b, high = a < b ? b : a;
    if (high - low >= cost)
        return low + cost;
    return 0.5 * (low + high + sqrt(2.0 * cost * cost - (high - low) * (high - low)));
}

__global__ void improve(GridShape s, const double* slowness, const double* t, double* out, int* improved)
{
    int x, y, better = 0;
    if (innerCell(s, x, y)) {
        const int i = s.at(x, y);
        const double candidate = arrival(s, t, slowness[i] * s.spacing, x, y);
        better = candidate < t[i] - 1e-12;
        out[i] = better ? candidate : t[i];
    }
    if (__syncthreads_or(better) && threadIdx.x == 0 && threadIdx.y == 0)
        *improved = 1;
}

int main(int argc, char** argv)
{
    const int inner = argc > 1 ? atoi(argv[1]) : 30;
    unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 8u;
    if (inner < 3)
        return 2;
    const GridShape s = unitSquare(inner);
    std::vector<double> slowness(s.cells(), 1.0), start(s.cells(), kFar);
    for (double& v : slowness) {
        seed = seed * 1103515245u + 12345u;
        v = 1.0 + (double)(seed >> 16 & 0xffu) / 128.0;
    }
    const int sx = inner / 4 + 1, sy = inner / 2 + 1;
    start[s.at(sx, sy)] = 0.0;
    Field a(s), b(s), medium(s);
    a.upload(start);
    b.upload(start);  // the rim of both buffers must be far
    medium.upload(slowness);
    int *improved, again = 1, rounds = 0;
    GRID_CHECK(cudaMalloc(&improved, sizeof(int)));
    while (again && rounds < 20 * inner) {
        GRID_CHECK(cudaMemset(improved, 0, sizeof(int)));
        improve<<<gridTiles(s), gridBlock()>>>(s, medium.get(), a.get(), b.get(), improved);
        GRID_CHECK(cudaGetLastError());
        GRID_CHECK(cudaMemcpy(&again, improved, sizeof(int), cudaMemcpyDeviceToHost));
        a.swap(b);
        ++rounds;
    }
    GRID_CHECK(cudaFree(improved));
    const std::vector<double> time = a.download();

    // Gauss-Seidel sweeps in four directions reach the same fixed point.
    std::vector<double> cpu = start;
    for (bool moving = true; moving;) {
        moving = false;
        for (int pass = 0; pass < 4; ++pass)
            for (int j = 1; j <= inner; ++j)
                for (int k = 1; k <= inner; ++k) {
                    const int x = pass & 1 ? inner + 1 - k : k, y = pass & 2 ? inner + 1 - j : j;
                    const double t = arrival(s, cpu.data(), slowness[s.at(x, y)] * s.spacing, x, y);
                    if (t < cpu[s.at(x, y)] - 1e-12) {
                        cpu[s.at(x, y)] = t;
                        moving = true;
                    }
                }
    }
    double worst = 0.0, latest = 0.0, mean = 0.0;
    for (int y = 1; y <= inner; ++y)
        for (int x = 1; x <= inner; ++x) {
            const double t = time[s.at(x, y)];
            worst = fmax(worst, fabs(t - cpu[s.at(x, y)]));
            latest = fmax(latest, t);
            mean += t / (inner * inner);
        }
    printf("grid %dx%d, source (%d, %d), converged: %s\n", inner, inner, sx, sy, again ? "no" : "yes");
    printf("mean travel time %.6f, latest arrival %.6f\n", mean, latest);
    printf("verify: %s\n", worst < 1e-8 && !again ? "OK" : "MISMATCH");
    return worst < 1e-8 && !again ? 0 : 1;
}
