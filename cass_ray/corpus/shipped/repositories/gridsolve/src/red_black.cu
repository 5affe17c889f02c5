// SPDX-License-Identifier: MIT
// Red-black successive over-relaxation for the Poisson equation with a known solution.
#include "../include/norms.cuh"

__host__ __device__ inline void relaxCell(const GridShape& s, double* u, const double* f, int x, int y, double omega)
{
    const int i = s.at(x, y);
    const double target = 0.25 * (u[i - 1] + u[i + 1] + u[i - s.side()] + u[i + s.side()] + s.spacing * s.spacing * f[i]);
    u[i] += omega * (target - u[i]);
}

__global__ void relax(GridShape s, double* u, const double* f, int colour, double omega)
{
    int x, y;
    if (innerCell(s, x, y) && ((x + y) & 1) == colour)
        relaxCell(s, u, f, x, y, omega);
}

int main(int argc, char** argv)
{
    const int inner = argc > 1 ? atoi(argv[1]) : 31;
    const int sweeps = argc > 2 ? atoi(argv[2]) : 60;
    if (inner < 1 || sweeps < 1)
        return 2;
    const GridShape s = unitSquare(inner);
    const double pi = 3.14159265358979323846, omega = 2.0 / (1.0 + sin(pi * s.spacing));
    std::vector<double> f(s.cells(), 0.0), cpu(s.cells(), 0.0);
    for (int y = 1; y <= inner; ++y)
        for (int x = 1; x <= inner; ++x)
            f[s.at(x, y)] = 2.0 * pi * pi * sin(pi * x * s.spacing) * sin(pi * y * s.spacing);
    Field u(s), right(s);
    right.upload(f);
    printf("grid %dx%d omega %.4f\n", inner, inner, omega);
    printf("residual at start %.4f\n", residualNorm(s, u, right));
    for (int sweep = 0; sweep < sweeps; ++sweep)
        for (int colour = 0; colour < 2; ++colour)
            relax<<<gridTiles(s), gridBlock()>>>(s, u.get(), right.get(), colour, omega);
    GRID_CHECK(cudaGetLastError());
    const std::vector<double> gpu = u.download();

    for (int sweep = 0; sweep < sweeps; ++sweep)
        for (int colour = 0; colour < 2; ++colour)
            for (int y = 1; y <= inner; ++y)
                for (int x = 1; x <= inner; ++x)
                    if (((x + y) & 1) == colour)
                        relaxCell(s, cpu.data(), f.data(), x, y, omega);
    double worst = 0.0, error = 0.0;
    for (int y = 1; y <= inner; ++y)
        for (int x = 1; x <= inner; ++x) {
            const int i = s.at(x, y);
            worst = fmax(worst, fabs(gpu[i] - cpu[i]));
            error = fmax(error, fabs(gpu[i] - sin(pi * x * s.spacing) * sin(pi * y * s.spacing)));
        }
    printf("after %d sweeps: centre %.6f, distance to the exact solution %.6f\n", sweeps,
           gpu[s.at(inner / 2 + 1, inner / 2 + 1)], error);
    printf("verify: %s\n", worst < 1e-10 ? "OK" : "MISMATCH");
    return worst < 1e-10 ? 0 : 1;
}
