// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Volumes of integer bodies counted with points of a radical-inverse sequence, scrambled by
// the seed.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define GPU_OK(call)                                                                  \
    do {                                                                             \
        const hipError_t status_ = (call);                                          \
        if (status_ != hipSuccess) {                                                \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(status_)); \
            exit(2);                                                                 \
        }                                                                            \
    } while (0)

static int argument(int argc, char** argv, int index, int fallback)
{
    return argc > index ? atoi(argv[index]) : fallback;
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

struct Lattice {
    unsigned x, y, z;  // coordinates below 4096
};

__host__ __device__ constexpr unsigned digitsOf(unsigned base)
{
    unsigned digits = 0, power = 1;
    while (power < 1000000u) {
        power *= base;
        ++digits;
    }
    return digits;
}

template <unsigned Base>
__host__ __device__ inline unsigned radicalInverse(unsigned i, unsigned shift)
{
    constexpr unsigned digits = digitsOf(Base);
    unsigned long long value = 0, power = 1;
    for (unsigned k = 0; k < digits; ++k) {
        value = value * Base + (i % Base + shift) % Base;
        i /= Base;
        power *= Base;
    }
    return (unsigned)(value * 4096ull / power);
}

__host__ __device__ inline Lattice point(unsigned i, unsigned seed)
{
    return {radicalInverse<2>(i, seed & 1u), radicalInverse<3>(i, seed % 3u), radicalInverse<5>(i, seed % 5u)};
}

__host__ __device__ inline unsigned bodies(const Lattice& p)
{
    const int x = (int)p.x - 2048, y = (int)p.y - 2048, z = (int)p.z - 2048;
    unsigned inside = 0;
    inside |= x * x + y * y + z * z < 1900 * 1900 ? 1u : 0u;
    inside |= abs(x) + abs(y) + abs(z) < 2000 ? 2u : 0u;
    inside |= x * x + y * y < 900 * 900 && abs(z) < 1500 ? 4u : 0u;
    inside |= (p.x ^ p.y ^ p.z) & 256u ? 8u : 0u;
    return inside;
}

__global__ void countInside(int n, unsigned seed, unsigned* counts)
{
    __shared__ unsigned local[16];
    if (threadIdx.x < 16)
        local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[bodies(point((unsigned)i, seed))], 1u);
    __syncthreads();
    if (threadIdx.x < 16 && local[threadIdx.x] != 0)
        atomicAdd(&counts[threadIdx.x], local[threadIdx.x]);
}

int main(int argc, char** argv)
{
    const int n = argument(argc, argv, 1, 7000);
    const unsigned seed = (unsigned)argument(argc, argv, 2, 1);
    if (n < 1)
        return 2;
    unsigned* dCounts = deviceZeros<unsigned>(16);
    countInside<<<5, 96>>>(n, seed, dCounts);
    GPU_OK(hipGetLastError());
    const std::vector<unsigned> counts = download(dCounts, 16);
    std::vector<unsigned> expected(16, 0);
    for (int i = 0; i < n; ++i)
        ++expected[bodies(point((unsigned)i, seed))];
    static const char* const names[4] = {"sphere", "octahedron", "cylinder", "checkers"};
    for (int body = 0; body < 4; ++body) {
        unsigned inside = 0;
        for (int k = 0; k < 16; ++k)
            if (k >> body & 1)
                inside += counts[k];
        printf("%s: %u of %d, volume %.5f\n", names[body], inside, n, 8.0 * inside / n);
    }
    printf("digest %08x\n", fingerprint(counts));
    show("counts", counts, 16);
    return finish(counts == expected);
}
