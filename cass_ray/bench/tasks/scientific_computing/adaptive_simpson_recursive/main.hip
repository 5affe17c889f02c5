// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Adaptive Simpson quadrature with device recursion, an enlarged stack, and integrands from a
// table of function pointers.
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
static T* to_device(const std::vector<T>& values)
{
    T* memory = nullptr;
    HIP_CHECK(hipMalloc(&memory, (values.empty() ? 1 : values.size()) * sizeof(T)));
    HIP_CHECK(hipMemcpy(memory, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice));
    return memory;
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

typedef double (*Integrand)(double);

__device__ double oscillating(double x) { return sin(3.0 * x) * exp(-0.3 * x); }
__device__ double peaked(double x) { return 1.0 / (0.02 + (x - 1.0) * (x - 1.0)); }
__device__ double rooted(double x) { return sqrt(fabs(x) + 0.001); }
__device__ double steps(double x) { return atan(8.0 * (x - 0.6)) + x; }

__device__ Integrand integrands[4] = {oscillating, peaked, rooted, steps};

struct Tally {
    int calls, deepest;
};

__device__ double refine(Integrand f, double a, double b, double fa, double fm, double fb, double whole,
                         double tolerance, int depth, Tally& tally)
{
    ++tally.calls;
    tally.deepest = max(tally.deepest, depth);
    const double m = 0.5 * (a + b);
    const double left = f(0.5 * (a + m)), right = f(0.5 * (m + b));
    const double first = (m - a) / 6.0 * (fa + 4.0 * left + fm);
    const double second = (b - m) / 6.0 * (fm + 4.0 * right + fb);
    const double difference = first + second - whole;
    if (depth >= 12 || fabs(difference) < 15.0 * tolerance)
        return first + second + difference / 15.0;
    return refine(f, a, m, fa, left, fm, first, 0.5 * tolerance, depth + 1, tally) +
           refine(f, m, b, fm, right, fb, second, 0.5 * tolerance, depth + 1, tally);
}

__global__ void integrate(const double* from, const double* to, double* areas, int* calls, int* depths, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const Integrand f = integrands[i % 4];
    const double a = from[i], b = to[i];
    const double fa = f(a), fb = f(b), fm = f(0.5 * (a + b));
    Tally tally = {0, 0};
    areas[i] = refine(f, a, b, fa, fm, fb, (b - a) / 6.0 * (fa + 4.0 * fm + fb), 1e-7, 0, tally);
    calls[i] = tally.calls;
    depths[i] = tally.deepest;
}

static double hostIntegrand(int k, double x)
{
    if (k == 0)
        return sin(3.0 * x) * exp(-0.3 * x);
    if (k == 1)
        return 1.0 / (0.02 + (x - 1.0) * (x - 1.0));
    if (k == 2)
        return sqrt(fabs(x) + 0.001);
    return atan(8.0 * (x - 0.6)) + x;
}

int main(int argc, char** argv)
{
    const int n = int_arg(argc, argv, 1, 48);
    Random random((unsigned)int_arg(argc, argv, 2, 1));
    if (n < 1)
        return 2;
    HIP_CHECK(hipDeviceSetLimit(hipLimitStackSize, 8192));
    std::vector<double> from(n), to(n);
    for (int i = 0; i < n; ++i) {
        from[i] = -(double)random.below(100) / 64.0;
        to[i] = (64 + random.below(128)) / 64.0;
    }
    double* dFrom = to_device(from);
    double* dTo = to_device(to);
    double* dAreas = device_zeros<double>(n);
    int* dCalls = device_zeros<int>(n);
    int* dDepths = device_zeros<int>(n);
    integrate<<<(n + 31) / 32, 32>>>(dFrom, dTo, dAreas, dCalls, dDepths, n);
    HIP_CHECK(hipGetLastError());
    HIP_CHECK(hipDeviceSynchronize());
    const std::vector<double> areas = to_host(dAreas, n);
    const std::vector<int> calls = to_host(dCalls, n), depths = to_host(dDepths, n);
    double worst = 0, sums[4] = {};
    int called[4] = {}, deepest[4] = {};
    for (int i = 0; i < n; ++i) {
        double expected = 0;
        const int pieces = 4000;
        const double h = (to[i] - from[i]) / pieces;
        for (int p = 0; p < pieces; ++p)
            expected += h / 6.0 * (hostIntegrand(i % 4, from[i] + p * h) +
                                   4.0 * hostIntegrand(i % 4, from[i] + (p + 0.5) * h) +
                                   hostIntegrand(i % 4, from[i] + (p + 1) * h));
        worst = std::max(worst, fabs(expected - areas[i]));
        sums[i % 4] += areas[i] * (1 + i % 7);
        called[i % 4] += calls[i];
        deepest[i % 4] = std::max(deepest[i % 4], depths[i]);
    }
    static const char* const names[4] = {"oscillating", "peaked", "rooted", "steps"};
    for (int k = 0; k < 4; ++k)
        printf("%s: area %.6f, calls %d, deepest %d\n", names[k], sums[k], called[k], deepest[k]);
    show_real("areas", areas, 8);
    return finish(worst < 1e-5);
}
