// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Ensemble of double pendulums integrated by a fourth-order Runge-Kutta scheme with an energy
// check.
#include <cuda_runtime.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(expression)                                                        \
    if (cudaError_t failure = (expression); failure != cudaSuccess) {            \
        fprintf(stderr, "error %d (%s) in line %d\n", (int)failure,              \
                cudaGetErrorName(failure), __LINE__);                            \
        exit(2);                                                                 \
    }

struct Random {
    unsigned counter;
    explicit Random(unsigned seed) : counter(seed * 7919u) {}
    unsigned next()
    {
        unsigned z = counter += 0x9e3779b9u;
        z = (z ^ (z >> 16)) * 0x21f0aaadu;
        z = (z ^ (z >> 15)) * 0x735a2d97u;
        return z ^ (z >> 15);
    }
    unsigned below(unsigned bound) { return (unsigned)(((unsigned long long)next() * bound) >> 32); }
};

static int argument(int argc, char** argv, int index, int fallback)
{
    return argc > index ? atoi(argv[index]) : fallback;
}

template <typename T>
static T* toDevice(const std::vector<T>& values)
{
    T* memory = nullptr;
    CHECK(cudaMalloc(&memory, (values.empty() ? 1 : values.size()) * sizeof(T)));
    CHECK(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return memory;
}

template <typename T>
static T* zeros(size_t count)
{
    T* memory = nullptr;
    CHECK(cudaMalloc(&memory, count * sizeof(T)));
    CHECK(cudaMemset(memory, 0, count * sizeof(T)));
    return memory;
}

template <typename T>
static std::vector<T> toHost(const T* memory, size_t count)
{
    std::vector<T> values(count);
    CHECK(cudaMemcpy(values.data(), memory, count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
}

static int finish(bool right)
{
    CHECK(cudaDeviceSynchronize());
    printf("verify: %s\n", right ? "OK" : "MISMATCH");
    return right ? 0 : 1;
}

struct State {
    double angle1, angle2, speed1, speed2;
};

__host__ __device__ inline State operator+(const State& a, const State& b)
{
    return {a.angle1 + b.angle1, a.angle2 + b.angle2, a.speed1 + b.speed1, a.speed2 + b.speed2};
}

__host__ __device__ inline State operator*(double k, const State& s)
{
    return {k * s.angle1, k * s.angle2, k * s.speed1, k * s.speed2};
}

__host__ __device__ inline State derivative(const State& s, double ratio)
{
    const double g = 9.81;
    const double delta = s.angle1 - s.angle2;
    const double c = cos(delta), sine = sin(delta);
    const double denominator = 1.0 + ratio * sine * sine;
    State d;
    d.angle1 = s.speed1;
    d.angle2 = s.speed2;
    d.speed1 = (-ratio * sine * (s.speed1 * s.speed1 * c + s.speed2 * s.speed2) -
                g * ((1.0 + ratio) * sin(s.angle1) - ratio * sin(s.angle2) * c)) / denominator;
    d.speed2 = ((1.0 + ratio) * (s.speed1 * s.speed1 * sine - g * sin(s.angle2) + g * sin(s.angle1) * c) +
                ratio * s.speed2 * s.speed2 * sine * c) / denominator;
    return d;
}

__host__ __device__ inline State rungeKutta(const State& s, double ratio, double h)
{
    const State k1 = derivative(s, ratio);
    const State k2 = derivative(s + 0.5 * h * k1, ratio);
    const State k3 = derivative(s + 0.5 * h * k2, ratio);
    const State k4 = derivative(s + h * k3, ratio);
    return s + (h / 6.0) * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
}

__host__ __device__ inline double energy(const State& s, double ratio)
{
    const double g = 9.81;
    return 0.5 * s.speed1 * s.speed1 +
           0.5 * ratio * (s.speed1 * s.speed1 + s.speed2 * s.speed2 +
                          2.0 * s.speed1 * s.speed2 * cos(s.angle1 - s.angle2)) -
           g * (1.0 + ratio) * cos(s.angle1) - ratio * g * cos(s.angle2);
}

__global__ void integrate(State* states, const double* ratios, double* drift, int n, int steps, double h)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    State s = states[i];
    const double before = energy(s, ratios[i]);
    for (int k = 0; k < steps; ++k)
        s = rungeKutta(s, ratios[i], h);
    states[i] = s;
    drift[i] = fabs(energy(s, ratios[i]) - before);
}

int main(int argc, char** argv)
{
    const int n = argument(argc, argv, 1, 130);
    const int steps = argument(argc, argv, 2, 100);
    Random random((unsigned)argument(argc, argv, 3, 1));
    if (n < 1 || steps < 1)
        return 2;
    const double h = 0.002;
    std::vector<State> start(n);
    std::vector<double> ratios(n);
    for (int i = 0; i < n; ++i) {
        start[i].angle1 = 0.2 + random.below(1000) * 0.001;
        start[i].angle2 = 0.1 + random.below(1000) * 0.0012;
        start[i].speed1 = random.below(100) * 0.01;
        start[i].speed2 = 0.0;
        ratios[i] = 0.5 + random.below(100) * 0.01;
    }
    State* dStates = toDevice(start);
    double* dRatios = toDevice(ratios);
    double* dDrift = zeros<double>(n);
    integrate<<<(n + 63) / 64, 64>>>(dStates, dRatios, dDrift, n, steps, h);
    CHECK(cudaGetLastError());
    const std::vector<State> end = toHost(dStates, n);
    const std::vector<double> drift = toHost(dDrift, n);
    double worst = 0, largestDrift = 0, sums[4] = {};
    for (int i = 0; i < n; ++i) {
        largestDrift = std::max(largestDrift, drift[i]);
        sums[0] += end[i].angle1 * (1 + i % 3);
        sums[1] += end[i].angle2 * (1 + i % 4);
        sums[2] += end[i].speed1 * (1 + i % 5);
        sums[3] += end[i].speed2 * (1 + i % 6);
        if (i % 8 == 0) {
            State s = start[i];
            for (int k = 0; k < steps; ++k)
                s = rungeKutta(s, ratios[i], h);
            worst = std::max(worst, fabs(s.angle1 - end[i].angle1) + fabs(s.speed2 - end[i].speed2));
        }
    }
    printf("pendulums %d, steps %d, energy kept: %s\n", n, steps, largestDrift < 1e-4 ? "yes" : "no");
    printf("sums: %.6f %.6f %.6f %.6f\n", sums[0], sums[1], sums[2], sums[3]);
    for (int i = 0; i < n; i += n / 5 + 1)
        printf("%3d: angles %.6f %.6f speeds %.6f %.6f\n", i, end[i].angle1, end[i].angle2, end[i].speed1,
               end[i].speed2);
    return finish(worst < 1e-7);
}
