// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Crank-Nicolson diffusion in many rods, each step solved by parallel cyclic reduction in
// dynamic shared memory.
#include <cuda_runtime.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void stopOnError(cudaError_t status, const char* what, int line)
{
    if (status == cudaSuccess)
        return;
    fprintf(stderr, "line %d: %s failed: %s\n", line, what, cudaGetErrorString(status));
    exit(2);
}
#define GPU_OK(call) stopOnError((call), #call, __LINE__)

class Random {
public:
    explicit Random(unsigned seed) : state(seed * 2654435761u + 12345u) {}
    unsigned next()
    {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        return (unsigned)(state >> 32);
    }
    unsigned below(unsigned bound) { return next() % bound; }

private:
    unsigned long long state;
};

static int argument(int argc, char** argv, int index, int fallback)
{
    return argc > index ? atoi(argv[index]) : fallback;
}

template <typename T>
static T* upload(const std::vector<T>& values)
{
    T* memory = nullptr;
    GPU_OK(cudaMalloc(&memory, (values.empty() ? 1 : values.size()) * sizeof(T)));
    GPU_OK(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return memory;
}

template <typename T>
static std::vector<T> download(const T* memory, size_t count)
{
    std::vector<T> values(count);
    GPU_OK(cudaMemcpy(values.data(), memory, count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
}

template <typename T>
static void showReal(const char* label, const std::vector<T>& values, size_t count = 8)
{
    printf("%s:", label);
    const size_t step = values.size() > count ? values.size() / count : 1;
    for (size_t i = 0; i < values.size(); i += step)
        printf(" %.5f", (double)values[i] == 0.0 ? 0.0 : (double)values[i]);
    printf("\n");
}

static int finish(bool right)
{
    GPU_OK(cudaDeviceSynchronize());
    printf("verify: %s\n", right ? "OK" : "MISMATCH");
    return right ? 0 : 1;
}

struct Row {
    double lower, diagonal, upper, right;
};

// One block solves one system; two buffers of rows alternate.
template <int Steps>
__global__ void diffuse(double* rods, int n, const double* coefficients)
{
    extern __shared__ double memory[];
    Row* now = (Row*)memory;
    Row* next = now + n;
    double* u = (double*)(next + n);
    double* rod = rods + (size_t)blockIdx.x * n;
    const double r = coefficients[blockIdx.x];
    const int i = threadIdx.x;
    u[i] = rod[i];
    __syncthreads();
    for (int step = 0; step < Steps; ++step) {
        const double left = i > 0 ? u[i - 1] : 0.0, right = i + 1 < n ? u[i + 1] : 0.0;
        now[i].lower = i > 0 ? -0.5 * r : 0.0;
        now[i].upper = i + 1 < n ? -0.5 * r : 0.0;
        now[i].diagonal = 1.0 + r;
        now[i].right = u[i] + 0.5 * r * (left - 2.0 * u[i] + right);
        __syncthreads();
        for (int stride = 1; stride < n; stride *= 2) {
            Row row = now[i];
            if (i >= stride) {
                const Row a = now[i - stride];
                const double k = row.lower / a.diagonal;
                row.diagonal -= k * a.upper;
                row.right -= k * a.right;
                row.lower = -k * a.lower;
            }
            if (i + stride < n) {
                const Row b = now[i + stride];
                const double k = row.upper / b.diagonal;
                row.diagonal -= k * b.lower;
                row.right -= k * b.right;
                row.upper = -k * b.upper;
            }
            next[i] = row;
            __syncthreads();
            Row* t = now;
            now = next;
            next = t;
        }
        u[i] = now[i].right / now[i].diagonal;
        __syncthreads();
    }
    rod[i] = u[i];
}

int main(int argc, char** argv)
{
    const int n = argument(argc, argv, 1, 128);
    const int rods = argument(argc, argv, 2, 6);
    Random random((unsigned)argument(argc, argv, 3, 1));
    if (n < 2 || n > 256 || rods < 1)
        return 2;
    const int steps = 4;
    std::vector<double> start(rods * n), coefficients(rods);
    for (double& u : start)
        u = random.below(1000) / 100.0;
    for (double& r : coefficients)
        r = 0.1 + random.below(100) / 25.0;
    double* dRods = upload(start);
    double* dCoefficients = upload(coefficients);
    const int shared = n * (int)(2 * sizeof(Row) + sizeof(double));
    GPU_OK(cudaFuncSetAttribute((const void*)diffuse<4>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    diffuse<4><<<rods, n, shared>>>(dRods, n, dCoefficients);
    GPU_OK(cudaGetLastError());
    const std::vector<double> end = download(dRods, rods * n);
    double worst = 0, sum = 0, weighted = 0;
    for (int k = 0; k < rods; ++k) {
        const double r = coefficients[k];
        std::vector<double> u(start.begin() + k * n, start.begin() + (k + 1) * n), c(n), d(n);
        for (int s = 0; s < steps; ++s) {
            for (int i = 0; i < n; ++i) {
                const double left = i > 0 ? u[i - 1] : 0.0, right = i + 1 < n ? u[i + 1] : 0.0;
                const double b = u[i] + 0.5 * r * (left - 2.0 * u[i] + right);
                const double m = 1.0 + r + (i > 0 ? 0.5 * r * c[i - 1] : 0.0);
                c[i] = -0.5 * r / m;
                d[i] = (b + (i > 0 ? 0.5 * r * d[i - 1] : 0.0)) / m;
            }
            for (int i = n - 1; i >= 0; --i)
                u[i] = d[i] - (i + 1 < n ? c[i] * u[i + 1] : 0.0);
        }
        for (int i = 0; i < n; ++i)
            worst = std::max(worst, fabs(u[i] - end[k * n + i]));
    }
    for (int i = 0; i < rods * n; ++i) {
        sum += end[i];
        weighted += end[i] * (1 + i % 9);
    }
    printf("rods %d of %d points: heat %.6f weighted %.6f\n", rods, n, sum, weighted);
    showReal("rods", end, 12);
    return finish(worst < 1e-9);
}
