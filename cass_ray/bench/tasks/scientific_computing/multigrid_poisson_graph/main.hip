// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Multigrid V-cycles for the one-dimensional Poisson equation, captured once in a HIP graph
// and launched until converged.
#include <hip/hip_runtime.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define HIP_CHECK(call)                                                                  \
    do {                                                                             \
        const hipError_t status_ = (call);                                          \
        if (status_ != hipSuccess) {                                                \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(status_)); \
            exit(2);                                                                 \
        }                                                                            \
    } while (0)

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

static int int_arg(int argc, char** argv, int index, int fallback)
{
    return argc > index ? atoi(argv[index]) : fallback;
}

template <typename T>
static T* device_zeros(size_t count)
{
    T* memory = nullptr;
    HIP_CHECK(hipMalloc(&memory, count * sizeof(T)));
    HIP_CHECK(hipMemset(memory, 0, count * sizeof(T)));
    return memory;
}

template <typename T>
static std::vector<T> to_host(const T* memory, size_t count)
{
    std::vector<T> values(count);
    HIP_CHECK(hipMemcpy(values.data(), memory, count * sizeof(T), hipMemcpyDeviceToHost));
    return values;
}

template <typename T>
static void show_real(const char* label, const std::vector<T>& values, size_t count = 8)
{
    printf("%s:", label);
    const size_t step = values.size() > count ? values.size() / count : 1;
    for (size_t i = 0; i < values.size(); i += step)
        printf(" %.5f", (double)values[i] == 0.0 ? 0.0 : (double)values[i]);
    printf("\n");
}

static int finish(bool right)
{
    HIP_CHECK(hipDeviceSynchronize());
    printf("verify: %s\n", right ? "OK" : "MISMATCH");
    return right ? 0 : 1;
}

__global__ void smooth(const double* u, const double* f, double* out, int n, double h2)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > n)
        return;
    if (i == 0 || i == n) {
        out[i] = 0.0;
        return;
    }
    const double jacobi = 0.5 * (u[i - 1] + u[i + 1] + h2 * f[i]);
    out[i] = u[i] + (2.0 / 3.0) * (jacobi - u[i]);
}

__global__ void restrictResidual(const double* u, const double* f, double* coarse, int n, double h2)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > n / 2)
        return;
    if (i == 0 || i == n / 2) {
        coarse[i] = 0.0;
        return;
    }
    double sum = 0.0;
    for (int k = -1; k <= 1; ++k) {
        const int j = 2 * i + k;
        const double residual = f[j] - (2.0 * u[j] - u[j - 1] - u[j + 1]) / h2;
        sum += (k == 0 ? 0.5 : 0.25) * residual;
    }
    coarse[i] = sum;
}

__global__ void prolongAndAdd(const double* coarse, double* u, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n)
        u[i] += i % 2 == 0 ? coarse[i / 2] : 0.5 * (coarse[i / 2] + coarse[i / 2 + 1]);
}

__global__ void fill(double* u, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n)
        u[i] = 0.0;
}

struct Level {
    int n;
    double h2;
    double *u, *f, *scratch;
};

static const int kThreads = 64;
static int blocks(int n) { return (n + kThreads) / kThreads; }

static void vCycle(const std::vector<Level>& levels, size_t at, hipStream_t stream)
{
    const Level& l = levels[at];
    const int sweeps = at + 1 == levels.size() ? 20 : 2;
    for (int s = 0; s < sweeps; ++s) {
        smooth<<<blocks(l.n), kThreads, 0, stream>>>(l.u, l.f, l.scratch, l.n, l.h2);
        smooth<<<blocks(l.n), kThreads, 0, stream>>>(l.scratch, l.f, l.u, l.n, l.h2);
    }
    if (at + 1 == levels.size())
        return;
    const Level& c = levels[at + 1];
    restrictResidual<<<blocks(c.n), kThreads, 0, stream>>>(l.u, l.f, c.f, l.n, l.h2);
    fill<<<blocks(c.n), kThreads, 0, stream>>>(c.u, c.n);
    vCycle(levels, at + 1, stream);
    prolongAndAdd<<<blocks(l.n), kThreads, 0, stream>>>(c.u, l.u, l.n);
    smooth<<<blocks(l.n), kThreads, 0, stream>>>(l.u, l.f, l.scratch, l.n, l.h2);
    smooth<<<blocks(l.n), kThreads, 0, stream>>>(l.scratch, l.f, l.u, l.n, l.h2);
}

int main(int argc, char** argv)
{
    const int power = int_arg(argc, argv, 1, 7);
    Random random((unsigned)int_arg(argc, argv, 2, 1));
    if (power < 3 || power > 10)
        return 2;
    std::vector<Level> levels;
    for (int k = power; k >= 2; --k) {
        Level l;
        l.n = 1 << k;
        l.h2 = 1.0 / ((double)l.n * l.n);
        l.u = device_zeros<double>(l.n + 1);
        l.f = device_zeros<double>(l.n + 1);
        l.scratch = device_zeros<double>(l.n + 1);
        levels.push_back(l);
    }
    const int n = 1 << power;
    std::vector<double> f(n + 1, 0.0);
    for (int i = 1; i < n; ++i)
        f[i] = random.below(2001) / 100.0 - 5.0;
    HIP_CHECK(hipMemcpy(levels[0].f, f.data(), (n + 1) * sizeof(double), hipMemcpyHostToDevice));
    hipStream_t stream;
    HIP_CHECK(hipStreamCreate(&stream));
    hipGraph_t graph;
    hipGraphExec_t exec;
    HIP_CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
    vCycle(levels, 0, stream);
    HIP_CHECK(hipStreamEndCapture(stream, &graph));
    HIP_CHECK(hipGraphInstantiateWithFlags(&exec, graph, 0));
    size_t nodes = 0;
    HIP_CHECK(hipGraphGetNodes(graph, nullptr, &nodes));
    printf("levels %zu, graph nodes %zu\n", levels.size(), nodes);
    // The exact solution of the difference equations, by elimination.
    std::vector<double> exact(n + 1, 0.0), c(n + 1, 0.0), d(n + 1, 0.0);
    for (int i = 1; i < n; ++i) {
        const double m = 2.0 - (i > 1 ? c[i - 1] : 0.0);
        c[i] = 1.0 / m;
        d[i] = (f[i] * levels[0].h2 + (i > 1 ? d[i - 1] : 0.0)) / m;
    }
    for (int i = n - 1; i > 0; --i)
        exact[i] = d[i] + c[i] * exact[i + 1];
    double error = 0;
    for (int cycle = 1; cycle <= 12; ++cycle) {
        HIP_CHECK(hipGraphLaunch(exec, stream));
        HIP_CHECK(hipStreamSynchronize(stream));
        const std::vector<double> u = to_host(levels[0].u, n + 1);
        error = 0;
        for (int i = 0; i <= n; ++i)
            error = std::max(error, fabs(u[i] - exact[i]));
        if (cycle <= 3)
            printf("cycle %d: error %.8f\n", cycle, error);
    }
    const std::vector<double> u = to_host(levels[0].u, n + 1);
    double sum = 0, weighted = 0;
    for (int i = 0; i <= n; ++i) {
        sum += u[i];
        weighted += u[i] * (i % 11);
    }
    printf("sum %.8f weighted %.8f converged %s\n", sum, weighted, error < 1e-9 ? "yes" : "no");
    show_real("u", u, 10);
    HIP_CHECK(hipGraphExecDestroy(exec));
    HIP_CHECK(hipGraphDestroy(graph));
    HIP_CHECK(hipStreamDestroy(stream));
    return finish(error < 1e-9);
}
