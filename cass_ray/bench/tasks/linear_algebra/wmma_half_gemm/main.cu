// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <mma.h>
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
#define checkCudaErrors(expr) checkCuda((expr), #expr, __LINE__)

using namespace nvcuda;
const int kTile = 16;

// D = 0.5 * A B + C; A is row-major, B column-major; one warp per 16 x 16 tile of D.
__global__ void tensorProduct(const __half* a, const __half* b, const float* c, float* d, int m, int n, int k)
{
    const int row = blockIdx.y * kTile, column = blockIdx.x * kTile;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum, old;
    wmma::fill_fragment(sum, 0.0f);
    for (int step = 0; step < k; step += kTile) {
        wmma::load_matrix_sync(fa, a + row * k + step, k);
        wmma::load_matrix_sync(fb, b + column * k + step, k);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    wmma::load_matrix_sync(old, c + row * n + column, n, wmma::mem_row_major);
    for (int i = 0; i < sum.num_elements; ++i)
        sum.x[i] = 0.5f * sum.x[i] + old.x[i];
    wmma::store_matrix_sync(d + row * n + column, sum, n, wmma::mem_row_major);
}

int main(int argc, char** argv)
{
    const int m = kTile * (argc > 1 ? atoi(argv[1]) : 4), n = kTile * (argc > 2 ? atoi(argv[2]) : 3);
    const int k = kTile * (argc > 3 ? atoi(argv[3]) : 5);
    uint32_t s = argc > 4 ? (uint32_t)atoi(argv[4]) : 7u;
    if (m < 1 || n < 1 || k < 1) return 1;
    std::vector<int> ia(m * k), ib(n * k);
    std::vector<__half> a(m * k), b(n * k);
    std::vector<float> c(m * n), d(m * n);
    auto next = [&s]() { s = s * 1664525u + 1013904223u; return (int)(s >> 28) - 8; };
    for (int i = 0; i < m * k; ++i) a[i] = __float2half((float)(ia[i] = next()));
    for (int i = 0; i < n * k; ++i) b[i] = __float2half((float)(ib[i] = next()));
    for (float& v : c) v = (float)next();
    __half *da, *db;
    float *dc, *dd;
    checkCudaErrors(cudaMalloc(&da, a.size() * sizeof(__half)));
    checkCudaErrors(cudaMalloc(&db, b.size() * sizeof(__half)));
    checkCudaErrors(cudaMalloc(&dc, c.size() * sizeof(float)));
    checkCudaErrors(cudaMalloc(&dd, d.size() * sizeof(float)));
    checkCudaErrors(cudaMemcpy(da, a.data(), a.size() * sizeof(__half), cudaMemcpyHostToDevice));
    checkCudaErrors(cudaMemcpy(db, b.data(), b.size() * sizeof(__half), cudaMemcpyHostToDevice));
    checkCudaErrors(cudaMemcpy(dc, c.data(), c.size() * sizeof(float), cudaMemcpyHostToDevice));
    tensorProduct<<<dim3(n / kTile, m / kTile), 32>>>(da, db, dc, dd, m, n, k);
    checkCudaErrors(cudaGetLastError());
    checkCudaErrors(cudaDeviceSynchronize());
    checkCudaErrors(cudaMemcpy(d.data(), dd, d.size() * sizeof(float), cudaMemcpyDeviceToHost));
    int wrong = 0;
    double weighted = 0;
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            int sum = 0;
            for (int e = 0; e < k; ++e) sum += ia[i * k + e] * ib[j * k + e];
            wrong += d[i * n + j] != 0.5f * (float)sum + c[i * n + j];
            weighted += d[i * n + j] * (1 + (i + 3 * j) % 13);
        }
    printf("%d x %d x %d\n", m, n, k);
    for (int i = 0; i < m; i += 9) printf("d[%d][%d] = %.1f\n", i, i % n, d[i * n + i % n]);
    printf("weighted %.1f\nwrong %d\n", weighted, wrong);
    cudaFree(da); cudaFree(db); cudaFree(dc); cudaFree(dd);
    return wrong ? 1 : 0;
}
