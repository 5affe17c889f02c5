// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Conflict-free histogram with private 8-bit counters of each thread packed in dynamic shared
// memory, then a merge kernel.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define HIP_CHECK(expression)                                                        \
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

static int int_arg(int argc, char** argv, int index, int fallback)
{
    return argc > index ? atoi(argv[index]) : fallback;
}

template <typename T>
static T* to_device(const std::vector<T>& values)
{
    T* memory = nullptr;
    HIP_CHECK(hipMalloc(&memory, (values.empty() ? 1 : values.size()) * sizeof(T)));
    HIP_CHECK(hipMemcpy(memory, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice));
    return memory;
}

template <typename T>
static T* device_zeros(size_t count)
{
    T* memory = nullptr;
    HIP_CHECK(hipMalloc(&memory, count * sizeof(T)));
    HIP_CHECK(hipMemset(memory, 0, count * sizeof(T)));
    return memory;
}

template <typename T>
static std::vector<T> to_host(const T* memory, size_t count)
{
    std::vector<T> values(count);
    HIP_CHECK(hipMemcpy(values.data(), memory, count * sizeof(T), hipMemcpyDeviceToHost));
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
    HIP_CHECK(hipDeviceSynchronize());
    printf("verify: %s\n", right ? "OK" : "MISMATCH");
    return right ? 0 : 1;
}

#define THREADS 64
#define BINS 48
#define PER_THREAD 200

// counters[word][thread]: four bins a word, one column a thread, so nobody needs atomics.
__global__ void __launch_bounds__(THREADS) privateCounters(const unsigned char* data, int n, unsigned* partial)
{
    extern __shared__ unsigned counters[];
    for (int w = 0; w < BINS / 4; ++w)
        counters[w * THREADS + threadIdx.x] = 0;
    const int base = blockIdx.x * THREADS * PER_THREAD;
    for (int k = 0; k < PER_THREAD; ++k) {
        const int i = base + k * THREADS + threadIdx.x;
        if (i < n) {
            const unsigned bin = data[i];
            counters[(bin >> 2) * THREADS + threadIdx.x] += 1u << (8 * (bin & 3u));
        }
    }
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += THREADS) {
        unsigned sum = 0;
        for (int t = 0; t < THREADS; ++t)
            sum += __byte_perm(counters[(b >> 2) * THREADS + ((t + b) & (THREADS - 1))], 0, 0x4440 | (b & 3));
        partial[blockIdx.x * BINS + b] = sum;
    }
}

__global__ void merge(const unsigned* partial, int blocks, unsigned* bins, unsigned* cumulative)
{
    __shared__ unsigned all[BINS];
    const int b = threadIdx.x;
    unsigned sum = 0;
    for (int k = 0; k < blocks; ++k)
        sum += partial[k * BINS + b];
    all[b] = sum;
    __syncthreads();
    unsigned before = 0;
    for (int k = 0; k <= b; ++k)
        before += all[k];
    bins[b] = sum;
    cumulative[b] = before;
}

int main(int argc, char** argv)
{
    const int n = int_arg(argc, argv, 1, 50000);
    Random random((unsigned)int_arg(argc, argv, 2, 3));
    if (n < 1)
        return 2;
    std::vector<unsigned char> data(n);
    std::vector<unsigned> expected(BINS, 0);
    for (unsigned char& v : data) {
        v = (unsigned char)random.below(16);
        v = (unsigned char)(v + random.below(16));
        v = (unsigned char)(v + random.below(18));
        ++expected[v];
    }
    const int blocks = (n + THREADS * PER_THREAD - 1) / (THREADS * PER_THREAD);
    unsigned char* dData = to_device(data);
    unsigned* dPartial = device_zeros<unsigned>(blocks * BINS);
    unsigned* dBins = device_zeros<unsigned>(BINS);
    unsigned* dCumulative = device_zeros<unsigned>(BINS);
    privateCounters<<<blocks, THREADS, BINS / 4 * THREADS * sizeof(unsigned)>>>(dData, n, dPartial);
    HIP_CHECK(hipGetLastError());
    merge<<<1, BINS>>>(dPartial, blocks, dBins, dCumulative);
    HIP_CHECK(hipGetLastError());
    const std::vector<unsigned> bins = to_host(dBins, BINS), cumulative = to_host(dCumulative, BINS);
    printf("values %u in %d blocks, digest %08x\n", cumulative[BINS - 1], blocks, fnv1a(cumulative));
    show("bins", bins, BINS);
    show("partial", to_host(dPartial, blocks * BINS), 12);
    return finish(bins == expected && cumulative[BINS - 1] == (unsigned)n);
}
