// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Error, gamma, Bessel and other special functions in double precision, selected through a
// table of device function pointers.
#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_CHECK(call)                                                                  \
    do {                                                                             \
        const cudaError_t status_ = (call);                                          \
        if (status_ != cudaSuccess) {                                                \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
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
    CUDA_CHECK(cudaMalloc(&memory, (values.empty() ? 1 : values.size()) * sizeof(T)));
    CUDA_CHECK(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return memory;
}

template <typename T>
static T* device_zeros(size_t count)
{
    T* memory = nullptr;
    CUDA_CHECK(cudaMalloc(&memory, count * sizeof(T)));
    CUDA_CHECK(cudaMemset(memory, 0, count * sizeof(T)));
    return memory;
}

template <typename T>
static std::vector<T> to_host(const T* memory, size_t count)
{
    std::vector<T> values(count);
    CUDA_CHECK(cudaMemcpy(values.data(), memory, count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
}

static int finish(bool right)
{
    CUDA_CHECK(cudaDeviceSynchronize());
    printf("verify: %s\n", right ? "OK" : "MISMATCH");
    return right ? 0 : 1;
}

typedef double (*Function)(double);

__device__ double viaErf(double x) { return erf(x - 2.0); }
__device__ double viaErfc(double x) { return erfc(x - 1.0); }
__device__ double viaGamma(double x) { return tgamma(x + 0.25); }
__device__ double viaLogGamma(double x) { return lgamma(3.0 * x + 0.5); }
__device__ double viaRoots(double x) { return cbrt(x) + rsqrt(x + 1.0) + hypot(x, 2.0); }
__device__ double viaExponentials(double x) { return expm1(0.1 * x) + log1p(x) + exp2(-x); }
__device__ double viaBessel(double x) { return j0(x) + 2.0 * j1(x) - y0(x + 0.5); }
__device__ double viaTrigonometry(double x) { return sinpi(x) + atan2(x, 1.5) + tanh(x) - asinh(x); }

__device__ Function table[8] = {viaErf,   viaErfc,         viaGamma,  viaLogGamma,
                                viaRoots, viaExponentials, viaBessel, viaTrigonometry};

__global__ void tabulate(const double* x, double* y, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 8 * n; i += gridDim.x * blockDim.x)
        y[i] = table[i / n](x[i % n]);
}

int main(int argc, char** argv)
{
    const int n = int_arg(argc, argv, 1, 400);
    Random random((unsigned)int_arg(argc, argv, 2, 5));
    if (n < 1)
        return 2;
    std::vector<double> x(n);
    for (double& v : x)
        v = 0.0625 + random.below(1u << 20) * (4.0 / (1u << 20));
    double* dX = to_device(x);
    double* dY = device_zeros<double>(8 * n);
    tabulate<<<6, 64>>>(dX, dY, n);
    CUDA_CHECK(cudaGetLastError());
    const std::vector<double> y = to_host(dY, 8 * n);
    static const char* const names[8] = {"erf",   "erfc",         "gamma",  "lgamma",
                                         "roots", "exponentials", "bessel", "trigonometry"};
    int wrong = 0;
    for (int f = 0; f < 8; ++f) {
        double sum = 0, weighted = 0;
        for (int i = 0; i < n; ++i) {
            sum += y[f * n + i] * y[f * n + i];
            weighted += fabs(y[f * n + i]) * (1 + i % 10);
        }
        printf("%-13s sum of squares %.9e weighted %.9e first %.9e last %.9e\n", names[f], sum, weighted,
               y[f * n] + 10.0, y[f * n + n - 1] + 10.0);
    }
    for (int i = 0; i < n; ++i) {
        wrong += !(fabs(y[i] - erf(x[i] - 2.0)) < 1e-12);
        wrong += !(fabs(y[3 * n + i] - lgamma(3.0 * x[i] + 0.5)) < 1e-10);
        wrong += !(fabs(y[6 * n + i] - (j0(x[i]) + 2.0 * j1(x[i]) - y0(x[i] + 0.5))) < 1e-10);
    }
    return finish(wrong == 0);
}
