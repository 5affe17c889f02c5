// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <cuda_runtime.h>
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

typedef unsigned long long u64;
#define MODULUS ((1ull << 61) - 1)
#define MAX_TERMS 32
__constant__ u64 coefficients[MAX_TERMS];

__device__ __forceinline__ u64 reduce(u64 v)
{
    v = (v & MODULUS) + (v >> 61);
    return v >= MODULUS ? v - MODULUS : v;
}
__device__ __forceinline__ u64 multiply(u64 a, u64 b)
{
    const u64 low = a * b, high = __umul64hi(a, b);
    return reduce((low & MODULUS) + ((low >> 61) | (high << 3)));
}

template <int kTerms>
__device__ u64 horner(u64 x)
{
    u64 r = 0;
#pragma unroll
    for (int i = kTerms - 1; i >= 0; --i)
        r = reduce(multiply(r, x) + coefficients[i]);
    return r;
}

// p(x) = even(x^2) + x * odd(x^2), split until one coefficient is left.
template <int kFirst, int kStep, int kTerms>
struct Split {
    static __device__ __forceinline__ u64 at(const u64* powers)
    {
        const u64 even = Split<kFirst, 2 * kStep, (kTerms + 1) / 2>::at(powers + 1);
        const u64 odd = Split<kFirst + kStep, 2 * kStep, kTerms / 2>::at(powers + 1);
        return reduce(even + multiply(powers[0], odd));
    }
};
template <int kFirst, int kStep>
struct Split<kFirst, kStep, 1> {
    static __device__ __forceinline__ u64 at(const u64*) { return coefficients[kFirst]; }
};

template <int kTerms>
__global__ void evaluate(const u64* x, u64* byHorner, u64* bySplit, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    u64 powers[6];
    powers[0] = x[i];
#pragma unroll
    for (int k = 1; k < 6; ++k)
        powers[k] = multiply(powers[k - 1], powers[k - 1]);
    byHorner[i] = horner<kTerms>(x[i]);
    bySplit[i] = Split<0, 1, kTerms>::at(powers);
}

template <int kTerms>
static bool report(const std::vector<u64>& x, const u64* dx, u64* da, u64* db)
{
    const int n = (int)x.size();
    evaluate<kTerms><<<(n + 127) / 128, 128>>>(dx, da, db, n);
    CHECK(cudaGetLastError());
    std::vector<u64> a(n), b(n);
    CHECK(cudaMemcpy(a.data(), da, n * sizeof(u64), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(b.data(), db, n * sizeof(u64), cudaMemcpyDeviceToHost));
    u64 fold = 0;
    int differ = 0;
    for (int i = 0; i < n; ++i) {
        fold = fold * 6364136223846793005ull + a[i];
        differ += a[i] != b[i];
    }
    printf("terms %d: p(x0) = %llu, fold %016llx, differ %d\n", kTerms, a[0], fold, differ);
    return differ == 0;
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 2000;
    u64 s = argc > 2 ? strtoull(argv[2], nullptr, 10) : 1ull;
    if (n < 1) return 1;
    auto next = [&s]() { s = s * 6364136223846793005ull + 1442695040888963407ull; return (s >> 3) % MODULUS; };
    u64 host[MAX_TERMS];
    for (u64& c : host) c = next();
    std::vector<u64> x(n);
    for (u64& v : x) v = next();
    CHECK(cudaMemcpyToSymbol(coefficients, host, sizeof host));
    u64 *dx, *da, *db;
    CHECK(cudaMalloc(&dx, n * sizeof(u64)));
    CHECK(cudaMalloc(&da, n * sizeof(u64)));
    CHECK(cudaMalloc(&db, n * sizeof(u64)));
    CHECK(cudaMemcpy(dx, x.data(), n * sizeof(u64), cudaMemcpyHostToDevice));
    bool ok = report<3>(x, dx, da, db);
    ok = report<8>(x, dx, da, db) && ok;
    ok = report<32>(x, dx, da, db) && ok;
    // The host's answer for the first point and the last polynomial.
    u64 want = 0;
    for (int i = MAX_TERMS - 1; i >= 0; --i)
        want = (u64)(((unsigned __int128)want * x[0] + host[i]) % MODULUS);
    u64 got = 0;
    CHECK(cudaMemcpy(&got, da, sizeof got, cudaMemcpyDeviceToHost));
    ok = ok && got == want;
    printf("%s\n", ok ? "agree" : "DISAGREE");
    cudaFree(dx); cudaFree(da); cudaFree(db);
    return ok ? 0 : 1;
}
