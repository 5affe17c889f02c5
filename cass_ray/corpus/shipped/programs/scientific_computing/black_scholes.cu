// SPDX-License-Identifier: MIT
// Black-Scholes prices and implied volatilities of European options. Element-wise work goes
// through one generic kernel that takes extended device lambdas.
#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define BS_CHECK(x)                                                             \
    do {                                                                        \
        const cudaError_t e = (x);                                              \
        if (e != cudaSuccess) {                                                 \
            fprintf(stderr, "black_scholes %d: %s\n", __LINE__, cudaGetErrorString(e)); \
            exit(2);                                                            \
        }                                                                       \
    } while (0)

struct Option {
    double spot, strike, years, rate;
};

__host__ __device__ inline double normal(double x) { return 0.5 * erfc(-x * 0.70710678118654752); }

__host__ __device__ inline double callPrice(const Option& o, double volatility)
{
    const double spread = volatility * sqrt(o.years);
    const double d1 = (log(o.spot / o.strike) + (o.rate + 0.5 * volatility * volatility) * o.years) / spread;
    return o.spot * normal(d1) - o.strike * exp(-o.rate * o.years) * normal(d1 - spread);
}

__host__ __device__ inline double vega(const Option& o, double volatility)
{
    const double spread = volatility * sqrt(o.years);
    const double d1 = (log(o.spot / o.strike) + (o.rate + 0.5 * volatility * volatility) * o.years) / spread;
    return o.spot * sqrt(o.years) * 0.3989422804014327 * exp(-0.5 * d1 * d1);
}

template <class Function>
__global__ void forEach(int n, Function f)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        f(i);
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 1500;
    unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 90u;
    if (n < 1)
        return 2;
    auto uniform = [&seed]() {
        seed = seed * 1664525u + 1013904223u;
        return (double)(seed >> 8) / 16777216.0;
    };
    std::vector<Option> options(n);
    std::vector<double> volatility(n), price(n), implied(n);
    for (int i = 0; i < n; ++i) {
        options[i].spot = 80.0 + 40.0 * uniform();
        options[i].strike = 90.0 + 20.0 * uniform();
        options[i].years = 0.5 + uniform();
        options[i].rate = 0.01 + 0.03 * uniform();
        volatility[i] = 0.2 + 0.3 * uniform();
    }
    Option* dOptions;
    double *dVolatility, *dPrice, *dImplied;
    BS_CHECK(cudaMalloc(&dOptions, n * sizeof(Option)));
    BS_CHECK(cudaMalloc(&dVolatility, n * sizeof(double)));
    BS_CHECK(cudaMalloc(&dPrice, n * sizeof(double)));
    BS_CHECK(cudaMalloc(&dImplied, n * sizeof(double)));
    BS_CHECK(cudaMemcpy(dOptions, options.data(), n * sizeof(Option), cudaMemcpyHostToDevice));
    BS_CHECK(cudaMemcpy(dVolatility, volatility.data(), n * sizeof(double), cudaMemcpyHostToDevice));

    forEach<<<8, 128>>>(n, [=] __device__(int i) { dPrice[i] = callPrice(dOptions[i], dVolatility[i]); });
    // Newton's iteration recovers the volatility from the price.
    forEach<<<8, 128>>>(n, [=] __device__(int i) {
        double sigma = 0.3;
        for (int k = 0; k < 8; ++k)
            sigma -= (callPrice(dOptions[i], sigma) - dPrice[i]) / vega(dOptions[i], sigma);
        dImplied[i] = sigma;
    });
    BS_CHECK(cudaGetLastError());
    BS_CHECK(cudaMemcpy(price.data(), dPrice, n * sizeof(double), cudaMemcpyDeviceToHost));
    BS_CHECK(cudaMemcpy(implied.data(), dImplied, n * sizeof(double), cudaMemcpyDeviceToHost));

    double worst = 0.0, total = 0.0, putTotal = 0.0;
    for (int i = 0; i < n; ++i) {
        worst = fmax(worst, fabs(price[i] - callPrice(options[i], volatility[i])));
        worst = fmax(worst, fabs(implied[i] - volatility[i]) * 1e-2);
        total += price[i];
        putTotal += price[i] - options[i].spot + options[i].strike * exp(-options[i].rate * options[i].years);
    }
    printf("options %d\n", n);
    printf("call total %.4f put total %.4f, first call %.6f at volatility %.6f\n", total, putTotal, price[0], implied[0]);
    printf("verify: %s\n", worst < 1e-9 ? "OK" : "MISMATCH");
    BS_CHECK(cudaFree(dOptions));
    BS_CHECK(cudaFree(dVolatility));
    BS_CHECK(cudaFree(dPrice));
    BS_CHECK(cudaFree(dImplied));
    return worst < 1e-9 ? 0 : 1;
}
