// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Population models chosen through device function pointers and integrators chosen by
// template, with lambdas for the stages.
#include <hip/hip_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void stopOnError(hipError_t status, const char* what, int line)
{
    if (status == hipSuccess)
        return;
    fprintf(stderr, "line %d: %s failed: %s\n", line, what, hipGetErrorString(status));
    exit(2);
}
#define TRY(call) stopOnError((call), #call, __LINE__)

struct Random {
    unsigned x;
    explicit Random(unsigned seed) : x(seed ^ 0x9e3779b9u)
    {
        if (x == 0)
            x = 1;
    }
    unsigned next()
    {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        return x * 0x2545f491u;
    }
    unsigned below(unsigned bound) { return (next() >> 4) % bound; }
};

static int argument(int argc, char** argv, int index, int fallback)
{
    return argc > index ? atoi(argv[index]) : fallback;
}

template <typename T>
static T* copyIn(const std::vector<T>& values)
{
    T* memory = nullptr;
    TRY(hipMalloc(&memory, (values.empty() ? 1 : values.size()) * sizeof(T)));
    TRY(hipMemcpy(memory, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice));
    return memory;
}

template <typename T>
static T* cleared(size_t count)
{
    T* memory = nullptr;
    TRY(hipMalloc(&memory, count * sizeof(T)));
    TRY(hipMemset(memory, 0, count * sizeof(T)));
    return memory;
}

template <typename T>
static std::vector<T> copyOut(const T* memory, size_t count)
{
    std::vector<T> values(count);
    TRY(hipMemcpy(values.data(), memory, count * sizeof(T), hipMemcpyDeviceToHost));
    return values;
}

static int conclude(bool right)
{
    TRY(hipDeviceSynchronize());
    printf("verify: %s\n", right ? "OK" : "MISMATCH");
    return right ? 0 : 1;
}

struct Populations {
    double prey, predator;
};

typedef Populations (*Model)(Populations, double);

__device__ Populations lotkaVolterra(Populations p, double a)
{
    return {p.prey * (1.0 - 0.5 * p.predator), p.predator * (a * p.prey - 0.75)};
}

__device__ Populations saturating(Populations p, double a)
{
    const double eaten = p.prey * p.predator / (1.0 + a * p.prey);
    return {p.prey * (1.0 - 0.1 * p.prey) - eaten, 0.5 * eaten - 0.3 * p.predator};
}

__device__ Populations competing(Populations p, double a)
{
    return {p.prey * (1.0 - 0.2 * p.prey - a * 0.1 * p.predator),
            p.predator * (0.8 - 0.15 * p.predator - 0.05 * p.prey)};
}

__device__ Model modelLotkaVolterra = lotkaVolterra;
__device__ Model modelSaturating = saturating;
__device__ Model modelCompeting = competing;

template <int Order>
__device__ Populations step(Model model, Populations p, double a, double h)
{
    auto moved = [&](double k, Populations d) {
        return Populations{p.prey + k * h * d.prey, p.predator + k * h * d.predator};
    };
    const Populations k1 = model(p, a);
    if constexpr (Order == 1) {
        return moved(1.0, k1);
    } else if constexpr (Order == 2) {
        return moved(1.0, model(moved(0.5, k1), a));
    } else {
        const Populations k2 = model(moved(0.5, k1), a);
        const Populations k3 = model(moved(0.5, k2), a);
        const Populations k4 = model(moved(1.0, k3), a);
        auto blend = [](double x1, double x2, double x3, double x4) { return (x1 + 2.0 * (x2 + x3) + x4) / 6.0; };
        return moved(1.0, Populations{blend(k1.prey, k2.prey, k3.prey, k4.prey),
                                      blend(k1.predator, k2.predator, k3.predator, k4.predator)});
    }
}

template <int Order>
__global__ void simulate(Model model, const Populations* start, Populations* end, const double* parameters,
                         int* crossings, int n, int steps, double h)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Populations p = start[i];
    int crossed = 0;
    for (int s = 0; s < steps; ++s) {
        const bool before = p.prey > p.predator;
        p = step<Order>(model, p, parameters[i], h);
        crossed += before != (p.prey > p.predator);
    }
    end[i] = p;
    crossings[i] = crossed;
}

int main(int argc, char** argv)
{
    const int n = argument(argc, argv, 1, 100);
    const int steps = argument(argc, argv, 2, 80);
    Random random((unsigned)argument(argc, argv, 3, 1));
    if (n < 1 || steps < 1)
        return 2;
    std::vector<Populations> start(n);
    std::vector<double> parameters(n);
    for (int i = 0; i < n; ++i) {
        start[i].prey = 0.5 + random.below(1000) * 0.003;
        start[i].predator = 0.5 + random.below(1000) * 0.003;
        parameters[i] = 0.2 + random.below(1000) * 0.0005;
    }
    Model models[3];
    TRY(hipMemcpyFromSymbol(&models[0], modelLotkaVolterra, sizeof(Model)));
    TRY(hipMemcpyFromSymbol(&models[1], modelSaturating, sizeof(Model)));
    TRY(hipMemcpyFromSymbol(&models[2], modelCompeting, sizeof(Model)));
    static const char* const names[3] = {"lotka-volterra", "saturating", "competing"};
    Populations* dStart = copyIn(start);
    Populations* dEnd = cleared<Populations>(n);
    double* dParameters = copyIn(parameters);
    int* dCrossings = cleared<int>(n);
    const int blocks = (n + 63) / 64;
    bool right = true;
    for (int m = 0; m < 3; ++m) {
        double sums[3] = {};
        for (int order = 0; order < 3; ++order) {
            if (order == 0)
                simulate<1><<<blocks, 64>>>(models[m], dStart, dEnd, dParameters, dCrossings, n, steps, 0.02);
            else if (order == 1)
                simulate<2><<<blocks, 64>>>(models[m], dStart, dEnd, dParameters, dCrossings, n, steps, 0.02);
            else
                simulate<4><<<blocks, 64>>>(models[m], dStart, dEnd, dParameters, dCrossings, n, steps, 0.02);
            TRY(hipGetLastError());
            const std::vector<Populations> end = copyOut(dEnd, n);
            const std::vector<int> crossings = copyOut(dCrossings, n);
            int crossed = 0;
            double prey = 0, predators = 0;
            for (int i = 0; i < n; ++i) {
                prey += end[i].prey * (1 + i % 3);
                predators += end[i].predator * (1 + i % 4);
                crossed += crossings[i] * (1 + i % 5);
                right = right && end[i].prey > 0.0 && end[i].predator > 0.0;
            }
            sums[order] = prey;
            printf("%s, order %d: prey %.6f predators %.6f crossings %d\n", names[m], order == 2 ? 4 : order + 1,
                   prey, predators, crossed);
        }
        // The higher orders agree better with each other than with Euler's method.
        right = right && fabs(sums[1] - sums[2]) < fabs(sums[0] - sums[2]) + 1e-9;
    }
    return conclude(right);
}
