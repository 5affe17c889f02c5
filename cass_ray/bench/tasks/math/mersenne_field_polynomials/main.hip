// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Polynomials over the prime field of 2^61 - 1 in three evaluation orders (Horner, Estrin,
// split), chosen by template.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define GPU_OK(expression)                                                        \
    if (hipError_t failure = (expression); failure != hipSuccess) {            \
        fprintf(stderr, "error %d (%s) in line %d\n", (int)failure,              \
                hipGetErrorName(failure), __LINE__);                            \
        exit(2);                                                                 \
    }

class Random {
public:
    explicit Random(unsigned seed) : state(seed * 2654435761u + 12345u) {}
    unsigned next()
    {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        return (unsigned)(state >> 32);
    }
    unsigned below(unsigned bound) { return next() % bound; }

private:
    unsigned long long state;
};

static int argument(int argc, char** argv, int index, int fallback)
{
    return argc > index ? atoi(argv[index]) : fallback;
}

template <typename T>
static T* upload(const std::vector<T>& values)
{
    T* memory = nullptr;
    GPU_OK(hipMalloc(&memory, (values.empty() ? 1 : values.size()) * sizeof(T)));
    GPU_OK(hipMemcpy(memory, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice));
    return memory;
}

template <typename T>
static T* deviceZeros(size_t count)
{
    T* memory = nullptr;
    GPU_OK(hipMalloc(&memory, count * sizeof(T)));
    GPU_OK(hipMemset(memory, 0, count * sizeof(T)));
    return memory;
}

template <typename T>
static std::vector<T> download(const T* memory, size_t count)
{
    std::vector<T> values(count);
    GPU_OK(hipMemcpy(values.data(), memory, count * sizeof(T), hipMemcpyDeviceToHost));
    return values;
}

// FNV-1a over the bytes of all values.
template <typename T>
static unsigned fingerprint(const std::vector<T>& values)
{
    const unsigned char* bytes = reinterpret_cast<const unsigned char*>(values.data());
    unsigned hash = 2166136261u;
    for (size_t i = 0; i < values.size() * sizeof(T); ++i)
        hash = (hash ^ bytes[i]) * 16777619u;
    return hash;
}

template <typename T>
static void show(const char* label, const std::vector<T>& values, size_t count = 8)
{
    printf("%s:", label);
    const size_t step = values.size() > count ? values.size() / count : 1;
    for (size_t i = 0; i < values.size(); i += step)
        printf(" %lld", (long long)values[i]);
    printf("\n");
}

static int finish(bool right)
{
    GPU_OK(hipDeviceSynchronize());
    printf("verify: %s\n", right ? "OK" : "MISMATCH");
    return right ? 0 : 1;
}

typedef unsigned long long u64;
static const int kDegree = 23;
__constant__ u64 coefficients[kDegree + 1];
static const u64 kPrime = (1ull << 61) - 1;

__host__ __device__ inline u64 reduce(u64 x)
{
    const u64 prime = (1ull << 61) - 1;
    x = (x & prime) + (x >> 61);
    return x >= prime ? x - prime : x;
}

__device__ __forceinline__ u64 multiply(u64 a, u64 b)
{
    const u64 low = a * b;
    const u64 high = __umul64hi(a, b);
    return reduce((low & ((1ull << 61) - 1)) + (high << 3 | low >> 61));
}

__device__ __forceinline__ u64 add(u64 a, u64 b) { return reduce(a + b); }

template <int Order>
struct Evaluate;

template <>
struct Evaluate<0> {
    __device__ static u64 at(u64 x)
    {
        u64 r = coefficients[kDegree];
#pragma unroll
        for (int k = kDegree - 1; k >= 0; --k)
            r = add(multiply(r, x), coefficients[k]);
        return r;
    }
};

template <>
struct Evaluate<1> {
    __device__ static u64 at(u64 x)
    {
        u64 level[(kDegree + 1) / 2];
#pragma unroll
        for (int k = 0; k < (kDegree + 1) / 2; ++k)
            level[k] = add(coefficients[2 * k], multiply(coefficients[2 * k + 1], x));
        const u64 x2 = multiply(x, x), x4 = multiply(x2, x2), x8 = multiply(x4, x4);
#pragma unroll
        for (int k = 0; k < 6; ++k)
            level[k] = add(level[2 * k], multiply(level[2 * k + 1], x2));
#pragma unroll
        for (int k = 0; k < 3; ++k)
            level[k] = add(level[2 * k], multiply(level[2 * k + 1], x4));
        return add(level[0], multiply(x8, add(level[1], multiply(x8, level[2]))));
    }
};

template <>
struct Evaluate<2> {
    __device__ static u64 at(u64 x)
    {
        const u64 x2 = multiply(x, x);
        u64 even = coefficients[kDegree - 1], odd = coefficients[kDegree];
        for (int k = kDegree - 3; k >= 0; k -= 2) {
            even = add(multiply(even, x2), coefficients[k]);
            odd = add(multiply(odd, x2), coefficients[k + 1]);
        }
        return add(even, multiply(odd, x));
    }
};

template <int Order>
__global__ void evaluate(const u64* points, u64* values, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        values[i] = Evaluate<Order>::at(points[i]);
}

int main(int argc, char** argv)
{
    const int n = argument(argc, argv, 1, 1500);
    Random random((unsigned)argument(argc, argv, 2, 17));
    if (n < 1)
        return 2;
    u64 host[kDegree + 1];
    for (u64& c : host) {
        const u64 high = random.next();
        c = reduce(high << 32 | random.next());
    }
    std::vector<u64> points(n);
    for (u64& p : points) {
        const u64 high = random.next();
        p = reduce(high << 32 | random.next());
    }
    points[0] = kPrime - 1;
    GPU_OK(hipMemcpyToSymbol(coefficients, host, sizeof host));
    u64* dPoints = upload(points);
    u64* dValues = deviceZeros<u64>(n);
    std::vector<u64> values[3];
    for (int order = 0; order < 3; ++order) {
        if (order == 0)
            evaluate<0><<<5, 96>>>(dPoints, dValues, n);
        else if (order == 1)
            evaluate<1><<<7, 64>>>(dPoints, dValues, n);
        else
            evaluate<2><<<3, 128>>>(dPoints, dValues, n);
        GPU_OK(hipGetLastError());
        values[order] = download(dValues, n);
        printf("order %d digest %08x\n", order, fingerprint(values[order]));
    }
    int wrong = 0;
    for (int i = 0; i < n; ++i) {
        u64 r = 0;
        for (int k = kDegree; k >= 0; --k) {
            const unsigned __int128 product = (unsigned __int128)r * points[i] + host[k];
            r = (u64)(product % kPrime);
        }
        wrong += r != values[0][i] || r != values[1][i] || r != values[2][i];
    }
    show("values", values[1], 6);
    GPU_OK(hipFree(dPoints));
    GPU_OK(hipFree(dValues));
    return finish(wrong == 0);
}
