// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Cuckoo hash table with two functions, insertion by 64-bit atomic exchange, a stash, lookups
// and deletions.
#include <hip/hip_runtime.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define GPU_OK(expression)                                                        \
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
#define EMPTY 0xffffffffffffffffull
#define STASH 64

__device__ unsigned stashCount;
__device__ u64 stash[STASH];

struct Cuckoo {
    u64* slots;  // key << 32 | value
    unsigned size, seed;

    __host__ __device__ unsigned place(unsigned key, int which) const
    {
        unsigned h = key * 0x9e3779b1u + seed * (which ? 0x85ebca77u : 0xc2b2ae3du);
        h ^= h >> 15;
        h *= which ? 0x27d4eb2fu : 0x165667b1u;
        h ^= h >> 13;
        return h % size + (which ? size : 0);
    }

    __device__ void insert(unsigned key, unsigned value) const
    {
        u64 carried = (u64)key << 32 | value;
        int which = 0;
        for (int kicks = 0; kicks < 60; ++kicks) {
            const unsigned at = place((unsigned)(carried >> 32), which);
            carried = atomicExch(&slots[at], carried);
            if (carried == EMPTY)
                return;
            // The evicted key goes to its other place.
            which = place((unsigned)(carried >> 32), 0) == at ? 1 : 0;
        }
        const unsigned k = atomicAdd(&stashCount, 1u);
        if (k < STASH)
            stash[k] = carried;
    }

    __device__ bool find(unsigned key, unsigned& value) const
    {
        for (int which = 0; which < 2; ++which) {
            const u64 slot = slots[place(key, which)];
            if (slot >> 32 == key && slot != EMPTY) {
                value = (unsigned)slot;
                return true;
            }
        }
        for (unsigned k = 0; k < stashCount; ++k)
            if (stash[k] >> 32 == key) {
                value = (unsigned)stash[k];
                return true;
            }
        return false;
    }

    __device__ bool erase(unsigned key) const
    {
        for (int which = 0; which < 2; ++which) {
            u64* slot = &slots[place(key, which)];
            const u64 seen = *slot;
            if (seen != EMPTY && seen >> 32 == key)
                return atomicCAS(slot, seen, EMPTY) == seen;
        }
        return false;
    }
};

__global__ void insertAll(Cuckoo table, const unsigned* keys, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        table.insert(keys[i], i * 3 + 1);
}

__global__ void lookupAll(Cuckoo table, const unsigned* keys, int n, unsigned* answers, unsigned* hits)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned value = 0;
    if (i < n && table.find(keys[i], value)) {
        answers[i] = value;
        atomicAdd(hits, 1u);
    }
}

__global__ void eraseEveryThird(Cuckoo table, const unsigned* keys, int n)
{
    const int i = 3 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        table.erase(keys[i]);
}

int main(int argc, char** argv)
{
    const int n = argument(argc, argv, 1, 1000);
    const unsigned seed = (unsigned)argument(argc, argv, 2, 1);
    if (n < 4)
        return 2;
    std::vector<unsigned> queries(2 * n);
    for (int i = 0; i < n; ++i) {
        // An odd multiplier makes all keys different; the second half is absent.
        queries[i] = ((unsigned)i * 2654435761u + seed) | 1u;
        queries[n + i] = queries[i] & ~1u;
    }
    std::vector<unsigned> unique(queries.begin(), queries.begin() + n);
    std::sort(unique.begin(), unique.end());
    const int distinct = (int)(std::unique(unique.begin(), unique.end()) - unique.begin());
    if (distinct != n)
        for (int i = 0; i < n; ++i) {
            queries[i] = (unsigned)i * 2 + 1;
            queries[n + i] = (unsigned)i * 2;
        }
    const unsigned size = (unsigned)n * 3 / 2 | 1u;
    const unsigned zero = 0;
    GPU_OK(hipMemcpyToSymbol(stashCount, &zero, sizeof zero));
    unsigned* dQueries = upload(queries);
    Cuckoo table = {upload(std::vector<u64>(2 * size, EMPTY)), size, seed};
    unsigned* dAnswers = deviceZeros<unsigned>(2 * n);
    unsigned* dHits = deviceZeros<unsigned>(1);
    insertAll<<<(n + 95) / 96, 96>>>(table, dQueries, n);
    GPU_OK(hipGetLastError());
    lookupAll<<<(2 * n + 127) / 128, 128>>>(table, dQueries, 2 * n, dAnswers, dHits);
    GPU_OK(hipGetLastError());
    const std::vector<unsigned> answers = download(dAnswers, 2 * n);
    const unsigned hits = download(dHits, 1)[0];
    unsigned stashed = 0;
    GPU_OK(hipMemcpyFromSymbol(&stashed, stashCount, sizeof stashed));
    int wrong = 0;
    for (int i = 0; i < n; ++i)
        wrong += answers[i] != (unsigned)i * 3 + 1 || answers[n + i] != 0;
    const std::vector<u64> slots = download(table.slots, 2 * size);
    unsigned used = 0;
    u64 keySum = 0;
    for (u64 s : slots)
        if (s != EMPTY) {
            ++used;
            keySum += s;
        }
    eraseEveryThird<<<(n / 3 + 64) / 64, 64>>>(table, dQueries, n);
    GPU_OK(hipMemset(dAnswers, 0, 2 * n * sizeof(unsigned)));
    GPU_OK(hipMemset(dHits, 0, sizeof(unsigned)));
    lookupAll<<<(2 * n + 127) / 128, 128>>>(table, dQueries, 2 * n, dAnswers, dHits);
    GPU_OK(hipGetLastError());
    const unsigned left = download(dHits, 1)[0];
    printf("inserted %d, hits %u, stored %u, sum %llu\n", n, hits, used + stashed, stashed ? 0ull : keySum);
    printf("answers %08x, after erasing %u: %08x\n", fingerprint(answers), left, fingerprint(download(dAnswers, 2 * n)));
    show("answers", answers, 8);
    return finish(wrong == 0 && hits == (unsigned)n && used + stashed == (unsigned)n);
}
