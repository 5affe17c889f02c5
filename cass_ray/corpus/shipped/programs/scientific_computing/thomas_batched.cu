// SPDX-License-Identifier: MIT
// Many tridiagonal systems solved at once with the Thomas algorithm. Unknowns are interleaved
// across systems so that neighbouring threads read neighbouring words; used here for implicit
// heat steps on rods with different conductivities.
#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define TRI_CUDA(x)                                                          \
    do {                                                                     \
        cudaError_t e = (x);                                                 \
        if (e != cudaSuccess) {                                              \
            fprintf(stderr, "thomas: %s, line %d\n", cudaGetErrorString(e), __LINE__); \
            exit(2);                                                         \
        }                                                                    \
    } while (0)

// Element k of system s lives at [k * systems + s]. Solves (1 + 2c) u_k - c (u_k-1 + u_k+1) = old_k
// with insulated ends.
__global__ void implicitStep(double* __restrict__ u, double* __restrict__ scratch, const double* __restrict__ conductivity,
                             int n, int systems)
{
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= systems)
        return;
    const double c = conductivity[s];
    double ratio = -c / (1.0 + c), value = u[s] / (1.0 + c);
    scratch[s] = ratio;
    u[s] = value;
    for (int k = 1; k < n; ++k) {
        const double diagonal = k + 1 < n ? 1.0 + 2.0 * c : 1.0 + c;
        const double pivot = 1.0 / (diagonal + c * ratio);
        ratio = -c * pivot;
        value = (u[k * systems + s] + c * value) * pivot;
        scratch[k * systems + s] = ratio;
        u[k * systems + s] = value;
    }
    for (int k = n - 2; k >= 0; --k) {
        value = u[k * systems + s] - scratch[k * systems + s] * value;
        u[k * systems + s] = value;
    }
}

int main(int argc, char** argv)
{
    const int systems = argc > 1 ? atoi(argv[1]) : 400;
    const int n = argc > 2 ? atoi(argv[2]) : 40;
    const int steps = argc > 3 ? atoi(argv[3]) : 4;
    unsigned seed = argc > 4 ? (unsigned)atoi(argv[4]) : 66u;
    if (systems < 1 || n < 2 || steps < 1)
        return 2;
    std::vector<double> start((size_t)n * systems), conductivity(systems), result(start.size());
    for (int s = 0; s < systems; ++s) {
        seed = seed * 1664525u + 1013904223u;
        conductivity[s] = 0.1 + (double)(seed >> 8) / 16777216.0;
    }
    for (double& v : start) {
        seed = seed * 1664525u + 1013904223u;
        v = 20.0 + (double)(seed >> 8) / 1048576.0;
    }
    double *u, *scratch, *dConductivity;
    const size_t bytes = start.size() * sizeof(double);
    TRI_CUDA(cudaMalloc(&u, bytes));
    TRI_CUDA(cudaMalloc(&scratch, bytes));
    TRI_CUDA(cudaMalloc(&dConductivity, systems * sizeof(double)));
    TRI_CUDA(cudaMemcpy(u, start.data(), bytes, cudaMemcpyHostToDevice));
    TRI_CUDA(cudaMemcpy(dConductivity, conductivity.data(), systems * sizeof(double), cudaMemcpyHostToDevice));
    for (int step = 0; step < steps; ++step)
        implicitStep<<<(systems + 95) / 96, 96>>>(u, scratch, dConductivity, n, systems);
    TRI_CUDA(cudaGetLastError());
    TRI_CUDA(cudaMemcpy(result.data(), u, bytes, cudaMemcpyDeviceToHost));
    TRI_CUDA(cudaFree(u));
    TRI_CUDA(cudaFree(scratch));
    TRI_CUDA(cudaFree(dConductivity));

    // Undo the steps: multiplying with the matrix `steps` times must give the start back, and the
    // heat content of an insulated rod is constant.
    double worst = 0.0, heat = 0.0, heatBefore = 0.0;
    std::vector<double> line(n), product(n);
    for (int s = 0; s < systems; ++s) {
        const double c = conductivity[s];
        for (int k = 0; k < n; ++k)
            line[k] = result[(size_t)k * systems + s];
        for (int step = 0; step < steps; ++step) {
            for (int k = 0; k < n; ++k) {
                const double left = k > 0 ? line[k - 1] : line[k], right = k + 1 < n ? line[k + 1] : line[k];
                product[k] = line[k] + c * (2.0 * line[k] - left - right);
            }
            line.swap(product);
        }
        for (int k = 0; k < n; ++k) {
            worst = fmax(worst, fabs(line[k] - start[(size_t)k * systems + s]));
            heat += result[(size_t)k * systems + s];
            heatBefore += start[(size_t)k * systems + s];
        }
    }
    const bool ok = worst < 1e-6 && fabs(heat - heatBefore) < 1e-9 * heatBefore;
    printf("%d rods of %d cells, %d implicit steps\n", systems, n, steps);
    printf("mean temperature %.6f, first rod ends %.6f %.6f\n", heat / start.size(), result[0], result[(size_t)(n - 1) * systems]);
    printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    return ok ? 0 : 1;
}
