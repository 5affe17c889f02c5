// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <hip/hip_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(x) do { hipError_t e_ = (x); if (e_ != hipSuccess) { \
    fprintf(stderr, "HIP failure %d at line %d: %s\n", (int)e_, __LINE__, hipGetErrorString(e_)); \
    exit(3); } } while (0)

__global__ void generate(unsigned* v, int n, unsigned seed)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned x = seed + (unsigned)i * 0x9e3779b9u;
        x ^= x >> 16; x *= 0x85ebca6bu; x ^= x >> 13; x *= 0xc2b2ae35u; x ^= x >> 16;
        v[i] = x;
    }
}
__global__ void combine(const unsigned* a, const unsigned* b, unsigned* out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] * 3u + (b[n - 1 - i] >> 5);
}
__global__ void foldAll(const unsigned* v, int n, unsigned long long* out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, (unsigned long long)v[i] * (unsigned long long)(i + 1));
}

static unsigned hashOf(unsigned seed, int i)
{
    unsigned x = seed + (unsigned)i * 0x9e3779b9u;
    x ^= x >> 16; x *= 0x85ebca6bu; x ^= x >> 13; x *= 0xc2b2ae35u; x ^= x >> 16;
    return x;
}

int main(int argc, char** argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 8, base = argc > 2 ? atoi(argv[2]) : 900;
    const unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 5u;
    if (rounds < 1 || base < 1) return 1;
    int supported = 0;
    CHECK(hipDeviceGetAttribute(&supported, hipDeviceAttributeMemoryPoolsSupported, 0));
    printf("memory pools: %s\n", supported ? "yes" : "no");
    hipMemPool_t standard, own;
    CHECK(hipDeviceGetDefaultMemPool(&standard, 0));
    uint64_t threshold = UINT64_MAX;
    CHECK(hipMemPoolSetAttribute(standard, hipMemPoolAttrReleaseThreshold, &threshold));
    hipMemPoolProps props = {};
    props.allocType = hipMemAllocationTypePinned;
    props.handleTypes = hipMemHandleTypeNone;
    props.location.type = hipMemLocationTypeDevice;
    props.location.id = 0;
    CHECK(hipMemPoolCreate(&own, &props));
    hipStream_t streams[2];
    hipEvent_t ready;
    for (hipStream_t& s : streams) CHECK(hipStreamCreate(&s));
    CHECK(hipEventCreateWithFlags(&ready, hipEventDisableTiming));
    unsigned long long* sums;
    CHECK(hipMallocAsync((void**)&sums, rounds * sizeof(unsigned long long), streams[0]));
    CHECK(hipMemsetAsync(sums, 0, rounds * sizeof(unsigned long long), streams[0]));
    for (int r = 0; r < rounds; ++r) {
        const int n = base + 37 * r, grid = (n + 127) / 128;
        const size_t bytes = n * sizeof(unsigned);
        unsigned *a, *b, *c;
        CHECK(hipMallocAsync((void**)&a, bytes, streams[0]));
        CHECK(hipMallocFromPoolAsync((void**)&b, bytes, own, streams[1]));
        generate<<<grid, 128, 0, streams[0]>>>(a, n, seed + (unsigned)r);
        generate<<<grid, 128, 0, streams[1]>>>(b, n, seed * 7u + (unsigned)r);
        CHECK(hipEventRecord(ready, streams[1]));
        CHECK(hipStreamWaitEvent(streams[0], ready, 0));
        CHECK(hipMallocAsync((void**)&c, bytes, streams[0]));
        combine<<<grid, 128, 0, streams[0]>>>(a, b, c, n);
        foldAll<<<grid, 128, 0, streams[0]>>>(c, n, sums + r);
        CHECK(hipGetLastError());
        CHECK(hipFreeAsync(a, streams[0]));
        CHECK(hipFreeAsync(c, streams[0]));
        CHECK(hipEventRecord(ready, streams[0]));
        CHECK(hipStreamWaitEvent(streams[1], ready, 0));
        CHECK(hipFreeAsync(b, streams[1]));
    }
    std::vector<unsigned long long> result(rounds);
    CHECK(hipMemcpyAsync(result.data(), sums, rounds * sizeof(unsigned long long), hipMemcpyDeviceToHost, streams[0]));
    CHECK(hipFreeAsync(sums, streams[0]));
    CHECK(hipStreamSynchronize(streams[0]));
    CHECK(hipStreamSynchronize(streams[1]));
    int wrong = 0;
    for (int r = 0; r < rounds; ++r) {
        const int n = base + 37 * r;
        unsigned long long e = 0;
        for (int i = 0; i < n; ++i)
            e += (unsigned long long)(hashOf(seed + (unsigned)r, i) * 3u + (hashOf(seed * 7u + (unsigned)r, n - 1 - i) >> 5)) * (unsigned long long)(i + 1);
        wrong += e != result[r];
        printf("round %d: n %d sum %llu\n", r, n, result[r]);
    }
    uint64_t used = 1, high = 0;
    CHECK(hipMemPoolGetAttribute(own, hipMemPoolAttrUsedMemCurrent, &used));
    CHECK(hipMemPoolGetAttribute(own, hipMemPoolAttrUsedMemHigh, &high));
    printf("own pool empty: %s, was used: %s\n", used == 0 ? "yes" : "no", high >= base * sizeof(unsigned) ? "yes" : "no");
    CHECK(hipMemPoolTrimTo(own, 0));
    CHECK(hipMemPoolDestroy(own));
    CHECK(hipEventDestroy(ready));
    for (hipStream_t& s : streams) CHECK(hipStreamDestroy(s));
    printf("wrong %d\n", wrong);
    return wrong ? 1 : 0;
}
