// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Histogram of bytes read four at a time, privatised in shared memory.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void stopOnError(hipError_t status, const char* what, int line)
{
    if (status == hipSuccess)
        return;
    fprintf(stderr, "line %d: %s failed: %s\n", line, what, hipGetErrorString(status));
    exit(2);
}
#define HIP_CHECK(call) stopOnError((call), #call, __LINE__)

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

__global__ void histogram(const uchar4* quads, int count, unsigned* bins)
{
    __shared__ unsigned local[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        local[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const uchar4 q = quads[i];
        atomicAdd(&local[q.x], 1u);
        atomicAdd(&local[q.y], 1u);
        atomicAdd(&local[q.z], 1u);
        atomicAdd(&local[q.w], 1u);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        if (local[b] != 0)
            atomicAdd(&bins[b], local[b]);
}

int main(int argc, char** argv)
{
    const int bytes = int_arg(argc, argv, 1, 40000);
    Random random((unsigned)int_arg(argc, argv, 2, 1));
    if (bytes < 1)
        return 2;
    const int quads = (bytes + 3) / 4;
    std::vector<unsigned char> data(4 * quads, 0);
    unsigned expected[256] = {};
    for (int i = 0; i < bytes; ++i) {
        const unsigned a = random.below(128);
        data[i] = (unsigned char)(a + random.below(129));
        ++expected[data[i]];
    }
    unsigned char* dData = to_device(data);
    unsigned* dBins = device_zeros<unsigned>(256);
    histogram<<<9, 160>>>((const uchar4*)dData, quads, dBins);
    HIP_CHECK(hipGetLastError());
    std::vector<unsigned> bins = to_host(dBins, 256);
    bins[0] -= 4 * quads - bytes;
    int wrong = 0, mode = 0;
    unsigned total = 0, median = 0;
    for (int b = 0; b < 256; ++b) {
        wrong += bins[b] != expected[b];
        total += bins[b];
        if (2 * total < (unsigned)bytes)
            median = b + 1;
        if (bins[b] > bins[mode])
            mode = b;
    }
    printf("bytes %u, mode %d (%u), median %u, digest %08x\n", total, mode, bins[mode], median,
           fnv1a(bins));
    show("bins", bins, 32);
    HIP_CHECK(hipFree(dData));
    HIP_CHECK(hipFree(dBins));
    return finish(wrong == 0);
}
