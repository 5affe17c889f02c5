// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <hip/hip_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define HIP_CHECK(x) do { hipError_t e_ = (x); if (e_ != hipSuccess) { \
    fprintf(stderr, "HIP failure %d at line %d: %s\n", (int)e_, __LINE__, hipGetErrorString(e_)); \
    exit(3); } } while (0)

const uint32_t kModulus = 1000000007u;

template <int N>
struct Matrix {
    uint32_t m[N][N];
};

template <int N>
__host__ __device__ Matrix<N> multiply(const Matrix<N>& a, const Matrix<N>& b)
{
    Matrix<N> r;
    for (int i = 0; i < N; ++i)
        for (int j = 0; j < N; ++j) {
            uint64_t sum = 0;
            for (int k = 0; k < N; ++k)
                sum = (sum + (uint64_t)a.m[i][k] * b.m[k][j]) % kModulus;
            r.m[i][j] = (uint32_t)sum;
        }
    return r;
}

template <int N>
__global__ void powers(Matrix<N> base, const uint64_t* exponents, int n, uint32_t* corner, uint32_t* trace)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Matrix<N> r, b = base;
    for (int x = 0; x < N; ++x)
        for (int y = 0; y < N; ++y)
            r.m[x][y] = x == y;
    for (uint64_t e = exponents[i]; e; e >>= 1) {
        if (e & 1) r = multiply<N>(r, b);
        b = multiply<N>(b, b);
    }
    corner[i] = r.m[0][N - 1];
    uint64_t t = 0;
    for (int x = 0; x < N; ++x) t += r.m[x][x];
    trace[i] = (uint32_t)(t % kModulus);
}

template <int N>
static int run(const char* name, const Matrix<N>& base, const std::vector<uint64_t>& exponents)
{
    const int n = (int)exponents.size();
    uint64_t* de;
    uint32_t *dc, *dt;
    HIP_CHECK(hipMalloc(&de, n * sizeof(uint64_t)));
    HIP_CHECK(hipMalloc(&dc, n * sizeof(uint32_t)));
    HIP_CHECK(hipMalloc(&dt, n * sizeof(uint32_t)));
    HIP_CHECK(hipMemcpy(de, exponents.data(), n * sizeof(uint64_t), hipMemcpyHostToDevice));
    powers<N><<<(n + 31) / 32, 32>>>(base, de, n, dc, dt);
    HIP_CHECK(hipGetLastError());
    std::vector<uint32_t> c(n), t(n);
    HIP_CHECK(hipMemcpy(c.data(), dc, n * sizeof(uint32_t), hipMemcpyDeviceToHost));
    HIP_CHECK(hipMemcpy(t.data(), dt, n * sizeof(uint32_t), hipMemcpyDeviceToHost));
    // Step by step for the small exponents.
    int wrong = 0;
    Matrix<N> step = base;
    std::vector<uint32_t> direct(1, 0u);
    for (int e = 1; e < 200; ++e) {
        direct.push_back(step.m[0][N - 1]);
        step = multiply<N>(step, base);
    }
    uint64_t fold = 0;
    for (int i = 0; i < n; ++i) {
        fold = fold * 1099511628211ull + c[i] + ((uint64_t)t[i] << 32);
        if (exponents[i] < direct.size()) wrong += direct[exponents[i]] != c[i];
    }
    printf("%s: term(%llu) = %u, last %u, fold %016llx, wrong %d\n", name, (unsigned long long)exponents[n / 2], c[n / 2],
           c[n - 1], (unsigned long long)fold, wrong);
    HIP_CHECK(hipFree(de));
    HIP_CHECK(hipFree(dc));
    HIP_CHECK(hipFree(dt));
    return wrong;
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 500;
    uint64_t s = argc > 2 ? strtoull(argv[2], nullptr, 10) : 2ull;
    if (n < 1) return 1;
    std::vector<uint64_t> exponents(n);
    for (int i = 0; i < n; ++i) {
        s = s * 6364136223846793005ull + 1442695040888963407ull;
        exponents[i] = i < 90 ? (uint64_t)i : s >> (20 + i % 30);
    }
    Matrix<2> fibonacci = { { { 1, 1 }, { 1, 0 } } };
    Matrix<3> tribonacci = { { { 1, 1, 1 }, { 1, 0, 0 }, { 0, 1, 0 } } };
    int wrong = run<2>("fibonacci", fibonacci, exponents);
    wrong += run<3>("tribonacci", tribonacci, exponents);
    return wrong ? 1 : 0;
}
