// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// The k-th smallest of each segment by radix selection with warp-aggregated digit counts and a
// partial-warp tail.
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

struct Random {
    unsigned counter;
    explicit Random(unsigned seed) : counter(seed * 7919u) {}
    unsigned next()
    {
        unsigned z = counter += 0x9e3779b9u;
        z = (z ^ (z >> 16)) * 0x21f0aaadu;
        z = (z ^ (z >> 15)) * 0x735a2d97u;
        return z ^ (z >> 15);
    }
    unsigned below(unsigned bound) { return (unsigned)(((unsigned long long)next() * bound) >> 32); }
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

static int finish(bool right)
{
    CHECK(hipDeviceSynchronize());
    printf("verify: %s\n", right ? "OK" : "MISMATCH");
    return right ? 0 : 1;
}

#define THREADS 128

__global__ void selectKth(const unsigned* data, int length, int k, unsigned* selected, int* below, int* equal)
{
    __shared__ unsigned counts[16];
    __shared__ unsigned prefix, wanted, remaining;
    const unsigned* segment = data + (size_t)blockIdx.x * length;
    if (threadIdx.x == 0) {
        prefix = 0;
        wanted = 0;
        remaining = (unsigned)k;
    }
    // Lane in the wavefront, which has 32 or 64.
    const int lane = (int)__lane_id();
    for (int shift = 28; shift >= 0; shift -= 4) {
        if (threadIdx.x < 16)
            counts[threadIdx.x] = 0;
        __syncthreads();
        const unsigned mask = wanted, value = prefix;
        for (int start = 0; start < length; start += THREADS) {
            const int i = start + (int)threadIdx.x;
            const unsigned x = i < length ? segment[i] : 0u;
            const bool candidate = i < length && (x & mask) == value;
            const unsigned digit = x >> shift & 15u;
            for (unsigned d = 0; d < 16; ++d) {
                const unsigned long long peers = __ballot(candidate && digit == d);
                if (peers != 0 && lane == 0)
                    atomicAdd(&counts[d], (unsigned)__popcll(peers));
            }
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            unsigned digit = 0;
            while (remaining >= counts[digit])
                remaining -= counts[digit++];
            prefix |= digit << shift;
            wanted |= 15u << shift;
        }
        __syncthreads();
    }
    const unsigned result = prefix;
    __shared__ int less, same;
    if (threadIdx.x == 0)
        less = same = 0;
    __syncthreads();
    for (int start = 0; start < length; start += THREADS) {
        const int i = start + (int)threadIdx.x;
        const unsigned x = i < length ? segment[i] : 0xffffffffu;
        const unsigned long long smaller = __ballot(i < length && x < result);
        const unsigned long long equals = __ballot(i < length && x == result);
        if (lane == 0) {
            atomicAdd(&less, (int)__popcll(smaller));
            atomicAdd(&same, (int)__popcll(equals));
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        selected[blockIdx.x] = result;
        below[blockIdx.x] = less;
        equal[blockIdx.x] = same;
    }
}

int main(int argc, char** argv)
{
    const int segments = argument(argc, argv, 1, 6);
    const int length = argument(argc, argv, 2, 900);
    const int k = argument(argc, argv, 3, 450);
    Random random((unsigned)argument(argc, argv, 4, 1));
    if (segments < 1 || length < 1 || k < 0 || k >= length)
        return 2;
    std::vector<unsigned> data(segments * length);
    for (int i = 0; i < segments * length; ++i) {
        const unsigned wide = random.next();
        const unsigned narrow = random.below(50);
        data[i] = (i / length) % 2 ? narrow * 0x01010101u : wide;
    }
    unsigned* dData = toDevice(data);
    unsigned* dSelected = zeros<unsigned>(segments);
    int* dBelow = zeros<int>(segments);
    int* dEqual = zeros<int>(segments);
    selectKth<<<segments, THREADS>>>(dData, length, k, dSelected, dBelow, dEqual);
    CHECK(hipGetLastError());
    const std::vector<unsigned> selected = toHost(dSelected, segments);
    const std::vector<int> below = toHost(dBelow, segments), equal = toHost(dEqual, segments);
    int wrong = 0;
    for (int s = 0; s < segments; ++s) {
        std::vector<unsigned> sorted(data.begin() + s * length, data.begin() + (s + 1) * length);
        std::sort(sorted.begin(), sorted.end());
        wrong += sorted[k] != selected[s] || below[s] > k || below[s] + equal[s] <= k;
        wrong += std::lower_bound(sorted.begin(), sorted.end(), selected[s]) - sorted.begin() != below[s];
        printf("segment %d: value %u, below %d, equal %d\n", s, selected[s], below[s], equal[s]);
    }
    printf("digest %08x\n", digest(selected));
    return finish(wrong == 0);
}
