// SPDX-License-Identifier: MIT
// Ensembles of ordinary differential equations integrated with classical Runge-Kutta in double
// precision. The right-hand side is a functor template: predator-prey and damped pendulum.
#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void require(cudaError_t e, int line)
{
    if (e != cudaSuccess) {
        fprintf(stderr, "runge_kutta_ensemble: %s (line %d)\n", cudaGetErrorString(e), line);
        exit(2);
    }
}
#define REQUIRE(call) require((call), __LINE__)

struct PredatorPrey {
    double growth, predation;
    __host__ __device__ double2 operator()(double, double2 y) const
    {
        return make_double2(growth * y.x - predation * y.x * y.y, 0.1 * y.x * y.y - 0.4 * y.y);
    }
};

struct Pendulum {
    double damping, drive;
    __host__ __device__ double2 operator()(double t, double2 y) const
    {
        return make_double2(y.y, -sin(y.x) - damping * y.y + drive * cos(0.5 * t));
    }
};

__host__ __device__ inline double2 axpy(double s, double2 a, double2 b) { return make_double2(s * a.x + b.x, s * a.y + b.y); }

template <class System>
__host__ __device__ inline double2 integrate(const System& f, double2 y, int steps, double h)
{
    for (int i = 0; i < steps; ++i) {
        const double t = i * h;
        const double2 k1 = f(t, y);
        const double2 k2 = f(t + 0.5 * h, axpy(0.5 * h, k1, y));
        const double2 k3 = f(t + 0.5 * h, axpy(0.5 * h, k2, y));
        const double2 k4 = f(t + h, axpy(h, k3, y));
        y.x += h / 6.0 * (k1.x + 2.0 * (k2.x + k3.x) + k4.x);
        y.y += h / 6.0 * (k1.y + 2.0 * (k2.y + k3.y) + k4.y);
    }
    return y;
}

template <class System>
__global__ void integrateAll(const System* systems, const double2* start, double2* finish, int n, int steps, double h)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        finish[i] = integrate(systems[i], start[i], steps, h);
}

template <class System>
bool runEnsemble(const char* name, const std::vector<System>& systems, const std::vector<double2>& start, int steps)
{
    const int n = (int)systems.size();
    const double h = 0.05;
    System* dSystems;
    double2 *dStart, *dFinish;
    REQUIRE(cudaMalloc(&dSystems, n * sizeof(System)));
    REQUIRE(cudaMalloc(&dStart, n * sizeof(double2)));
    REQUIRE(cudaMalloc(&dFinish, n * sizeof(double2)));
    REQUIRE(cudaMemcpy(dSystems, systems.data(), n * sizeof(System), cudaMemcpyHostToDevice));
    REQUIRE(cudaMemcpy(dStart, start.data(), n * sizeof(double2), cudaMemcpyHostToDevice));
    integrateAll<<<(n + 63) / 64, 64>>>(dSystems, dStart, dFinish, n, steps, h);
    REQUIRE(cudaGetLastError());
    std::vector<double2> finish(n);
    REQUIRE(cudaMemcpy(finish.data(), dFinish, n * sizeof(double2), cudaMemcpyDeviceToHost));
    REQUIRE(cudaFree(dSystems));
    REQUIRE(cudaFree(dStart));
    REQUIRE(cudaFree(dFinish));
    double worst = 0.0, mean[2] = {0.0, 0.0};
    for (int i = 0; i < n; ++i) {
        const double2 e = integrate(systems[i], start[i], steps, h);
        worst = fmax(worst, fmax(fabs(e.x - finish[i].x), fabs(e.y - finish[i].y)));
        mean[0] += finish[i].x / n;
        mean[1] += finish[i].y / n;
    }
    printf("%-13s mean state %.6f %.6f, member 0 %.6f %.6f\n", name, mean[0], mean[1], finish[0].x, finish[0].y);
    return worst < 1e-8;
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 256;
    const int steps = argc > 2 ? atoi(argv[2]) : 60;
    unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 72u;
    if (n < 1 || steps < 1)
        return 2;
    auto uniform = [&seed]() {
        seed = seed * 1664525u + 1013904223u;
        return (double)(seed >> 8) / 16777216.0;
    };
    std::vector<PredatorPrey> prey(n);
    std::vector<Pendulum> pendulum(n);
    std::vector<double2> preyStart(n), pendulumStart(n);
    for (int i = 0; i < n; ++i) {
        prey[i].growth = 0.8 + 0.4 * uniform();
        prey[i].predation = 0.3 + 0.2 * uniform();
        preyStart[i].x = 2.0 + uniform();
        preyStart[i].y = 1.0 + uniform();
        pendulum[i].damping = 0.2 + 0.3 * uniform();
        pendulum[i].drive = 0.3 * uniform();
        pendulumStart[i].x = uniform() - 0.5;
        pendulumStart[i].y = 0.0;
    }
    bool ok = runEnsemble("predator-prey", prey, preyStart, steps);
    ok = runEnsemble("pendulum", pendulum, pendulumStart, steps) && ok;
    printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    return ok ? 0 : 1;
}
