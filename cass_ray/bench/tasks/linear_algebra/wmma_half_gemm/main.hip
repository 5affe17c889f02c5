// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void checkHip(hipError_t code, const char* what, int line) {
    if (code != hipSuccess) {
        fprintf(stderr, "line %d: %s failed: %s\n", line, what, hipGetErrorString(code));
        exit(2);
    }
}
#define checkHipErrors(expr) checkHip((expr), #expr, __LINE__)


const int kTile = 16;

// D = 0.5 * A B + C; A is row-major, B column-major; one block per 16 x 16 tile of D. Plain
// multiply-adds, so that it runs with and without matrix instructions.
__global__ void tensorProduct(const __half* a, const __half* b, const float* c, float* d, int m, int n, int k)
{
    const int row = blockIdx.y * kTile, column = blockIdx.x * kTile;
    __shared__ float fa[kTile][kTile + 1], fb[kTile][kTile + 1];
    const int tx = threadIdx.x, ty = threadIdx.y;
    float sum = 0.0f;
    for (int step = 0; step < k; step += kTile) {
        fa[ty][tx] = __half2float(a[(row + ty) * k + step + tx]);
        fb[ty][tx] = __half2float(b[(column + ty) * k + step + tx]);
        __syncthreads();
        for (int e = 0; e < kTile; ++e)
            sum += fa[ty][e] * fb[tx][e];
        __syncthreads();
    }
    const int at = (row + ty) * n + column + tx;
    d[at] = 0.5f * sum + c[at];
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
    checkHipErrors(hipMalloc(&da, a.size() * sizeof(__half)));
    checkHipErrors(hipMalloc(&db, b.size() * sizeof(__half)));
    checkHipErrors(hipMalloc(&dc, c.size() * sizeof(float)));
    checkHipErrors(hipMalloc(&dd, d.size() * sizeof(float)));
    checkHipErrors(hipMemcpy(da, a.data(), a.size() * sizeof(__half), hipMemcpyHostToDevice));
    checkHipErrors(hipMemcpy(db, b.data(), b.size() * sizeof(__half), hipMemcpyHostToDevice));
    checkHipErrors(hipMemcpy(dc, c.data(), c.size() * sizeof(float), hipMemcpyHostToDevice));
    tensorProduct<<<dim3(n / kTile, m / kTile), dim3(kTile, kTile)>>>(da, db, dc, dd, m, n, k);
    checkHipErrors(hipGetLastError());
    checkHipErrors(hipDeviceSynchronize());
    checkHipErrors(hipMemcpy(d.data(), dd, d.size() * sizeof(float), hipMemcpyDeviceToHost));
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
    hipFree(da); hipFree(db); hipFree(dc); hipFree(dd);
    return wrong ? 1 : 0;
}
