// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Histogram in which lanes of a warp with equal keys elect a leader with __match_any_sync and
// add once.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define TRY(call)                                                                  \
    do {                                                                             \
        const hipError_t status_ = (call);                                          \
        if (status_ != hipSuccess) {                                                \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(status_)); \
            exit(2);                                                                 \
        }                                                                            \
    } while (0)

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
static T* copyIn(const std::vector<T>& values)
{
    T* memory = nullptr;
    TRY(hipMalloc(&memory, (values.empty() ? 1 : values.size()) * sizeof(T)));
    TRY(hipMemcpy(memory, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice));
    return memory;
}

template <typename T>
static T* cleared(size_t count)
{
    T* memory = nullptr;
    TRY(hipMalloc(&memory, count * sizeof(T)));
    TRY(hipMemset(memory, 0, count * sizeof(T)));
    return memory;
}

template <typename T>
static std::vector<T> copyOut(const T* memory, size_t count)
{
    std::vector<T> values(count);
    TRY(hipMemcpy(values.data(), memory, count * sizeof(T), hipMemcpyDeviceToHost));
    return values;
}

// FNV-1a over the bytes of all values.
template <typename T>
static unsigned hashOf(const std::vector<T>& values)
{
    const unsigned char* bytes = reinterpret_cast<const unsigned char*>(values.data());
    unsigned hash = 2166136261u;
    for (size_t i = 0; i < values.size() * sizeof(T); ++i)
        hash = (hash ^ bytes[i]) * 16777619u;
    return hash;
}

template <typename T>
static void printSome(const char* label, const std::vector<T>& values, size_t count = 8)
{
    printf("%s:", label);
    const size_t step = values.size() > count ? values.size() / count : 1;
    for (size_t i = 0; i < values.size(); i += step)
        printf(" %lld", (long long)values[i]);
    printf("\n");
}

static int conclude(bool right)
{
    TRY(hipDeviceSynchronize());
    printf("verify: %s\n", right ? "OK" : "MISMATCH");
    return right ? 0 : 1;
}

__global__ void matchHistogram(const unsigned* keys, int n, unsigned* bins, unsigned* weights)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const unsigned key = keys[i];
    // Groups of 32 consecutive threads: half a wavefront where that has 64 lanes.
    const int lane = threadIdx.x & 31;
    const int firstLane = __lane_id() - lane;
    unsigned peers = 0;
    unsigned long long waiting = __ballot(1);
    while (waiting != 0) {
        const int source = __ffsll((long long)waiting) - 1;
        const unsigned long long same = __ballot(key == __shfl(key, source));
        if (same >> __lane_id() & 1)
            peers = (unsigned)(same >> firstLane);
        waiting &= ~same;
    }
    const int leader = __ffs(peers) - 1;
    if (lane == leader)
        atomicAdd(&bins[key], (unsigned)__popc(peers));
    // The rank among the peers decides the weight.
    const unsigned rank = __popc(peers & ((1u << lane) - 1u));
    const unsigned odd = (unsigned)(__ballot(rank & 1u) >> firstLane);
    if (lane == leader)
        atomicAdd(&weights[key], (unsigned)__popc(odd & peers));
}

int main(int argc, char** argv)
{
    const int n = argument(argc, argv, 1, 20000);
    const int range = argument(argc, argv, 2, 64);
    Random random((unsigned)argument(argc, argv, 3, 1));
    if (n < 1 || range < 1)
        return 2;
    std::vector<unsigned> keys(n);
    std::vector<unsigned> expected(range, 0), expectedWeights(range, 0);
    for (unsigned& key : keys) {
        const unsigned a = random.below(range);
        const unsigned b = random.below(range);
        key = a < b ? a : b;
        ++expected[key];
    }
    for (int start = 0; start < n; start += 32)
        for (int i = start; i < n && i < start + 32; ++i) {
            int rank = 0;
            for (int j = start; j < i; ++j)
                rank += keys[j] == keys[i];
            expectedWeights[keys[i]] += rank & 1;
        }
    unsigned* dKeys = copyIn(keys);
    unsigned* dBins = cleared<unsigned>(range);
    unsigned* dWeights = cleared<unsigned>(range);
    matchHistogram<<<(n + 127) / 128, 128>>>(dKeys, n, dBins, dWeights);
    TRY(hipGetLastError());
    const std::vector<unsigned> bins = copyOut(dBins, range), weights = copyOut(dWeights, range);
    printf("keys %d, bins %d, digest %08x, weights digest %08x\n", n, range, hashOf(bins),
           hashOf(weights));
    printSome("bins", bins, 16);
    printSome("weights", weights, 16);
    TRY(hipFree(dKeys));
    TRY(hipFree(dBins));
    TRY(hipFree(dWeights));
    return conclude(bins == expected && weights == expectedWeights);
}
