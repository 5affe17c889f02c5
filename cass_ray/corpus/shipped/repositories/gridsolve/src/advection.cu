// SPDX-License-Identifier: MIT
// Rotating-flow transport of a tracer with an upwind scheme and a van Leer limiter; the total
// tracer is conserved because every face flux is used on both sides.
#include "../include/grid.cuh"

#include <cmath>
#include <cstdlib>

__host__ __device__ inline double limited(double before, double centre, double after)
{
    const double a = centre - before, b = after - centre;
    return a * b > 0.0 ? 2.0 * a * b / (a + b) : 0.0;  // van Leer's harmonic slope
}

// Flux through the face between cells i and i + step, with face velocity v and Courant number c.
__host__ __device__ inline double faceFlux(const double* q, int i, int step, double v, double c, bool first, bool last)
{
    if (v >= 0.0) {
        const double slope = first ? 0.0 : limited(q[i - step], q[i], q[i + step]);
        return v * (q[i] + 0.5 * (1.0 - c * v) * slope);
    }
    const double slope = last ? 0.0 : limited(q[i], q[i + step], q[i + 2 * step]);
    return v * (q[i + step] - 0.5 * (1.0 + c * v) * slope);
}

// Solid-body rotation about the centre, no flow through the walls.
__host__ __device__ inline double moved(const GridShape& s, const double* q, int x, int y, double courant, bool alongX)
{
    const int at = alongX ? x : y, step = alongX ? 1 : s.side(), i = s.at(x, y), n = s.inner;
    const double across = ((alongX ? y : x) - 0.5 * (n + 1)) / n;
    const double v = alongX ? -2.0 * across : 2.0 * across;
    const double out = at < n ? faceFlux(q, i, step, v, courant, at == 1, at == n - 1) : 0.0;
    const double in = at > 1 ? faceFlux(q, i - step, step, v, courant, at == 2, at == n) : 0.0;
    return q[i] - courant * (out - in);
}

template <bool kAlongX>
__global__ void advect(GridShape s, const double* q, double* out, double courant)
{
    int x, y;
    if (innerCell(s, x, y))
        out[s.at(x, y)] = moved(s, q, x, y, courant, kAlongX);
}

int main(int argc, char** argv)
{
    const int inner = argc > 1 ? atoi(argv[1]) : 40;
    const int steps = argc > 2 ? atoi(argv[2]) : 12;
    if (inner < 4 || steps < 1)
        return 2;
    const GridShape s = unitSquare(inner);
    const double courant = 0.4;
    std::vector<double> cpu(s.cells(), 0.0), other(s.cells(), 0.0);
    double before = 0.0;
    for (int y = 1; y <= inner; ++y)
        for (int x = 1; x <= inner; ++x) {
            const double dx = (x - 0.3 * inner) / inner, dy = (y - 0.55 * inner) / inner;
            before += cpu[s.at(x, y)] = exp(-60.0 * (dx * dx + dy * dy));
        }
    Field a(s), b(s);
    a.upload(cpu);
    for (int step = 0; step < steps; ++step) {
        advect<true><<<gridTiles(s), gridBlock()>>>(s, a.get(), b.get(), courant);
        advect<false><<<gridTiles(s), gridBlock()>>>(s, b.get(), a.get(), courant);
    }
    GRID_CHECK(cudaGetLastError());
    const std::vector<double> gpu = a.download();

    for (int step = 0; step < 2 * steps; ++step) {
        for (int y = 1; y <= inner; ++y)
            for (int x = 1; x <= inner; ++x)
                other[s.at(x, y)] = moved(s, cpu.data(), x, y, courant, step % 2 == 0);
        cpu.swap(other);
    }
    double after = 0.0, worst = 0.0, peak = 0.0, cx = 0.0, cy = 0.0;
    for (int y = 1; y <= inner; ++y)
        for (int x = 1; x <= inner; ++x) {
            const double q = gpu[s.at(x, y)];
            after += q;
            cx += q * x;
            cy += q * y;
            peak = fmax(peak, q);
            worst = fmax(worst, fabs(q - cpu[s.at(x, y)]));
        }
    const bool ok = worst < 1e-10 && fabs(after - before) < 1e-10 * before;
    printf("grid %dx%d, %d steps\n", inner, inner, steps);
    printf("tracer %.6f, peak %.6f, centre of mass (%.4f, %.4f)\n", after, peak, cx / after, cy / after);
    printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    return ok ? 0 : 1;
}
