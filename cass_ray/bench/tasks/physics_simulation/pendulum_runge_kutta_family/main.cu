// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void checkCuda(cudaError_t code, const char* what, int line) {
    if (code != cudaSuccess) {
        fprintf(stderr, "line %d: %s failed: %s\n", line, what, cudaGetErrorString(code));
        exit(2);
    }
}
#define checkCudaErrors(expr) checkCuda((expr), #expr, __LINE__)

template <int N>
struct State {
    double v[N];
};
template <int N>
__device__ State<N> along(const State<N>& s, const State<N>& d, double h)
{
    State<N> r;
    for (int i = 0; i < N; ++i) r.v[i] = s.v[i] + h * d.v[i];
    return r;
}

struct Euler {
    template <int N, class Field>
    static __device__ State<N> step(const State<N>& s, double h, Field field) { return along(s, field(s), h); }
};
struct Midpoint {
    template <int N, class Field>
    static __device__ State<N> step(const State<N>& s, double h, Field field) { return along(s, field(along(s, field(s), 0.5 * h)), h); }
};
struct Classical {
    template <int N, class Field>
    static __device__ State<N> step(const State<N>& s, double h, Field field)
    {
        const State<N> a = field(s), b = field(along(s, a, 0.5 * h)), c = field(along(s, b, 0.5 * h)), d = field(along(s, c, h));
        State<N> sum;
        for (int i = 0; i < N; ++i) sum.v[i] = (a.v[i] + 2.0 * b.v[i] + 2.0 * c.v[i] + d.v[i]) / 6.0;
        return along(s, sum, h);
    }
};

__host__ __device__ inline double pendulumEnergy(const double* v)
{
    return v[2] * v[2] + 0.5 * v[3] * v[3] + v[2] * v[3] * cos(v[0] - v[1]) - 9.81 * (2.0 * cos(v[0]) + cos(v[1]));
}

// Equal masses and rods: angles in v[0], v[1], their rates in v[2], v[3].
template <class Method>
__global__ void pendulums(State<4>* states, int n, int steps, double h)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    auto field = [](const State<4>& s) {
        const double delta = s.v[0] - s.v[1], sine = sin(delta), cosine = cos(delta), below = 2.0 - cosine * cosine;
        State<4> d;
        d.v[0] = s.v[2];
        d.v[1] = s.v[3];
        d.v[2] = (-19.62 * sin(s.v[0]) - s.v[3] * s.v[3] * sine - cosine * (s.v[2] * s.v[2] * sine - 9.81 * sin(s.v[1]))) / below;
        d.v[3] = (2.0 * (s.v[2] * s.v[2] * sine - 9.81 * sin(s.v[1])) + cosine * (s.v[3] * s.v[3] * sine + 19.62 * sin(s.v[0]))) / below;
        return d;
    };
    State<4> s = states[i];
    for (int k = 0; k < steps; ++k) s = Method::template step<4>(s, h, field);
    states[i] = s;
}

template <class Method>
__global__ void oscillators(State<2>* states, int n, int steps, double h, double damping)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    State<2> s = states[i];
    for (int k = 0; k < steps; ++k)
        s = Method::template step<2>(s, h, [=](const State<2>& at) {
            State<2> d;
            d.v[0] = at.v[1];
            d.v[1] = -4.0 * at.v[0] - damping * at.v[1];
            return d;
        });
    states[i] = s;
}

template <class Method>
static double run(const char* name, const std::vector<State<4>>& start, int steps)
{
    const int n = (int)start.size();
    State<4>* d4;
    State<2>* d2;
    std::vector<State<2>> two(n);
    std::vector<State<4>> four(n);
    for (int i = 0; i < n; ++i) {
        two[i].v[0] = start[i].v[0];
        two[i].v[1] = start[i].v[3];
    }
    checkCudaErrors(cudaMalloc(&d4, n * sizeof(State<4>)));
    checkCudaErrors(cudaMalloc(&d2, n * sizeof(State<2>)));
    checkCudaErrors(cudaMemcpy(d4, start.data(), n * sizeof(State<4>), cudaMemcpyHostToDevice));
    checkCudaErrors(cudaMemcpy(d2, two.data(), n * sizeof(State<2>), cudaMemcpyHostToDevice));
    pendulums<Method><<<(n + 63) / 64, 64>>>(d4, n, steps, 0.004);
    oscillators<Method><<<(n + 63) / 64, 64>>>(d2, n, steps, 0.01, 0.3);
    checkCudaErrors(cudaGetLastError());
    checkCudaErrors(cudaMemcpy(four.data(), d4, n * sizeof(State<4>), cudaMemcpyDeviceToHost));
    checkCudaErrors(cudaMemcpy(two.data(), d2, n * sizeof(State<2>), cudaMemcpyDeviceToHost));
    double worst = 0.0, angles = 0.0, positions = 0.0;
    for (int i = 0; i < n; ++i) {
        worst = fmax(worst, fabs(pendulumEnergy(four[i].v) - pendulumEnergy(start[i].v)));
        angles += (four[i].v[0] + 2.0 * four[i].v[1]) * (i % 3 + 1);
        positions += two[i].v[0] * two[i].v[0] + two[i].v[1] * two[i].v[1];
    }
    printf("%-9s angles %.7f oscillators %.7f first %.7f %.7f\n", name, angles, positions, four[0].v[0], two[0].v[1]);
    checkCudaErrors(cudaFree(d4));
    checkCudaErrors(cudaFree(d2));
    return worst;
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 200, steps = argc > 2 ? atoi(argv[2]) : 50;
    unsigned s = argc > 3 ? (unsigned)atoi(argv[3]) : 8u;
    if (n < 1 || steps < 1) return 1;
    std::vector<State<4>> start(n);
    for (State<4>& st : start)
        for (double& v : st.v) {
            s = s * 1664525u + 1013904223u;
            v = (double)(s >> 16) / 32768.0 - 1.0;
        }
    const double euler = run<Euler>("euler", start, steps);
    const double midpoint = run<Midpoint>("midpoint", start, steps);
    const double classical = run<Classical>("classical", start, steps);
    const bool ok = classical < 1e-6 && classical < midpoint && midpoint < euler;
    printf("energy errors in order: %s\n", ok ? "yes" : "no");
    return ok ? 0 : 1;
}
