// SPDX-License-Identifier: MIT
// D2Q9 lattice Boltzmann flow past a cylinder: BGK collision, pull streaming, bounce-back walls
// and a body force. Checks against the same update on the CPU and reports mass and peak speed.
#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#define CHECK(x)                                                                  \
    do {                                                                          \
        const cudaError_t e = (x);                                                \
        if (e != cudaSuccess) {                                                   \
            fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorName(e)); \
            exit(2);                                                              \
        }                                                                         \
    } while (0)

struct Lattice {
    int dx[9], dy[9], opposite[9];
    float weight[9];
};

static const Lattice kLattice = {{0, 1, 0, -1, 0, 1, -1, -1, 1},
                                 {0, 0, 1, 0, -1, 1, 1, -1, -1},
                                 {0, 3, 4, 1, 2, 7, 8, 5, 6},
                                 {4.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 36, 1.f / 36, 1.f / 36, 1.f / 36}};

__constant__ Lattice cLattice;

constexpr float kOmega = 1.25f;
constexpr float kForce = 2e-4f;

// Distributions are stored as nine planes. x wraps around; solid cells bounce back.
__host__ __device__ inline void updateCell(const Lattice& lat, const float* in, float* out,
                                           const unsigned char* solid, int nx, int ny, int x, int y)
{
    const int cells = nx * ny, here = y * nx + x;
    if (solid[here]) {
        for (int q = 0; q < 9; ++q)
            out[q * cells + here] = in[q * cells + here];
        return;
    }
    float f[9], rho = 0.f, ux = 0.f, uy = 0.f;
    for (int q = 0; q < 9; ++q) {
        const int sx = (x - lat.dx[q] + nx) % nx, sy = y - lat.dy[q];
        const int source = sy * nx + sx;
        f[q] = solid[source] ? in[lat.opposite[q] * cells + here] : in[q * cells + source];
        rho += f[q];
        ux += f[q] * lat.dx[q];
        uy += f[q] * lat.dy[q];
    }
    ux = ux / rho + kForce / (kOmega * rho);
    uy /= rho;
    const float uu = 1.5f * (ux * ux + uy * uy);
    for (int q = 0; q < 9; ++q) {
        const float cu = 3.f * (lat.dx[q] * ux + lat.dy[q] * uy);
        const float eq = lat.weight[q] * rho * (1.f + cu + 0.5f * cu * cu - uu);
        out[q * cells + here] = f[q] + kOmega * (eq - f[q]);
    }
}

__global__ void stepKernel(const float* __restrict__ in, float* __restrict__ out,
                           const unsigned char* __restrict__ solid, int nx, int ny)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < nx && y < ny)
        updateCell(cLattice, in, out, solid, nx, ny, x, y);
}

int main(int argc, char** argv)
{
    const int nx = argc > 1 ? atoi(argv[1]) : 48;
    const int ny = argc > 2 ? atoi(argv[2]) : 24;
    const int steps = argc > 3 ? atoi(argv[3]) : 20;
    if (nx < 8 || ny < 8 || steps < 1)
        return 2;
    const int cells = nx * ny;
    std::vector<unsigned char> solid(cells, 0);
    for (int y = 0; y < ny; ++y)
        for (int x = 0; x < nx; ++x) {
            const int rx = 4 * x - nx, ry = 2 * y - ny;  // centre at (nx/4, ny/2)
            solid[y * nx + x] = y == 0 || y == ny - 1 || rx * rx / 4 + ry * ry < ny * ny / 12;
        }
    std::vector<float> f(9 * cells), g(9 * cells), gpu(9 * cells);
    for (int q = 0; q < 9; ++q)
        for (int i = 0; i < cells; ++i)
            f[q * cells + i] = kLattice.weight[q];

    float *a, *b;
    unsigned char* dSolid;
    const size_t bytes = f.size() * sizeof(float);
    CHECK(cudaMalloc(&a, bytes));
    CHECK(cudaMalloc(&b, bytes));
    CHECK(cudaMalloc(&dSolid, cells));
    CHECK(cudaMemcpyToSymbol(cLattice, &kLattice, sizeof kLattice));
    CHECK(cudaMemcpy(a, f.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dSolid, solid.data(), cells, cudaMemcpyHostToDevice));
    const dim3 block(16, 8), grid((nx + 15) / 16, (ny + 7) / 8);
    for (int s = 0; s < steps; ++s) {
        stepKernel<<<grid, block>>>(a, b, dSolid, nx, ny);
        CHECK(cudaGetLastError());
        std::swap(a, b);
    }
    CHECK(cudaMemcpy(gpu.data(), a, bytes, cudaMemcpyDeviceToHost));

    for (int s = 0; s < steps; ++s) {
        for (int y = 0; y < ny; ++y)
            for (int x = 0; x < nx; ++x)
                updateCell(kLattice, f.data(), g.data(), solid.data(), nx, ny, x, y);
        f.swap(g);
    }
    double mass = 0.0, worst = 0.0, peak = 0.0;
    for (int i = 0; i < cells; ++i) {
        double rho = 0.0, ux = 0.0, uy = 0.0;
        for (int q = 0; q < 9; ++q) {
            const double v = gpu[q * cells + i];
            worst = fmax(worst, fabs(v - f[q * cells + i]));
            rho += v;
            ux += v * kLattice.dx[q];
            uy += v * kLattice.dy[q];
        }
        mass += rho;
        if (!solid[i])
            peak = fmax(peak, sqrt(ux * ux + uy * uy) / rho);
    }
    printf("lattice %dx%d steps %d\n", nx, ny, steps);
    printf("mass %.2f peak speed %.5f\n", mass, peak);
    printf("verify: %s\n", worst < 1e-5 ? "OK" : "MISMATCH");
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(dSolid));
    return worst < 1e-5 ? 0 : 1;
}
