// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Per-bin minimum, maximum and count of floats with compare-and-swap loops, and bounded
// counters by atomicInc and atomicDec.
#include <hip/hip_runtime.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define HIP_CHECK(call)                                                                  \
    do {                                                                             \
        const hipError_t status_ = (call);                                          \
        if (status_ != hipSuccess) {                                                \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(status_)); \
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

static int finish(bool right)
{
    HIP_CHECK(hipDeviceSynchronize());
    printf("verify: %s\n", right ? "OK" : "MISMATCH");
    return right ? 0 : 1;
}

#define BINS 20
__constant__ float edges[BINS + 1];

__device__ float atomicMaxFloat(float* address, float value)
{
    int* word = (int*)address;
    int old = *word;
    while (__int_as_float(old) < value) {
        const int assumed = old;
        old = atomicCAS(word, assumed, __float_as_int(value));
        if (old == assumed)
            break;
    }
    return __int_as_float(old);
}

// Works on the ordered integer image of a float: sign-magnitude becomes two's complement.
__device__ void atomicMinFloat(float* address, float value)
{
    if (value >= 0.0f)
        atomicMin((int*)address, __float_as_int(value));
    else
        atomicMax((unsigned*)address, __float_as_uint(value));
}

__global__ void binExtremes(const float* values, int n, float* low, float* high, unsigned* counts,
                            unsigned* ring, unsigned* countdown)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float v = values[i];
    int first = 0, last = BINS;
    while (last - first > 1) {
        const int middle = (first + last) / 2;
        if (v < edges[middle])
            last = middle;
        else
            first = middle;
    }
    atomicMinFloat(&low[first], v);
    atomicMaxFloat(&high[first], v);
    atomicAdd(&counts[first], 1u);
    atomicInc(&ring[first], 12u);
    atomicDec(&countdown[first], 9u);
}

int main(int argc, char** argv)
{
    const int n = int_arg(argc, argv, 1, 12000);
    Random random((unsigned)int_arg(argc, argv, 2, 8));
    if (n < 1)
        return 2;
    std::vector<float> values(n), hostEdges(BINS + 1);
    for (int b = 0; b <= BINS; ++b)
        hostEdges[b] = (float)((b - 10) * abs(b - 10));
    for (float& v : values)
        v = (float)((int)random.below(200 * 256) - 100 * 256) / 256.0f;
    HIP_CHECK(hipMemcpyToSymbol(edges, hostEdges.data(), (BINS + 1) * sizeof(float)));
    float* dValues = to_device(values);
    float* dLow = to_device(std::vector<float>(BINS, 1000.0f));
    float* dHigh = to_device(std::vector<float>(BINS, -1000.0f));
    unsigned* dCounts = device_zeros<unsigned>(BINS);
    unsigned* dRing = device_zeros<unsigned>(BINS);
    unsigned* dCountdown = device_zeros<unsigned>(BINS);
    binExtremes<<<(n + 191) / 192, 192>>>(dValues, n, dLow, dHigh, dCounts, dRing, dCountdown);
    HIP_CHECK(hipGetLastError());
    const std::vector<float> low = to_host(dLow, BINS), high = to_host(dHigh, BINS);
    const std::vector<unsigned> counts = to_host(dCounts, BINS), ring = to_host(dRing, BINS);
    const std::vector<unsigned> countdown = to_host(dCountdown, BINS);
    std::vector<float> expectedLow(BINS, 1000.0f), expectedHigh(BINS, -1000.0f);
    std::vector<unsigned> expected(BINS, 0);
    for (float v : values) {
        int b = 0;
        while (b + 1 < BINS && v >= hostEdges[b + 1])
            ++b;
        expectedLow[b] = std::min(expectedLow[b], v);
        expectedHigh[b] = std::max(expectedHigh[b], v);
        ++expected[b];
    }
    for (int b = 0; b < BINS; ++b)
        printf("bin %2d [%6.1f, %6.1f): %5u values, %.8f to %.8f, ring %u, countdown %u\n", b,
               hostEdges[b], hostEdges[b + 1], counts[b], low[b], high[b], ring[b], countdown[b]);
    bool right = low == expectedLow && high == expectedHigh && counts == expected;
    for (int b = 0; b < BINS; ++b)
        right = right && ring[b] == counts[b] % 13 && countdown[b] == (10 - counts[b] % 10) % 10;
    return finish(right);
}
