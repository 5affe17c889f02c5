// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Joint histogram of two channels with 64-bit weights, row and column marginals, minima and
// maxima of 64-bit keys.
#include <cuda_runtime.h>
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
#define TRY(call) stopOnError((call), #call, __LINE__)

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
    TRY(cudaMalloc(&memory, (values.empty() ? 1 : values.size()) * sizeof(T)));
    TRY(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return memory;
}

template <typename T>
static T* cleared(size_t count)
{
    T* memory = nullptr;
    TRY(cudaMalloc(&memory, count * sizeof(T)));
    TRY(cudaMemset(memory, 0, count * sizeof(T)));
    return memory;
}

template <typename T>
static std::vector<T> copyOut(const T* memory, size_t count)
{
    std::vector<T> values(count);
    TRY(cudaMemcpy(values.data(), memory, count * sizeof(T), cudaMemcpyDeviceToHost));
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
    TRY(cudaDeviceSynchronize());
    printf("verify: %s\n", right ? "OK" : "MISMATCH");
    return right ? 0 : 1;
}

struct Sample {
    unsigned short x, y;
    unsigned weight;
};

typedef unsigned long long u64;

__global__ void joint(const Sample* samples, int width, int height, int binsX, int binsY, u64* table,
                      u64* extremes)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col >= width || row >= height)
        return;
    const Sample s = samples[row * width + col];
    const int bx = (int)((unsigned)s.x * binsX >> 16), by = (int)((unsigned)s.y * binsY >> 16);
    atomicAdd(&table[by * binsX + bx], (u64)s.weight << 20);
    const u64 key = (u64)s.weight << 32 | (unsigned)(row * width + col);
    atomicMax(&extremes[0], key);
    atomicMin(&extremes[1], key);
    atomicXor(&extremes[2], key * 0x9e3779b97f4a7c15ull);
}

__global__ void marginals(const u64* table, int binsX, int binsY, u64* columns, u64* rows)
{
    const int bx = blockIdx.x * blockDim.x + threadIdx.x;
    if (bx >= binsX)
        return;
    u64 sum = 0;
    for (int by = 0; by < binsY; ++by) {
        const u64 v = table[by * binsX + bx];
        sum += v;
        if (v != 0)
            atomicAdd(&rows[by], v);
    }
    columns[bx] = sum;
}

int main(int argc, char** argv)
{
    const int width = argument(argc, argv, 1, 150);
    const int height = argument(argc, argv, 2, 90);
    Random random((unsigned)argument(argc, argv, 3, 4));
    const int binsX = 24, binsY = 18;
    if (width < 1 || height < 1)
        return 2;
    std::vector<Sample> samples(width * height);
    std::vector<u64> expected(binsX * binsY, 0);
    for (Sample& s : samples) {
        s.x = (unsigned short)random.below(65536);
        s.y = (unsigned short)((s.x + random.below(20000)) & 0xffff);
        s.weight = random.next() >> 2;
        expected[(s.y * binsY >> 16) * binsX + (s.x * binsX >> 16)] += (u64)s.weight << 20;
    }
    Sample* dSamples = copyIn(samples);
    u64* dTable = cleared<u64>(binsX * binsY);
    u64* dExtremes = copyIn(std::vector<u64>{0ull, ~0ull, 0ull});
    u64* dColumns = cleared<u64>(binsX);
    u64* dRows = cleared<u64>(binsY);
    const dim3 block(16, 8), grid((width + 15) / 16, (height + 7) / 8);
    joint<<<grid, block>>>(dSamples, width, height, binsX, binsY, dTable, dExtremes);
    TRY(cudaGetLastError());
    marginals<<<1, 32>>>(dTable, binsX, binsY, dColumns, dRows);
    TRY(cudaGetLastError());
    const std::vector<u64> table = copyOut(dTable, binsX * binsY), extremes = copyOut(dExtremes, 3);
    const std::vector<u64> columns = copyOut(dColumns, binsX), rows = copyOut(dRows, binsY);
    u64 sumColumns = 0, sumRows = 0;
    for (u64 v : columns)
        sumColumns += v;
    for (u64 v : rows)
        sumRows += v;
    printf("table digest %08x, total %llu\n", hashOf(table), sumColumns >> 20);
    printf("heaviest %llu at %llu, lightest %llu at %llu, parity %016llx\n", extremes[0] >> 32,
           extremes[0] & 0xffffffffull, extremes[1] >> 32, extremes[1] & 0xffffffffull, extremes[2]);
    printSome("columns", columns, 24);
    printSome("rows", rows, 18);
    return conclude(table == expected && sumColumns == sumRows);
}
