// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <cuda_runtime.h>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void checkCuda(cudaError_t code, const char* what, int line) {
    if (code != cudaSuccess) {
        fprintf(stderr, "line %d: %s failed: %s\n", line, what, cudaGetErrorString(code));
        exit(2);
    }
}
#define CHECK(expr) checkCuda((expr), #expr, __LINE__)

template <int N>
__global__ void choleskySolve(double* matrices, double* rhs, double* logDeterminants, int* status)
{
    __shared__ double a[N][N + 1];
    __shared__ double x[N];
    __shared__ int failed;
    const int t = threadIdx.x;
    double* m = matrices + (size_t)blockIdx.x * N * N;
    double* b = rhs + (size_t)blockIdx.x * N;
    for (int e = t; e < N * N; e += blockDim.x) a[e / N][e % N] = m[e];
    for (int e = t; e < N; e += blockDim.x) x[e] = b[e];
    if (t == 0) failed = 0;
    __syncthreads();
    for (int k = 0; k < N; ++k) {
        if (t == 0) {
            if (a[k][k] <= 0.0) failed = 1;
            a[k][k] = sqrt(a[k][k]);
        }
        __syncthreads();
        if (failed) break;
        for (int i = k + 1 + t; i < N; i += blockDim.x) a[i][k] /= a[k][k];
        __syncthreads();
        for (int e = t; e < (N - k - 1) * (N - k - 1); e += blockDim.x) {
            const int i = k + 1 + e / (N - k - 1), j = k + 1 + e % (N - k - 1);
            if (j <= i) a[i][j] -= a[i][k] * a[j][k];
        }
        __syncthreads();
    }
    if (t == 0) {
        status[blockIdx.x] = failed;
        double logDeterminant = 0.0;
        if (!failed) {
            for (int i = 0; i < N; ++i) {
                for (int j = 0; j < i; ++j) x[i] -= a[i][j] * x[j];
                x[i] /= a[i][i];
                logDeterminant += 2.0 * log(a[i][i]);
            }
            for (int i = N - 1; i >= 0; --i) {
                for (int j = i + 1; j < N; ++j) x[i] -= a[j][i] * x[j];
                x[i] /= a[i][i];
            }
        }
        logDeterminants[blockIdx.x] = logDeterminant;
    }
    __syncthreads();
    for (int e = t; e < N; e += blockDim.x) b[e] = failed ? 0.0 : x[e];
}

int main(int argc, char** argv)
{
    const int systems = argc > 1 ? atoi(argv[1]) : 50;
    uint32_t s = argc > 2 ? (uint32_t)atoi(argv[2]) : 9u;
    if (systems < 1) return 1;
    const int N = 18;
    auto next = [&s]() { s = s * 1664525u + 1013904223u; return (double)(s >> 8) / 16777216.0 - 0.5; };
    std::vector<double> a((size_t)systems * N * N), b((size_t)systems * N), known(b.size()), x(b.size()), logs(systems);
    for (int q = 0; q < systems; ++q) {
        double g[N][N];
        for (auto& row : g)
            for (double& v : row) v = next();
        for (int i = 0; i < N; ++i) known[q * N + i] = 4.0 * next();
        for (int i = 0; i < N; ++i)
            for (int j = 0; j < N; ++j) {
                double sum = i == j ? 2.0 : 0.0;
                for (int k = 0; k < N; ++k) sum += g[i][k] * g[j][k];
                a[((size_t)q * N + i) * N + j] = sum;
            }
        for (int i = 0; i < N; ++i) {
            double sum = 0.0;
            for (int j = 0; j < N; ++j) sum += a[((size_t)q * N + i) * N + j] * known[q * N + j];
            b[q * N + i] = sum;
        }
        if (q % 16 == 7) a[((size_t)q * N + 3) * N + 3] = -1.0;  // not positive definite
    }
    double *da, *db, *dl;
    int* ds;
    CHECK(cudaMalloc(&da, a.size() * sizeof(double)));
    CHECK(cudaMalloc(&db, b.size() * sizeof(double)));
    CHECK(cudaMalloc(&dl, systems * sizeof(double)));
    CHECK(cudaMalloc(&ds, systems * sizeof(int)));
    CHECK(cudaMemcpy(da, a.data(), a.size() * sizeof(double), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b.data(), b.size() * sizeof(double), cudaMemcpyHostToDevice));
    choleskySolve<N><<<systems, 64>>>(da, db, dl, ds);
    CHECK(cudaGetLastError());
    std::vector<int> status(systems);
    CHECK(cudaMemcpy(x.data(), db, x.size() * sizeof(double), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(logs.data(), dl, systems * sizeof(double), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(status.data(), ds, systems * sizeof(int), cudaMemcpyDeviceToHost));
    int refused = 0, wrong = 0;
    double logSum = 0.0, weighted = 0.0, worst = 0.0;
    for (int q = 0; q < systems; ++q) {
        refused += status[q];
        wrong += status[q] != (q % 16 == 7);
        logSum += logs[q];
        for (int i = 0; i < N && !status[q]; ++i) {
            worst = fmax(worst, fabs(x[q * N + i] - known[q * N + i]));
            weighted += x[q * N + i] * (i % 5 + 1);
        }
    }
    printf("systems %d refused %d\n", systems, refused);
    for (int i = 0; i < N; i += 4) printf("x[%d] = %.9f\n", i, x[i]);
    printf("log determinants %.9f\nweighted %.8f\n", logSum, weighted);
    if (worst > 1e-9) ++wrong;
    printf("solutions %s\n", wrong ? "FAILED" : "ok");
    cudaFree(da); cudaFree(db); cudaFree(dl); cudaFree(ds);
    return wrong ? 1 : 0;
}
