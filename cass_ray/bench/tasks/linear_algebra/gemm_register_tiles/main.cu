// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CK(call)                                                                  \
    do {                                                                             \
        cudaError_t status = (call);                                                 \
        if (status != cudaSuccess) {                                                 \
            fprintf(stderr, "%s:%d: CUDA error: %s\n", __FILE__, __LINE__,      \
                         cudaGetErrorString(status));                                \
            exit(EXIT_FAILURE);                                                 \
        }                                                                            \
    } while (0)

// C = alpha * A * B + beta * C; kTile x kTile results per block, kOwn x kOwn per thread.
template <typename T, int kTile, int kOwn>
__global__ void __launch_bounds__((kTile / kOwn) * (kTile / kOwn))
gemm(const T* a, const T* b, T* c, int m, int n, int k, T alpha, T beta)
{
    constexpr int kSide = kTile / kOwn, kDepth = 8;
    __shared__ T tileA[kDepth][kTile + 1];
    __shared__ T tileB[kDepth][kTile];
    const int tx = threadIdx.x % kSide, ty = threadIdx.x / kSide;
    const int row0 = blockIdx.y * kTile, column0 = blockIdx.x * kTile;
    T sum[kOwn][kOwn];
#pragma unroll
    for (int i = 0; i < kOwn; ++i)
#pragma unroll
        for (int j = 0; j < kOwn; ++j) sum[i][j] = T(0);
    for (int base = 0; base < k; base += kDepth) {
        for (int e = threadIdx.x; e < kTile * kDepth; e += kSide * kSide) {
            const int ra = e / kDepth, ca = e % kDepth;
            tileA[ca][ra] = row0 + ra < m && base + ca < k ? a[(row0 + ra) * k + base + ca] : T(0);
            const int rb = e / kTile, cb = e % kTile;
            tileB[rb][cb] = base + rb < k && column0 + cb < n ? b[(base + rb) * n + column0 + cb] : T(0);
        }
        __syncthreads();
#pragma unroll
        for (int d = 0; d < kDepth; ++d) {
            T ra[kOwn], rb[kOwn];
#pragma unroll
            for (int i = 0; i < kOwn; ++i) {
                ra[i] = tileA[d][ty * kOwn + i];
                rb[i] = tileB[d][tx + i * kSide];
            }
#pragma unroll
            for (int i = 0; i < kOwn; ++i)
#pragma unroll
                for (int j = 0; j < kOwn; ++j) sum[i][j] += ra[i] * rb[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < kOwn; ++i)
#pragma unroll
        for (int j = 0; j < kOwn; ++j) {
            const int r = row0 + ty * kOwn + i, q = column0 + tx + j * kSide;
            if (r < m && q < n) c[r * n + q] = alpha * sum[i][j] + beta * c[r * n + q];
        }
}

template <typename T, int kTile, int kOwn>
static int test(const char* name, int m, int n, int k, uint32_t s)
{
    std::vector<T> a(m * k), b(k * n), c(m * n), r(m * n);
    auto next = [&s]() { s = s * 22695477u + 1u; return (T)((int)(s >> 26) - 32); };
    for (T& v : a) v = next();
    for (T& v : b) v = next();
    for (T& v : c) v = next();
    T *da, *db, *dc;
    CK(cudaMalloc(&da, a.size() * sizeof(T)));
    CK(cudaMalloc(&db, b.size() * sizeof(T)));
    CK(cudaMalloc(&dc, c.size() * sizeof(T)));
    CK(cudaMemcpy(da, a.data(), a.size() * sizeof(T), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(db, b.data(), b.size() * sizeof(T), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(dc, c.data(), c.size() * sizeof(T), cudaMemcpyHostToDevice));
    const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
    gemm<T, kTile, kOwn><<<grid, (kTile / kOwn) * (kTile / kOwn)>>>(da, db, dc, m, n, k, (T)3, (T)-2);
    CK(cudaGetLastError());
    CK(cudaMemcpy(r.data(), dc, r.size() * sizeof(T), cudaMemcpyDeviceToHost));
    int wrong = 0;
    long long trace = 0, weighted = 0;
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            long long sum = 0;
            for (int d = 0; d < k; ++d) sum += (long long)a[i * k + d] * (long long)b[d * n + j];
            sum = 3 * sum - 2 * (long long)c[i * n + j];
            wrong += sum != (long long)r[i * n + j];
            if (i == j) trace += (long long)r[i * n + j];
            weighted += (long long)r[i * n + j] * (1 + (i * 7 + j * 3) % 19);
        }
    printf("%s tile %d: trace %lld weighted %lld corner %lld wrong %d\n", name, kTile, trace, weighted, (long long)r[m * n - 1], wrong);
    cudaFree(da); cudaFree(db); cudaFree(dc);
    return wrong;
}

int main(int argc, char** argv)
{
    const int m = argc > 1 ? atoi(argv[1]) : 75, n = argc > 2 ? atoi(argv[2]) : 90, k = argc > 3 ? atoi(argv[3]) : 61;
    const uint32_t s = argc > 4 ? (uint32_t)atoi(argv[4]) : 1u;
    if (m < 1 || n < 1 || k < 1) return 1;
    int wrong = test<float, 32, 2>("float", m, n, k, s);
    wrong += test<float, 32, 4>("float", m, n, k, s + 1);
    wrong += test<int, 16, 1>("int", m, n, k, s + 2);
    printf("%s\n", wrong ? "FAILED" : "ok");
    return wrong ? 1 : 0;
}
