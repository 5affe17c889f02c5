// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Radix-4 number-theoretic transform modulo a 62-bit prime for exact convolutions of blocks,
// with a fused pointwise product.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                  \
    do {                                                                             \
        const hipError_t status_ = (call);                                          \
        if (status_ != hipSuccess) {                                                \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(status_)); \
            exit(2);                                                                 \
        }                                                                            \
    } while (0)

struct Random {
    unsigned x;
    explicit Random(unsigned seed) : x(seed ^ 0x9e3779b9u)
    {
        if (x == 0)
            x = 1;
    }
    unsigned next()
    {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        return x * 0x2545f491u;
    }
    unsigned below(unsigned bound) { return (next() >> 4) % bound; }
};

static int argument(int argc, char** argv, int index, int fallback)
{
    return argc > index ? atoi(argv[index]) : fallback;
}

template <typename T>
static T* toDevice(const std::vector<T>& values)
{
    T* memory = nullptr;
    CHECK(hipMalloc(&memory, (values.empty() ? 1 : values.size()) * sizeof(T)));
    CHECK(hipMemcpy(memory, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice));
    return memory;
}

template <typename T>
static T* zeros(size_t count)
{
    T* memory = nullptr;
    CHECK(hipMalloc(&memory, count * sizeof(T)));
    CHECK(hipMemset(memory, 0, count * sizeof(T)));
    return memory;
}

template <typename T>
static std::vector<T> toHost(const T* memory, size_t count)
{
    std::vector<T> values(count);
    CHECK(hipMemcpy(values.data(), memory, count * sizeof(T), hipMemcpyDeviceToHost));
    return values;
}

// FNV-1a over the bytes of all values.
template <typename T>
static unsigned digest(const std::vector<T>& values)
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
    CHECK(hipDeviceSynchronize());
    printf("verify: %s\n", right ? "OK" : "MISMATCH");
    return right ? 0 : 1;
}

typedef unsigned long long u64;
// 27 * 2^56 + 1; the order of the group is a multiple of every transform length here.
#define PRIME 1945555039024054273ull
#define LENGTH 256

__device__ __forceinline__ u64 addMod(u64 a, u64 b)
{
    const u64 s = a + b;
    return s >= PRIME ? s - PRIME : s;
}

__device__ __forceinline__ u64 subMod(u64 a, u64 b) { return a >= b ? a - b : a + PRIME - b; }

// Montgomery product with R = 2^64.
__device__ __forceinline__ u64 mulMod(u64 a, u64 b, u64 negativeInverse)
{
    const u64 low = a * b, high = __umul64hi(a, b);
    const u64 m = low * negativeInverse;
    const u64 carry = low != 0 ? 1 : 0;
    const u64 r = high + __umul64hi(m, PRIME) + carry;
    return r >= PRIME ? r - PRIME : r;
}

__device__ __forceinline__ int reverse4(int i)
{
    int r = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        r = r << 2 | (i & 3);
        i >>= 2;
    }
    return r;
}

// Decimation in time over base-4 digits; roots[k] = w^k in Montgomery form.
template <bool Inverse>
__device__ void transform(u64* data, const u64* roots, u64 ni)
{
    const int t = threadIdx.x;
#pragma unroll
    for (int half = 1; half < LENGTH; half *= 4) {
        __syncthreads();
        const int j = t % half, base = t / half * 4 * half + j, step = LENGTH / (4 * half) * j;
        const u64 w1 = roots[Inverse ? (LENGTH - step) % LENGTH : step];
        const u64 w2 = roots[Inverse ? (LENGTH - 2 * step) % LENGTH : 2 * step];
        const u64 w3 = roots[Inverse ? (2 * LENGTH - 3 * step) % LENGTH : 3 * step % LENGTH];
        const u64 quarter = roots[Inverse ? 3 * LENGTH / 4 : LENGTH / 4];
        const u64 a = data[base], b = mulMod(data[base + half], w1, ni);
        const u64 c = mulMod(data[base + 2 * half], w2, ni), d = mulMod(data[base + 3 * half], w3, ni);
        const u64 ac = addMod(a, c), bd = addMod(b, d);
        const u64 amc = subMod(a, c), bmd = mulMod(subMod(b, d), quarter, ni);
        data[base] = addMod(ac, bd);
        data[base + half] = addMod(amc, bmd);
        data[base + 2 * half] = subMod(ac, bd);
        data[base + 3 * half] = subMod(amc, bmd);
    }
    __syncthreads();
}

