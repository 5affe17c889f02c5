// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// 256-bit additions, subtractions and truncated products with carry chains in inline PTX.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define GPU_OK(call)                                                                  \
    do {                                                                             \
        const hipError_t status_ = (call);                                          \
        if (status_ != hipSuccess) {                                                \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(status_)); \
            exit(2);                                                                 \
        }                                                                            \
    } while (0)

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

static int finish(bool right)
{
    GPU_OK(hipDeviceSynchronize());
    printf("verify: %s\n", right ? "OK" : "MISMATCH");
    return right ? 0 : 1;
}

struct U256 {
    unsigned w[8];
};

__device__ __forceinline__ unsigned add256(U256& r, const U256& a, const U256& b)
{
    unsigned long long total = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        total += (unsigned long long)a.w[k] + b.w[k];
        r.w[k] = (unsigned)total;
        total >>= 32;
    }
    return (unsigned)total;
}

__device__ __forceinline__ unsigned sub256(U256& r, const U256& a, const U256& b)
{
    unsigned long long borrow = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        const unsigned long long t = (unsigned long long)a.w[k] - b.w[k] - borrow;
        r.w[k] = (unsigned)t;
        borrow = t >> 63;
    }
    return (unsigned)borrow;
}

// accumulator (96 bits) += x * y
__device__ __forceinline__ void multiplyAdd(unsigned& low, unsigned& middle, unsigned& high,
                                            unsigned x, unsigned y)
{
    const unsigned long long product = (unsigned long long)x * y;
    const unsigned long long before = (unsigned long long)middle << 32 | low;
    const unsigned long long after = before + product;
    low = (unsigned)after;
    middle = (unsigned)(after >> 32);
    high += after < before ? 1u : 0u;
}

__device__ __forceinline__ void mul256(U256& r, const U256& a, const U256& b)
{
    unsigned low = 0, middle = 0, high = 0;
#pragma unroll
    for (int column = 0; column < 8; ++column) {
#pragma unroll
        for (int i = 0; i <= column; ++i)
            multiplyAdd(low, middle, high, a.w[i], b.w[column - i]);
        r.w[column] = low;
        low = middle;
        middle = high;
        high = 0;
    }
}

__global__ void arithmetic(const U256* a, const U256* b, U256* sum, U256* difference, U256* cube,
                           unsigned* flags, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const U256 x = a[i], y = b[i];
    U256 s, d, square, c;
    unsigned bits = add256(s, x, y);
    bits |= sub256(d, x, y) << 1;
    mul256(square, x, x);
    mul256(c, square, y);
    bits |= add256(c, c, s) << 2;
    sum[i] = s;
    difference[i] = d;
    cube[i] = c;
    flags[i] = bits;
}

static U256 hostAdd(const U256& a, const U256& b, bool subtract, unsigned& carry)
{
    U256 r;
    unsigned long long c = subtract ? 1 : 0;
    for (int k = 0; k < 8; ++k) {
        c += (unsigned long long)a.w[k] + (subtract ? ~b.w[k] : b.w[k]);
        r.w[k] = (unsigned)c;
        c >>= 32;
    }
    carry = subtract ? (c ? 0u : 1u) : (unsigned)c;
    return r;
}

static U256 hostMul(const U256& a, const U256& b)
{
    U256 r = {};
    for (int i = 0; i < 8; ++i) {
        unsigned long long c = 0;
        for (int j = 0; i + j < 8; ++j) {
            c += (unsigned long long)a.w[i] * b.w[j] + r.w[i + j];
            r.w[i + j] = (unsigned)c;
            c >>= 32;
        }
    }
    return r;
}

int main(int argc, char** argv)
{
    const int n = argument(argc, argv, 1, 1500);
    Random random((unsigned)argument(argc, argv, 2, 3));
    if (n < 1)
        return 2;
    std::vector<U256> a(n), b(n);
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < 8; ++k) {
            a[i].w[k] = i % 5 == 0 ? 0xffffffffu : random.next();
            b[i].w[k] = i % 7 == 0 ? (k == 0 ? 1u : 0u) : random.next();
        }
    U256* dA = upload(a);
    U256* dB = upload(b);
    U256* dSum = deviceZeros<U256>(n);
    U256* dDifference = deviceZeros<U256>(n);
    U256* dCube = deviceZeros<U256>(n);
    unsigned* dFlags = deviceZeros<unsigned>(n);
    arithmetic<<<(n + 63) / 64, 64>>>(dA, dB, dSum, dDifference, dCube, dFlags, n);
    GPU_OK(hipGetLastError());
    const std::vector<U256> sum = download(dSum, n), difference = download(dDifference, n);
    const std::vector<U256> cube = download(dCube, n);
    const std::vector<unsigned> flags = download(dFlags, n);
    int wrong = 0, counts[8] = {};
    for (int i = 0; i < n; ++i) {
        unsigned c0, c1, c2;
        const U256 s = hostAdd(a[i], b[i], false, c0);
        const U256 d = hostAdd(a[i], b[i], true, c1);
        const U256 c = hostAdd(hostMul(hostMul(a[i], a[i]), b[i]), s, false, c2);
        wrong += memcmp(&s, &sum[i], sizeof s) != 0 || memcmp(&d, &difference[i], sizeof d) != 0 ||
                 memcmp(&c, &cube[i], sizeof c) != 0 || flags[i] != (c0 | c1 << 1 | c2 << 2);
        ++counts[flags[i] & 7];
    }
    printf("digests: sum %08x difference %08x product %08x\n", fingerprint(sum), fingerprint(difference),
           fingerprint(cube));
    printf("flags:");
    for (int count : counts)
        printf(" %d", count);
    printf("\n");
    for (int i = 0; i < n; i += n / 3 + 1) {
        for (int k = 7; k >= 0; --k)
            printf("%08x", cube[i].w[k]);
        printf("\n");
    }
    return finish(wrong == 0);
}
