// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Dictionary of 64-bit keys built with CUB radix sort, run-length encoding and prefix sums,
// then searched by range queries.
#include <cuda_runtime.h>
#include <cub/cub.cuh>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void stopOnError(cudaError_t status, const char* what, int line)
{
    if (status == cudaSuccess)
        return;
    fprintf(stderr, "line %d: %s failed: %s\n", line, what, cudaGetErrorString(status));
    exit(2);
}
#define CUDA_CHECK(call) stopOnError((call), #call, __LINE__)

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

static int int_arg(int argc, char** argv, int index, int fallback)
{
    return argc > index ? atoi(argv[index]) : fallback;
}

template <typename T>
static T* to_device(const std::vector<T>& values)
{
    T* memory = nullptr;
    CUDA_CHECK(cudaMalloc(&memory, (values.empty() ? 1 : values.size()) * sizeof(T)));
    CUDA_CHECK(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return memory;
}

template <typename T>
static T* device_zeros(size_t count)
{
    T* memory = nullptr;
    CUDA_CHECK(cudaMalloc(&memory, count * sizeof(T)));
    CUDA_CHECK(cudaMemset(memory, 0, count * sizeof(T)));
    return memory;
}

template <typename T>
static std::vector<T> to_host(const T* memory, size_t count)
{
    std::vector<T> values(count);
    CUDA_CHECK(cudaMemcpy(values.data(), memory, count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
}

// FNV-1a over the bytes of all values.
template <typename T>
static unsigned fnv1a(const std::vector<T>& values)
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
    CUDA_CHECK(cudaDeviceSynchronize());
    printf("verify: %s\n", right ? "OK" : "MISMATCH");
    return right ? 0 : 1;
}

typedef unsigned long long u64;

static void* scratch = nullptr;
static size_t scratchBytes = 0;

static void* reserve(size_t bytes)
{
    if (bytes > scratchBytes) {
        CUDA_CHECK(cudaFree(scratch));
        CUDA_CHECK(cudaMalloc(&scratch, bytes));
        scratchBytes = bytes;
    }
    return scratch;
}

// Stable: equal keys keep the order of their values.
static void sortPairs(const u64* keys, u64* keysOut, const int* values, int* valuesOut, int n)
{
    size_t bytes = 0;
    CUDA_CHECK(cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, keysOut, values, valuesOut, n));
    CUDA_CHECK(cub::DeviceRadixSort::SortPairs(reserve(bytes), bytes, keys, keysOut, values, valuesOut, n));
}

static int runLengths(const u64* keys, u64* unique, int* lengths, int* runs, int n)
{
    size_t bytes = 0;
    CUDA_CHECK(cub::DeviceRunLengthEncode::Encode(nullptr, bytes, keys, unique, lengths, runs, n));
    CUDA_CHECK(cub::DeviceRunLengthEncode::Encode(reserve(bytes), bytes, keys, unique, lengths, runs, n));
    int count = 0;
    CUDA_CHECK(cudaMemcpy(&count, runs, sizeof count, cudaMemcpyDeviceToHost));
    return count;
}

static void exclusiveSums(const int* in, int* out, int n)
{
    size_t bytes = 0;
    CUDA_CHECK(cub::DeviceScan::ExclusiveSum(nullptr, bytes, in, out, n));
    CUDA_CHECK(cub::DeviceScan::ExclusiveSum(reserve(bytes), bytes, in, out, n));
}

__device__ int firstNotLess(const u64* keys, int n, u64 key)
{
    int low = 0, high = n;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// How many entries have keys in [from, to), and the value of the first.
__global__ void rangeQueries(const u64* unique, const int* starts, int runs, const int* values, int n,
                             const ulonglong2* queries, int2* answers, int count)
{
    const int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= count)
        return;
    const int a = firstNotLess(unique, runs, queries[q].x), b = firstNotLess(unique, runs, queries[q].y);
    const int first = a < runs ? starts[a] : n, last = b < runs ? starts[b] : n;
    answers[q] = make_int2(last - first, first < last ? values[first] : -1);
}

int main(int argc, char** argv)
{
    const int n = int_arg(argc, argv, 1, 1000);
    const int count = int_arg(argc, argv, 2, 300);
    Random random((unsigned)int_arg(argc, argv, 3, 1));
    if (n < 1 || count < 1)
        return 2;
    std::vector<u64> keys(n);
    std::vector<int> values(n);
    for (int i = 0; i < n; ++i) {
        const u64 high = random.below(16);
        const u64 low = random.below(n / 8 + 1);
        keys[i] = high << 60 | low * 0x100000001ull;
        values[i] = i;
    }
    std::vector<ulonglong2> queries(count);
    for (ulonglong2& q : queries) {
        const u64 a = keys[random.below(n)];
        const u64 b = keys[random.below(n)];
        q.x = std::min(a, b);
        q.y = std::max(a, b) + random.below(2);
    }
    u64* dKeys = to_device(keys);
    int* dValues = to_device(values);
    u64* dSorted = device_zeros<u64>(n);
    int* dOrder = device_zeros<int>(n);
    u64* dUnique = device_zeros<u64>(n);
    int* dLengths = device_zeros<int>(n);
    int* dStarts = device_zeros<int>(n);
    int* dRuns = device_zeros<int>(1);
    ulonglong2* dQueries = to_device(queries);
    int2* dAnswers = device_zeros<int2>(count);
    sortPairs(dKeys, dSorted, dValues, dOrder, n);
    const int runs = runLengths(dSorted, dUnique, dLengths, dRuns, n);
    exclusiveSums(dLengths, dStarts, runs);
    rangeQueries<<<(count + 63) / 64, 64>>>(dUnique, dStarts, runs, dOrder, n, dQueries, dAnswers, count);
    CUDA_CHECK(cudaGetLastError());
    const std::vector<int2> answers = to_host(dAnswers, count);
    const std::vector<int> order = to_host(dOrder, n), lengths = to_host(dLengths, runs);
    int wrong = 0, longest = 0;
    for (int v : lengths)
        longest = std::max(longest, v);
    for (int i = 1; i < n; ++i)
        wrong += keys[order[i - 1]] > keys[order[i]] || (keys[order[i - 1]] == keys[order[i]] && order[i - 1] > order[i]);
    long long total = 0;
    for (int q = 0; q < count; ++q) {
        int inside = 0;
        for (u64 k : keys)
            inside += k >= queries[q].x && k < queries[q].y;
        wrong += inside != answers[q].x;
        total += (long long)answers[q].x * (1 + q % 3) + answers[q].y;
    }
    printf("keys %d, distinct %d, longest run %d, total %lld\n", n, runs, longest, total);
    printf("digests: order %08x lengths %08x answers %08x\n", fnv1a(order), fnv1a(lengths), fnv1a(answers));
    show("order", order, 10);
    CUDA_CHECK(cudaFree(scratch));
    return finish(wrong == 0);
}
