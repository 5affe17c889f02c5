// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Segmented sieve of the odd numbers in a bit array in shared memory, with counts, twins and
// the largest gap.
#include <hip/hip_runtime.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(expression)                                                        \
    if (hipError_t failure = (expression); failure != hipSuccess) {            \
        fprintf(stderr, "error %d (%s) in line %d\n", (int)failure,              \
                hipGetErrorName(failure), __LINE__);                            \
        exit(2);                                                                 \
    }

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

#define THREADS 128
#define MAX_WORDS 64

// Bit k of a segment stands for the odd number first + 2 k.
__global__ void sieve(const int* primes, int primeCount, int limit, int segmentBits, unsigned* bits,
                      int* counts)
{
    __shared__ unsigned composite[MAX_WORDS];
    const int words = segmentBits / 32;
    const int first = 1 + 2 * blockIdx.x * segmentBits;
    for (int w = threadIdx.x; w < words; w += THREADS)
        composite[w] = 0;
    __syncthreads();
    for (int p = threadIdx.x; p < primeCount; p += THREADS) {
        const int prime = primes[p];
        int start = (first + prime - 1) / prime * prime;
        if (start % 2 == 0)
            start += prime;
        if (start < prime * prime)
            start = prime * prime;
        for (int value = start; value < first + 2 * segmentBits; value += 2 * prime)
            atomicOr(&composite[(value - first) / 64], 1u << ((value - first) / 2 % 32));
    }
    __syncthreads();
    int mine = 0;
    for (int w = threadIdx.x; w < words; w += THREADS) {
        unsigned prime = ~composite[w];
        const int low = first + 64 * w;
        if (low == 1)
            prime &= ~1u;
        for (int k = 0; k < 32; ++k)
            if (low + 2 * k > limit)
                prime &= ~(1u << k);
        bits[blockIdx.x * words + w] = prime;
        mine += __popc(prime);
    }
    const int busy = __syncthreads_count(mine > 0);
    __shared__ int total;
    if (threadIdx.x == 0)
        total = 0;
    __syncthreads();
    atomicAdd(&total, mine);
    __syncthreads();
    if (threadIdx.x == 0) {
        counts[2 * blockIdx.x] = total;
        counts[2 * blockIdx.x + 1] = busy;
    }
}

int main(int argc, char** argv)
{
    const int limit = argument(argc, argv, 1, 100000);
    const int segmentBits = argument(argc, argv, 2, 2048);
    if (limit < 10 || segmentBits % 32 || segmentBits < 32 || segmentBits > 32 * MAX_WORDS)
        return 2;
    std::vector<int> primes;
    for (int v = 3; v * v <= limit; v += 2) {
        bool prime = true;
        for (int p : primes)
            prime = prime && v % p != 0;
        if (prime)
            primes.push_back(v);
    }
    const int segments = (limit / 2 + segmentBits) / segmentBits;
    int* dPrimes = toDevice(primes);
    unsigned* dBits = zeros<unsigned>((size_t)segments * segmentBits / 32);
    int* dCounts = zeros<int>(2 * segments);
    sieve<<<segments, THREADS>>>(dPrimes, (int)primes.size(), limit, segmentBits, dBits, dCounts);
    CHECK(hipGetLastError());
    const std::vector<unsigned> bits = toHost(dBits, (size_t)segments * segmentBits / 32);
    const std::vector<int> counts = toHost(dCounts, 2 * segments);

    std::vector<char> composite(limit + 1, 0);
    int expected = 1;
    for (int v = 3; v <= limit; v += 2) {
        if (composite[v])
            continue;
        ++expected;
        for (long long m = (long long)v * v; m <= limit; m += 2 * v)
            composite[m] = 1;
    }
    int found = 1, twins = 0, gap = 0, gapAt = 0, previous = 2, wrong = 0;
    long long sum = 2;
    for (int v = 3; v <= limit; v += 2) {
        const bool prime = bits[(v - 1) / 64] >> ((v - 1) / 2 % 32) & 1u;
        wrong += prime == (composite[v] != 0);
        if (!prime)
            continue;
        ++found;
        sum += v;
        twins += v - previous == 2;
        if (v - previous > gap) {
            gap = v - previous;
            gapAt = previous;
        }
        previous = v;
    }
    int counted = 1, busiest = 0;
    for (int s = 0; s < segments; ++s) {
        counted += counts[2 * s];
        busiest = std::max(busiest, counts[2 * s + 1]);
    }
    printf("primes up to %d: %d (counted %d), twins %d\n", limit, found, counted, twins);
    printf("sum %lld, last %d, largest gap %d after %d\n", sum, previous, gap, gapAt);
    printf("busiest block %d threads, bits digest %08x\n", busiest, digest(bits));
    show("per segment", counts, 12);
    return finish(wrong == 0 && found == expected && counted == expected);
}
