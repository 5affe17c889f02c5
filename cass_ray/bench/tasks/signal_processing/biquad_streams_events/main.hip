// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Cascaded fixed-point biquads over channels on several streams with asynchronous copies and
// events between the stages.
#include <hip/hip_runtime.h>
#include <algorithm>
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

struct Biquad {
    int b0, b1, b2, a1, a2;  // 14 fractional bits
};

__global__ void biquad(const int* in, int* out, int channels, int samples, Biquad q)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= channels)
        return;
    long long x1 = 0, x2 = 0, y1 = 0, y2 = 0;
    for (int i = 0; i < samples; ++i) {
        const long long x = in[i * channels + c];
        long long y = (q.b0 * x + q.b1 * x1 + q.b2 * x2 - q.a1 * y1 - q.a2 * y2) >> 14;
        y = y > 1000000 ? 1000000 : y < -1000000 ? -1000000 : y;
        x2 = x1;
        x1 = x;
        y2 = y1;
        y1 = y;
        out[i * channels + c] = (int)y;
    }
}

__global__ void mix(const int* a, const int* b, int* out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = (a[i] >> 1) + (b[i] >> 1) + (a[i] & b[i] & 1);
}

static void hostBiquad(const std::vector<int>& in, std::vector<int>& out, int channels, int samples,
                       const Biquad& q)
{
    for (int c = 0; c < channels; ++c) {
        long long x1 = 0, x2 = 0, y1 = 0, y2 = 0;
        for (int i = 0; i < samples; ++i) {
            const long long x = in[i * channels + c];
            long long y = (q.b0 * x + q.b1 * x1 + q.b2 * x2 - q.a1 * y1 - q.a2 * y2) >> 14;
            y = std::max(-1000000ll, std::min(1000000ll, y));
            x2 = x1;
            x1 = x;
            y2 = y1;
            y1 = y;
            out[i * channels + c] = (int)y;
        }
    }
}

int main(int argc, char** argv)
{
    const int channels = argument(argc, argv, 1, 24);
    const int samples = argument(argc, argv, 2, 200);
    Random random((unsigned)argument(argc, argv, 3, 1));
    if (channels < 1 || samples < 1)
        return 2;
    const int n = channels * samples;
    const size_t bytes = n * sizeof(int);
    const Biquad low = {1103, 2206, 1103, -18727, 6755}, high = {12700, -25400, 12700, -25000, 9500};
    const Biquad peak = {17000, -22000, 11000, -22000, 11600};
    int *pinned, *result;
    TRY(hipHostMalloc((void**)&pinned, bytes));
    TRY(hipHostMalloc((void**)&result, 3 * bytes, hipHostMallocDefault));
    for (int i = 0; i < n; ++i)
        pinned[i] = (int)random.below(20001) - 10000;
    int *dIn, *dLow, *dHigh, *dMixed, *dPeak;
    TRY(hipMalloc((void**)&dIn, bytes));
    TRY(hipMalloc((void**)&dLow, bytes));
    TRY(hipMalloc((void**)&dHigh, bytes));
    TRY(hipMalloc((void**)&dMixed, bytes));
    TRY(hipMalloc((void**)&dPeak, bytes));
    hipStream_t first, second;
    hipEvent_t loaded, highDone, done;
    TRY(hipStreamCreateWithFlags(&first, hipStreamNonBlocking));
    TRY(hipStreamCreate(&second));
    TRY(hipEventCreateWithFlags(&loaded, hipEventDisableTiming));
    TRY(hipEventCreateWithFlags(&highDone, hipEventDisableTiming));
    TRY(hipEventCreate(&done));
    const int blocks = (channels + 31) / 32;
    TRY(hipMemcpyAsync(dIn, pinned, bytes, hipMemcpyHostToDevice, first));
    TRY(hipEventRecord(loaded, first));
    TRY(hipStreamWaitEvent(second, loaded, 0));
    biquad<<<blocks, 32, 0, first>>>(dIn, dLow, channels, samples, low);
    biquad<<<blocks, 32, 0, second>>>(dIn, dHigh, channels, samples, high);
    TRY(hipGetLastError());
    TRY(hipEventRecord(highDone, second));
    TRY(hipStreamWaitEvent(first, highDone, 0));
    mix<<<(n + 95) / 96, 96, 0, first>>>(dLow, dHigh, dMixed, n);
    biquad<<<blocks, 32, 0, first>>>(dMixed, dPeak, channels, samples, peak);
    TRY(hipGetLastError());
    TRY(hipMemcpyAsync(result, dLow, bytes, hipMemcpyDeviceToHost, first));
    TRY(hipMemcpyAsync(result + n, dMixed, bytes, hipMemcpyDeviceToHost, first));
    TRY(hipMemcpyAsync(result + 2 * n, dPeak, bytes, hipMemcpyDeviceToHost, first));
    TRY(hipEventRecord(done, first));
    TRY(hipEventSynchronize(done));
    TRY(hipEventQuery(highDone));

    const std::vector<int> in(pinned, pinned + n), out(result + 2 * n, result + 3 * n);
    std::vector<int> a(n), b(n), m(n), p(n);
    hostBiquad(in, a, channels, samples, low);
    hostBiquad(in, b, channels, samples, high);
    for (int i = 0; i < n; ++i)
        m[i] = (a[i] >> 1) + (b[i] >> 1) + (a[i] & b[i] & 1);
    hostBiquad(m, p, channels, samples, peak);
    printf("low %08x mixed %08x peak %08x\n", hashOf(std::vector<int>(result, result + n)),
           hashOf(std::vector<int>(result + n, result + 2 * n)), hashOf(out));
    printSome("out", out, 12);
    TRY(hipStreamSynchronize(second));
    TRY(hipEventDestroy(loaded));
    TRY(hipEventDestroy(highDone));
    TRY(hipEventDestroy(done));
    TRY(hipStreamDestroy(first));
    TRY(hipStreamDestroy(second));
    TRY(hipHostFree(pinned));
    TRY(hipHostFree(result));
    return conclude(out == p);
}
