// SPDX-License-Identifier: MIT
// Gauß-Legendre-Quadratur: Knoten und Gewichte durch Newton-Iteration für jede Stützstelle,
// danach Integration mehrerer Funktionen über viele Teilintervalle.
// (Gaussian quadrature: nodes and weights by Newton iteration on the device, then integrals of
// several functions, selected by a device function pointer, over many panels.)
#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define GL_CHECK(call)                                                                    \
    do {                                                                                  \
        cudaError_t e = (call);                                                           \
        if (e != cudaSuccess) {                                                           \
            fprintf(stderr, "gauss_legendre: %s (line %d)\n", cudaGetErrorString(e), __LINE__); \
            exit(2);                                                                      \
        }                                                                                 \
    } while (0)

typedef double (*Integrand)(double);

__device__ double decay(double x) { return exp(-x); }
__device__ double witch(double x) { return 1.0 / (1.0 + x * x); }
__device__ double ripple(double x) { return x * sin(3.0 * x); }

__device__ Integrand integrands[3] = {decay, witch, ripple};

// Thread i finds the i-th root of the Legendre polynomial of degree n.
__global__ void findNodes(int n, double* node, double* weight)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double x = cos(3.14159265358979323846 * (i + 0.75) / (n + 0.5)), slope = 1.0;
    for (int iteration = 0; iteration < 12; ++iteration) {
        double previous = 1.0, current = x;
        for (int k = 2; k <= n; ++k) {
            const double next = ((2 * k - 1) * x * current - (k - 1) * previous) / k;
            previous = current;
            current = next;
        }
        slope = n * (x * current - previous) / (x * x - 1.0);
        const double step = current / slope;
        x -= step;
        if (fabs(step) < 1e-15)
            break;
    }
    node[i] = x;
    weight[i] = 2.0 / ((1.0 - x * x) * slope * slope);
}

// One thread per panel and function (blockIdx.y).
__global__ void integratePanels(const double* node, const double* weight, int n, double a, double b, int panels, double* sums)
{
    const int panel = blockIdx.x * blockDim.x + threadIdx.x;
    if (panel >= panels)
        return;
    const Integrand f = integrands[blockIdx.y];
    const double half = 0.5 * (b - a) / panels, centre = a + (2 * panel + 1) * half;
    double sum = 0.0;
    for (int i = 0; i < n; ++i)
        sum += weight[i] * f(centre + half * node[i]);
    sums[blockIdx.y * panels + panel] = sum * half;
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 12;
    const int panels = argc > 2 ? atoi(argv[2]) : 96;
    if (n < 2 || n > 128 || panels < 1)
        return 2;
    const double a = 0.0, b = 6.0;
    double *node, *weight, *sums;
    GL_CHECK(cudaMalloc(&node, n * sizeof(double)));
    GL_CHECK(cudaMalloc(&weight, n * sizeof(double)));
    GL_CHECK(cudaMalloc(&sums, 3 * panels * sizeof(double)));
    findNodes<<<(n + 31) / 32, 32>>>(n, node, weight);
    integratePanels<<<dim3((panels + 63) / 64, 3), 64>>>(node, weight, n, a, b, panels, sums);
    GL_CHECK(cudaGetLastError());
    std::vector<double> nodes(n), weights(n), parts(3 * panels);
    GL_CHECK(cudaMemcpy(nodes.data(), node, n * sizeof(double), cudaMemcpyDeviceToHost));
    GL_CHECK(cudaMemcpy(weights.data(), weight, n * sizeof(double), cudaMemcpyDeviceToHost));
    GL_CHECK(cudaMemcpy(parts.data(), sums, 3 * panels * sizeof(double), cudaMemcpyDeviceToHost));
    GL_CHECK(cudaFree(node));
    GL_CHECK(cudaFree(weight));
    GL_CHECK(cudaFree(sums));

    double weightSum = 0.0, secondMoment = 0.0;
    for (int i = 0; i < n; ++i) {
        weightSum += weights[i];
        secondMoment += weights[i] * nodes[i] * nodes[i];
    }
    bool ok = fabs(weightSum - 2.0) < 1e-10 && fabs(secondMoment - 2.0 / 3.0) < 1e-10;
    const char* names[3] = {"exp(-x)", "1/(1+x^2)", "x sin(3x)"};
    const double exact[3] = {1.0 - exp(-b), atan(b), (sin(3 * b) - 3 * b * cos(3 * b)) / 9.0};
    // With few nodes the rule itself is inexact: the error shrinks with (panel width)^(2n).
    const double tolerance = 1e-10 + 50.0 * pow((b - a) / panels, 2.0 * n);
    printf("%d nodes, largest %.8f, weight sum %.8f\n", n, nodes[0], weightSum);
    for (int f = 0; f < 3; ++f) {
        double integral = 0.0;
        for (int p = 0; p < panels; ++p)
            integral += parts[f * panels + p];
        printf("integral of %-9s over [0, 6]: %.8f\n", names[f], integral);
        ok = ok && fabs(integral - exact[f]) < tolerance;
    }
    printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    return ok ? 0 : 1;
}
