// SPDX-License-Identifier: MIT
// Geometric multigrid V-cycles for the Poisson equation: damped Jacobi smoothing, full-weighting
// restriction and bilinear interpolation on a hierarchy of grids.
#include "../include/norms.cuh"

__global__ void smooth(GridShape s, const double* u, const double* f, double* out)
{
    int x, y;
    if (innerCell(s, x, y)) {
        const int i = s.at(x, y);
        out[i] = u[i] + 0.8 * 0.25 * s.spacing * s.spacing * poissonResidual(s, u, f, x, y);
    }
}

__global__ void residualField(GridShape s, const double* u, const double* f, double* r)
{
    int x, y;
    if (innerCell(s, x, y))
        r[s.at(x, y)] = poissonResidual(s, u, f, x, y);
}

__global__ void restrictField(GridShape fine, const double* r, GridShape coarse, double* f)
{
    int x, y;
    if (!innerCell(coarse, x, y))
        return;
    double sum = 0.0;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
            sum += (2 - (dx != 0)) * (2 - (dy != 0)) * r[fine.at(2 * x + dx, 2 * y + dy)];
    f[coarse.at(x, y)] = sum / 16.0;
}

__global__ void interpolateAdd(GridShape coarse, const double* correction, GridShape fine, double* u)
{
    int x, y;
    if (!innerCell(fine, x, y))
        return;
    const int cx = x / 2, cy = y / 2, ox = x & 1, oy = y & 1;
    u[fine.at(x, y)] += 0.25 * (correction[coarse.at(cx, cy)] + correction[coarse.at(cx + ox, cy)] +
                                correction[coarse.at(cx, cy + oy)] + correction[coarse.at(cx + ox, cy + oy)]);
}

struct Level {
    GridShape shape;
    Field u, f, scratch;
    explicit Level(const GridShape& s) : shape(s), u(s), f(s), scratch(s) {}
    Level(Level&&) = default;
};

static void smoothTwice(Level& l, int pairs)
{
    for (int i = 0; i < pairs; ++i) {
        smooth<<<gridTiles(l.shape), gridBlock()>>>(l.shape, l.u.get(), l.f.get(), l.scratch.get());
        smooth<<<gridTiles(l.shape), gridBlock()>>>(l.shape, l.scratch.get(), l.f.get(), l.u.get());
    }
}

static void cycle(std::vector<Level>& levels, size_t k)
{
    Level& l = levels[k];
    if (k + 1 == levels.size()) {
        smoothTwice(l, 8);
        return;
    }
    Level& c = levels[k + 1];
    smoothTwice(l, 1);
    residualField<<<gridTiles(l.shape), gridBlock()>>>(l.shape, l.u.get(), l.f.get(), l.scratch.get());
    restrictField<<<gridTiles(c.shape), gridBlock()>>>(l.shape, l.scratch.get(), c.shape, c.f.get());
    GRID_CHECK(cudaMemset(c.u.get(), 0, c.u.bytes()));
    cycle(levels, k + 1);
    interpolateAdd<<<gridTiles(l.shape), gridBlock()>>>(c.shape, c.u.get(), l.shape, l.u.get());
    smoothTwice(l, 1);
}

int main(int argc, char** argv)
{
    const int depth = argc > 1 ? atoi(argv[1]) : 5;
    const int cycles = argc > 2 ? atoi(argv[2]) : 4;
    if (depth < 2 || depth > 8 || cycles < 1)
        return 2;
    std::vector<Level> levels;
    for (int d = depth; d >= 1; --d)
        levels.emplace_back(unitSquare((1 << d) - 1));
    const GridShape s = levels[0].shape;
    std::vector<double> f(s.cells(), 0.0);
    unsigned seed = 5u;
    for (int y = 1; y <= s.inner; ++y)
        for (int x = 1; x <= s.inner; ++x) {
            seed = seed * 1664525u + 1013904223u;
            f[s.at(x, y)] = 10.0 * (x * s.spacing - 0.5) + (double)(seed >> 8) / 16777216.0;
        }
    levels[0].f.upload(f);
    const double start = residualNorm(s, levels[0].u, levels[0].f);
    double last = start;
    printf("grid %dx%d on %d levels, residual %.4e\n", s.inner, s.inner, (int)levels.size(), start);
    bool ok = true;
    for (int c = 0; c < cycles; ++c) {
        cycle(levels, 0);
        GRID_CHECK(cudaGetLastError());
        const double now = residualNorm(s, levels[0].u, levels[0].f);
        printf("cycle %d: reduction %.3f\n", c + 1, now / last);
        ok = ok && now < 0.35 * last;
        last = now;
    }
    // Host check of the residual.
    const std::vector<double> u = levels[0].u.download();
    double sum = 0.0, peak = 0.0;
    for (int y = 1; y <= s.inner; ++y)
        for (int x = 1; x <= s.inner; ++x) {
            const double r = poissonResidual(s, u.data(), f.data(), x, y);
            sum += r * r;
            peak = fmax(peak, fabs(u[s.at(x, y)]));
        }
    ok = ok && fabs(sqrt(sum) * s.spacing - last) < 1e-8 * start;
    printf("peak of the solution %.6f\n", peak);
    printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    return ok ? 0 : 1;
}
