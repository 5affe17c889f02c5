// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <hip/hip_runtime.h>
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
#define HIP_CHECK(expr) checkHip((expr), #expr, __LINE__)

template <typename T>
struct Results {
    T sum, product, quotient, remainder;
};

template <typename T>
__host__ __device__ Results<T> apply(T a, T b)
{
    Results<T> r;
    r.sum = a + b;
    r.product = a * b;
    r.quotient = b == 0 ? (T)0 : a / b;
    r.remainder = b == 0 ? a : a % b;
    return r;
}

template <typename T>
__global__ void applyAll(const T* a, const T* b, Results<T>* out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = apply<T>(a[i], b[i]);
}

static uint64_t state;
static uint64_t draw()
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return state >> 16;
}

template <typename T>
static int suite(const char* name, int n, int bitsA, int bitsB)
{
    std::vector<T> a(n), b(n);
    for (int i = 0; i < n; ++i) {
        const int64_t x = (int64_t)(draw() & ((1ull << bitsA) - 1)), y = (int64_t)(draw() & ((1ull << (bitsB - i % (bitsB - 1))) - 1));
        const bool negative = (T)-1 < (T)0;
        a[i] = (T)(negative && (draw() & 1) ? -x : x);
        b[i] = (T)(negative && (draw() & 1) ? -y : y);
    }
    T *da, *db;
    Results<T>* dr;
    HIP_CHECK(hipMalloc(&da, n * sizeof(T)));
    HIP_CHECK(hipMalloc(&db, n * sizeof(T)));
    HIP_CHECK(hipMalloc(&dr, n * sizeof(Results<T>)));
    HIP_CHECK(hipMemcpy(da, a.data(), n * sizeof(T), hipMemcpyHostToDevice));
    HIP_CHECK(hipMemcpy(db, b.data(), n * sizeof(T), hipMemcpyHostToDevice));
    applyAll<T><<<(n + 95) / 96, 96>>>(da, db, dr, n);
    HIP_CHECK(hipGetLastError());
    std::vector<Results<T>> r(n);
    HIP_CHECK(hipMemcpy(r.data(), dr, n * sizeof(Results<T>), hipMemcpyDeviceToHost));
    uint64_t folds[4] = {0, 0, 0, 0};
    int wrong = 0;
    for (int i = 0; i < n; ++i) {
        const Results<T> e = apply<T>(a[i], b[i]);
        wrong += e.sum != r[i].sum || e.product != r[i].product || e.quotient != r[i].quotient || e.remainder != r[i].remainder;
        folds[0] = folds[0] * 31 + (uint64_t)r[i].sum;
        folds[1] = folds[1] * 31 + (uint64_t)r[i].product;
        folds[2] = folds[2] * 31 + (uint64_t)r[i].quotient;
        folds[3] = folds[3] * 31 + (uint64_t)r[i].remainder;
    }
    printf("%-8s + %016llx * %016llx / %016llx %% %016llx wrong %d\n", name, (unsigned long long)folds[0],
           (unsigned long long)folds[1], (unsigned long long)folds[2], (unsigned long long)folds[3], wrong);
    hipFree(da); hipFree(db); hipFree(dr);
    return wrong;
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 5000;
    state = argc > 2 ? strtoull(argv[2], nullptr, 10) : 12ull;
    if (n < 1) return 1;
    int wrong = suite<int>("int", n, 16, 14);
    wrong += suite<uint32_t>("unsigned", n, 32, 31);
    wrong += suite<int64_t>("int64", n, 34, 28);
    wrong += suite<uint64_t>("uint64", n, 47, 40);
    printf("%s\n", wrong ? "FAILED" : "ok");
    return wrong ? 1 : 0;
}
