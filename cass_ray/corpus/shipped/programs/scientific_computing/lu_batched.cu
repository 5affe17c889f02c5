// SPDX-License-Identifier: MIT
// LU factorisation with partial pivoting of many small matrices, one block each, in dynamic
// shared memory; solves for one right-hand side and returns the determinant.
#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#define LU_CHECK(call)                                                             \
    do {                                                                           \
        cudaError_t err = (call);                                                  \
        if (err != cudaSuccess) {                                                  \
            fprintf(stderr, "lu_batched: %s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(err)); \
            exit(2);                                                               \
        }                                                                          \
    } while (0)

// Thread t owns column t; column n is the right-hand side.
__global__ void factorAndSolve(const double* matrices, const double* rhs, int n, double* solutions, double* determinants)
{
    extern __shared__ double m[];  // n rows of n + 1 columns
    __shared__ int pivotRow;
    const int t = threadIdx.x, pitch = n + 1;
    if (t < n)
        for (int r = 0; r < n; ++r)
            m[r * pitch + t] = matrices[((size_t)blockIdx.x * n + r) * n + t];
    else if (t == n)
        for (int r = 0; r < n; ++r)
            m[r * pitch + n] = rhs[(size_t)blockIdx.x * n + r];
    double determinant = 1.0;  // meaningful in thread 0
    for (int k = 0; k < n; ++k) {
        __syncthreads();
        if (t == 0) {
            int best = k;
            for (int r = k + 1; r < n; ++r)
                if (fabs(m[r * pitch + k]) > fabs(m[best * pitch + k]))
                    best = r;
            pivotRow = best;
            determinant *= best == k ? m[best * pitch + k] : -m[best * pitch + k];
        }
        __syncthreads();
        const int p = pivotRow;
        if (t <= n && p != k) {
            const double v = m[k * pitch + t];
            m[k * pitch + t] = m[p * pitch + t];
            m[p * pitch + t] = v;
        }
        __syncthreads();
        if (t > k && t <= n)
            for (int r = k + 1; r < n; ++r)
                m[r * pitch + t] -= m[r * pitch + k] / m[k * pitch + k] * m[k * pitch + t];
    }
    __syncthreads();
    if (t == 0) {
        for (int r = n - 1; r >= 0; --r) {
            double v = m[r * pitch + n];
            for (int c = r + 1; c < n; ++c)
                v -= m[r * pitch + c] * solutions[(size_t)blockIdx.x * n + c];
            solutions[(size_t)blockIdx.x * n + r] = v / m[r * pitch + r];
        }
        determinants[blockIdx.x] = determinant;
    }
}

int main(int argc, char** argv)
{
    const int batch = argc > 1 ? atoi(argv[1]) : 48;
    const int n = argc > 2 ? atoi(argv[2]) : 14;
    unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 33u;
    if (batch < 1 || n < 1 || n > 60)
        return 2;
    std::vector<double> a((size_t)batch * n * n), b((size_t)batch * n), x(b.size()), determinant(batch);
    for (size_t i = 0; i < a.size(); ++i) {
        seed = seed * 1103515245u + 12345u;
        a[i] = (double)(seed >> 16 & 0x3fffu) / 4096.0 - 2.0;
        if (i / n % n == i % n)
            a[i] += a[i] < 0.0 ? -3.0 : 3.0;  // keeps the systems well conditioned
    }
    for (double& v : b) {
        seed = seed * 1103515245u + 12345u;
        v = (double)(seed >> 16 & 0x3fffu) / 8192.0 - 1.0;
    }
    double *da, *db, *dx, *dd;
    LU_CHECK(cudaMalloc(&da, a.size() * sizeof(double)));
    LU_CHECK(cudaMalloc(&db, b.size() * sizeof(double)));
    LU_CHECK(cudaMalloc(&dx, x.size() * sizeof(double)));
    LU_CHECK(cudaMalloc(&dd, batch * sizeof(double)));
    LU_CHECK(cudaMemcpy(da, a.data(), a.size() * sizeof(double), cudaMemcpyHostToDevice));
    LU_CHECK(cudaMemcpy(db, b.data(), b.size() * sizeof(double), cudaMemcpyHostToDevice));
    const int threads = (n + 1 + 31) / 32 * 32;
    factorAndSolve<<<batch, threads, (size_t)n * (n + 1) * sizeof(double)>>>(da, db, n, dx, dd);
    LU_CHECK(cudaGetLastError());
    LU_CHECK(cudaMemcpy(x.data(), dx, x.size() * sizeof(double), cudaMemcpyDeviceToHost));
    LU_CHECK(cudaMemcpy(determinant.data(), dd, batch * sizeof(double), cudaMemcpyDeviceToHost));

    double worst = 0.0, logSum = 0.0;
    int negative = 0;
    for (int s = 0; s < batch; ++s) {
        for (int r = 0; r < n; ++r) {
            double residual = -b[(size_t)s * n + r], scale = 1.0;
            for (int c = 0; c < n; ++c) {
                const double term = a[((size_t)s * n + r) * n + c] * x[(size_t)s * n + c];
                residual += term;
                scale += fabs(term);
            }
            worst = fmax(worst, fabs(residual) / scale);
        }
        // Determinant by elimination on the host.
        std::vector<double> m(a.begin() + (size_t)s * n * n, a.begin() + (size_t)(s + 1) * n * n);
        double expected = 1.0;
        for (int k = 0; k < n; ++k) {
            int p = k;
            for (int r = k + 1; r < n; ++r)
                p = fabs(m[r * n + k]) > fabs(m[p * n + k]) ? r : p;
            for (int c = 0; c < n && p != k; ++c)
                std::swap(m[k * n + c], m[p * n + c]);
            expected *= p == k ? m[k * n + k] : -m[k * n + k];
            for (int r = k + 1; r < n; ++r)
                for (int c = n - 1; c >= k; --c)
                    m[r * n + c] -= m[r * n + k] / m[k * n + k] * m[k * n + c];
        }
        worst = fmax(worst, 1e-3 * fabs(determinant[s] - expected) / fabs(expected));
        logSum += log(fabs(determinant[s]));
        negative += determinant[s] < 0.0;
    }
    printf("%d systems of order %d\n", batch, n);
    printf("mean log determinant %.6f, negative %d, x[0] %.6f\n", logSum / batch, negative, x[0]);
    printf("verify: %s\n", worst < 1e-10 ? "OK" : "MISMATCH");
    LU_CHECK(cudaFree(da));
    LU_CHECK(cudaFree(db));
    LU_CHECK(cudaFree(dx));
    LU_CHECK(cudaFree(dd));
    return worst < 1e-10 ? 0 : 1;
}
