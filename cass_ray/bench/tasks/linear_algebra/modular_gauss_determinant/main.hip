// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <hip/hip_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define checkHipErrors(call)                                                                  \
    do {                                                                             \
        hipError_t status = (call);                                                 \
        if (status != hipSuccess) {                                                 \
            std::fprintf(stderr, "%s:%d: HIP error: %s\n", __FILE__, __LINE__,      \
                         hipGetErrorString(status));                                \
            std::exit(EXIT_FAILURE);                                                 \
        }                                                                            \
    } while (0)

typedef unsigned long long u64;
#define P 2305843009213693951ull  // 2^61 - 1

__device__ __forceinline__ u64 multiplyHigh(u64 a, u64 b)
{
    return __umul64hi(a, b);
}
__device__ u64 mulmod(u64 a, u64 b)
{
    const u64 low = a * b, high = multiplyHigh(a, b);
    u64 r = (low & P) + (low >> 61 | high << 3);
    r = (r & P) + (r >> 61);
    return r >= P ? r - P : r;
}
__device__ u64 submod(u64 a, u64 b) { return a >= b ? a - b : a + P - b; }
__device__ u64 inverse(u64 a)
{
    u64 r = 1, e = P - 2;
    while (e) {
        if (e & 1) r = mulmod(r, a);
        a = mulmod(a, a);
        e >>= 1;
    }
    return r;
}

// One block per matrix. The pivot is the first row with an entry that is not zero.
__global__ void eliminate(const u64* matrices, int n, u64* determinants, int* ranks)
{
    extern __shared__ u64 a[];
    __shared__ int pivot;
    __shared__ u64 scale;
    const u64* source = matrices + (size_t)blockIdx.x * n * n;
    for (int e = threadIdx.x; e < n * n; e += blockDim.x) a[e] = source[e];
    u64 determinant = 1;
    int row = 0;
    __syncthreads();
    for (int column = 0; column < n; ++column) {
        if (threadIdx.x == 0) pivot = n;
        __syncthreads();
        for (int r = row + threadIdx.x; r < n; r += blockDim.x)
            if (a[r * n + column] != 0) atomicMin(&pivot, r);
        __syncthreads();
        const int p = pivot;
        __syncthreads();
        if (p == n) {
            determinant = 0;
            continue;
        }
        if (p != row) {
            for (int c = threadIdx.x; c < n; c += blockDim.x) {
                const u64 t = a[p * n + c];
                a[p * n + c] = a[row * n + c];
                a[row * n + c] = t;
            }
            determinant = submod(0, determinant);
            if (determinant == P) determinant = 0;
            __syncthreads();
        }
        if (threadIdx.x == 0) scale = inverse(a[row * n + column]);
        determinant = mulmod(determinant, a[row * n + column]);
        __syncthreads();
        for (int r = row + 1 + threadIdx.y; r < n; r += blockDim.y) {
            const u64 factor = mulmod(a[r * n + column], scale);
            for (int c = column + 1 + threadIdx.x; c < n; c += blockDim.x)
                a[r * n + c] = submod(a[r * n + c], mulmod(factor, a[row * n + c]));
        }
        __syncthreads();
        ++row;
    }
    if (threadIdx.x == 0) {
        determinants[blockIdx.x] = determinant;
        ranks[blockIdx.x] = row;
    }
}

static u64 hostMul(u64 a, u64 b) { return (u64)((unsigned __int128)a * b % P); }

static u64 hostDeterminant(std::vector<u64> a, int n, int& rank)
{
    u64 d = 1;
    rank = 0;
    for (int c = 0; c < n; ++c) {
        int p = rank;
        while (p < n && a[p * n + c] == 0) ++p;
        if (p == n) { d = 0; continue; }
        if (p != rank) {
            for (int k = 0; k < n; ++k) std::swap(a[p * n + k], a[rank * n + k]);
            d = d ? P - d : 0;
        }
        d = hostMul(d, a[rank * n + c]);
        u64 inv = 1, base = a[rank * n + c];
        for (u64 e = P - 2; e; e >>= 1) { if (e & 1) inv = hostMul(inv, base); base = hostMul(base, base); }
        for (int r = rank + 1; r < n; ++r) {
            const u64 f = hostMul(a[r * n + c], inv);
            for (int k = c; k < n; ++k) a[r * n + k] = (a[r * n + k] + P - hostMul(f, a[rank * n + k])) % P;
        }
        ++rank;
    }
    return d;
}

int main(int argc, char** argv)
{
    const int count = argc > 1 ? atoi(argv[1]) : 24, n = argc > 2 ? atoi(argv[2]) : 20;
    u64 s = argc > 3 ? strtoull(argv[3], nullptr, 10) : 4ull;
    if (count < 1 || n < 2 || n > 64) return 1;
    auto next = [&s]() { s = s * 6364136223846793005ull + 1442695040888963407ull; return (s >> 2) % P; };
    std::vector<u64> a((size_t)count * n * n);
    for (int q = 0; q < count; ++q) {
        u64* m = &a[(size_t)q * n * n];
        for (int e = 0; e < n * n; ++e) m[e] = next() % 5 == 0 ? 0 : next();
        if (q % 4 == 1)  // dependent rows
            for (int c = 0; c < n; ++c) m[(n - 1) * n + c] = (m[c] + hostMul(3, m[(n / 2) * n + c])) % P;
        if (q % 4 == 2) m[0] = 0;
        if (q % 8 == 3)
            for (int r = 0; r < n; ++r) m[r * n + n / 3] = 0;
    }
    u64 *da, *dd;
    int* dr;
    checkHipErrors(hipMalloc(&da, a.size() * sizeof(u64)));
    checkHipErrors(hipMalloc(&dd, count * sizeof(u64)));
    checkHipErrors(hipMalloc(&dr, count * sizeof(int)));
    checkHipErrors(hipMemcpy(da, a.data(), a.size() * sizeof(u64), hipMemcpyHostToDevice));
    eliminate<<<count, dim3(16, 1), (size_t)n * n * sizeof(u64)>>>(da, n, dd, dr);
    checkHipErrors(hipGetLastError());
    std::vector<u64> d(count);
    std::vector<int> ranks(count);
    checkHipErrors(hipMemcpy(d.data(), dd, count * sizeof(u64), hipMemcpyDeviceToHost));
    checkHipErrors(hipMemcpy(ranks.data(), dr, count * sizeof(int), hipMemcpyDeviceToHost));
    int wrong = 0;
    u64 fold = 0;
    for (int q = 0; q < count; ++q) {
        int rank = 0;
        const std::vector<u64> m(a.begin() + (size_t)q * n * n, a.begin() + (size_t)(q + 1) * n * n);
        wrong += hostDeterminant(m, n, rank) != d[q] || rank != ranks[q];
        fold = fold * 31 + d[q] + (u64)ranks[q];
        if (q < 5) printf("det %llu rank %d\n", d[q], ranks[q]);
    }
    printf("matrices %d of order %d fold %016llx wrong %d\n", count, n, fold, wrong);
    hipFree(da); hipFree(dd); hipFree(dr);
    return wrong ? 1 : 0;
}
