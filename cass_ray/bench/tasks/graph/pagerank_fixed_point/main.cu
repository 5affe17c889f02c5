// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// PageRank in 64-bit fixed point so that sums do not depend on their order, with dangling mass
// and a residual.
#include <cuda_runtime.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define GPU_OK(call)                                                                  \
    do {                                                                             \
        const cudaError_t status_ = (call);                                          \
        if (status_ != cudaSuccess) {                                                \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
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
    GPU_OK(cudaMalloc(&memory, (values.empty() ? 1 : values.size()) * sizeof(T)));
    GPU_OK(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return memory;
}

template <typename T>
static T* deviceZeros(size_t count)
{
    T* memory = nullptr;
    GPU_OK(cudaMalloc(&memory, count * sizeof(T)));
    GPU_OK(cudaMemset(memory, 0, count * sizeof(T)));
    return memory;
}

template <typename T>
static std::vector<T> download(const T* memory, size_t count)
{
    std::vector<T> values(count);
    GPU_OK(cudaMemcpy(values.data(), memory, count * sizeof(T), cudaMemcpyDeviceToHost));
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
    GPU_OK(cudaDeviceSynchronize());
    printf("verify: %s\n", right ? "OK" : "MISMATCH");
    return right ? 0 : 1;
}

typedef unsigned long long u64;
#define ONE (1ull << 48)

__global__ void push(const int* offsets, const int* targets, const u64* rank, u64* next, u64* dangling, int n)
{
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n)
        return;
    const int degree = offsets[v + 1] - offsets[v];
    if (degree == 0) {
        atomicAdd(dangling, rank[v]);
        return;
    }
    const u64 share = rank[v] / degree;
    for (int e = offsets[v]; e < offsets[v + 1]; ++e)
        atomicAdd(&next[targets[e]], share);
}

// 0.85 as a 64-bit fraction.
__global__ void damp(const u64* rank, u64* next, const u64* dangling, u64* change, int n)
{
    const u64 damping = 15679732462653118873ull;
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n)
        return;
    const u64 updated = (ONE - __umul64hi(ONE, damping)) / n + __umul64hi(next[v] + dangling[0] / n, damping);
    const u64 difference = updated > rank[v] ? updated - rank[v] : rank[v] - updated;
    next[v] = updated;
    atomicAdd(&change[0], difference);
    atomicMax(&change[1], difference);
}

int main(int argc, char** argv)
{
    const int n = argument(argc, argv, 1, 600);
    Random random((unsigned)argument(argc, argv, 2, 1));
    if (n < 2)
        return 2;
    std::vector<int> offsets(1, 0), targets;
    for (int v = 0; v < n; ++v) {
        const int degree = v % 7 == 3 ? 0 : 1 + (int)random.below(8);
        for (int k = 0; k < degree; ++k) {
            const unsigned a = random.below(n);
            const unsigned b = random.below(n);
            targets.push_back((int)(a < b ? a : b));
        }
        offsets.push_back((int)targets.size());
    }
    int* dOffsets = upload(offsets);
    int* dTargets = upload(targets);
    std::vector<u64> rank(n, ONE / n);
    u64* dRank = upload(rank);
    u64* dNext = deviceZeros<u64>(n);
    u64* dScalars = deviceZeros<u64>(3);  // dangling mass, sum of changes, largest change
    const int blocks = (n + 127) / 128;
    bool right = true;
    for (int round = 0; round < 12; ++round) {
        GPU_OK(cudaMemset(dNext, 0, n * sizeof(u64)));
        GPU_OK(cudaMemset(dScalars, 0, 3 * sizeof(u64)));
        push<<<blocks, 128>>>(dOffsets, dTargets, dRank, dNext, dScalars, n);
        damp<<<blocks, 128>>>(dRank, dNext, dScalars, dScalars + 1, n);
        GPU_OK(cudaGetLastError());
        std::swap(dRank, dNext);
        const std::vector<u64> scalars = download(dScalars, 3);
        if (round % 4 == 3)
            printf("round %d: dangling %llu, change %llu, largest %llu\n", round, scalars[0], scalars[1],
                   scalars[2]);
        u64 dangling = 0;
        std::vector<u64> next(n, 0);
        for (int v = 0; v < n; ++v) {
            const int degree = offsets[v + 1] - offsets[v];
            if (degree == 0)
                dangling += rank[v];
            for (int e = offsets[v]; e < offsets[v + 1]; ++e)
                next[targets[e]] += rank[v] / degree;
        }
        const unsigned __int128 damping = 15679732462653118873ull;
        for (int v = 0; v < n; ++v)
            rank[v] = (ONE - (u64)(ONE * damping >> 64)) / n + (u64)((next[v] + dangling / n) * damping >> 64);
        right = right && dangling == scalars[0];
    }
    const std::vector<u64> result = download(dRank, n);
    u64 sum = 0;
    int best = 0;
    for (int v = 0; v < n; ++v) {
        sum += result[v];
        if (result[v] > result[best])
            best = v;
    }
    printf("sum %llu, best vertex %d with %llu, digest %08x\n", sum, best, result[best], fingerprint(result));
    show("ranks", result, 8);
    return finish(right && result == rank);
}