__global__ void convolve(const u64* x, const u64* y, u64* spectrum, u64* out, const u64* roots, u64 ni,
                         u64 scale)
{
    extern __shared__ u64 buffer[];
    u64* left = buffer;
    u64* right = buffer + LENGTH;
    u64* again = buffer + 2 * LENGTH;
    const u64* bx = x + blockIdx.x * LENGTH;
    const u64* by = y + blockIdx.x * LENGTH;
    for (int i = threadIdx.x; i < LENGTH; i += LENGTH / 4) {
        left[i] = bx[reverse4(i)];
        right[i] = by[reverse4(i)];
    }
    transform<false>(left, roots, ni);
    transform<false>(right, roots, ni);
    for (int i = threadIdx.x; i < LENGTH; i += LENGTH / 4) {
        const u64 product = mulMod(left[i], right[i], ni);
        spectrum[blockIdx.x * LENGTH + i] = left[i];
        again[reverse4(i)] = mulMod(product, scale, ni);
    }
    transform<true>(again, roots, ni);
    for (int i = threadIdx.x; i < LENGTH; i += LENGTH / 4)
        out[blockIdx.x * LENGTH + i] = again[i];
}

static u64 hostMul(u64 a, u64 b) { return (u64)((unsigned __int128)a * b % PRIME); }

static u64 power(u64 base, u64 exponent)
{
    u64 r = 1;
    for (; exponent; exponent >>= 1, base = hostMul(base, base))
        if (exponent & 1)
            r = hostMul(r, base);
    return r;
}

int main(int argc, char** argv)
{
    const int blocks = argument(argc, argv, 1, 4);
    Random random((unsigned)argument(argc, argv, 2, 1));
    if (blocks < 1)
        return 2;
    u64 inverse = 1;
    for (int k = 0; k < 6; ++k)
        inverse *= 2 - PRIME * inverse;
    const u64 ni = 0 - inverse, r1 = (u64)(((unsigned __int128)1 << 64) % PRIME), r2 = hostMul(r1, r1);
    u64 generator = 2;
    while (power(generator, (PRIME - 1) / 2) == 1 || power(generator, (PRIME - 1) / 3) == 1)
        ++generator;
    const u64 root = power(generator, (PRIME - 1) / LENGTH);
    std::vector<u64> roots(LENGTH), x(blocks * LENGTH), y(blocks * LENGTH);
    for (int k = 0; k < LENGTH; ++k)
        roots[k] = hostMul(power(root, k), r1);
    for (int i = 0; i < blocks * LENGTH; ++i) {
        const u64 high = random.next();
        const u64 low = random.next();
        x[i] = (high << 32 | low) % PRIME;
        y[i] = i % LENGTH < LENGTH / 2 ? random.next() : 0;
    }
    u64* dX = toDevice(x);
    u64* dY = toDevice(y);
    u64* dRoots = toDevice(roots);
    u64* dSpectrum = zeros<u64>(blocks * LENGTH);
    u64* dOut = zeros<u64>(blocks * LENGTH);
    // The pointwise product loses one factor R, the scaling has to bring it back: R^2 / length.
    const u64 scale = hostMul(r2, power(LENGTH, PRIME - 2));
    convolve<<<blocks, LENGTH / 4, 3 * LENGTH * sizeof(u64)>>>(dX, dY, dSpectrum, dOut, dRoots, ni, scale);
    CHECK(hipGetLastError());
    const std::vector<u64> out = toHost(dOut, blocks * LENGTH), spectrum = toHost(dSpectrum, blocks * LENGTH);
    int wrong = 0;
    for (int b = 0; b < blocks; ++b)
        for (int i = 0; i < LENGTH; i += 5) {
            u64 sum = 0;
            for (int k = 0; k < LENGTH; ++k) {
                sum += hostMul(x[b * LENGTH + k], y[b * LENGTH + (i - k + LENGTH) % LENGTH]);
                sum %= PRIME;
            }
            wrong += sum != out[b * LENGTH + i];
        }
    printf("generator %llu, root %llu\n", generator, root);
    printf("blocks %d, spectrum digest %08x, convolution digest %08x\n", blocks, digest(spectrum), digest(out));
    show("convolution", out, 6);
    return finish(wrong == 0);
}
