// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Reversible 5/3 integer wavelet pyramid with symmetric extension, thresholding, and the exact
// inverse.
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

__device__ __forceinline__ int mirrored(int i, int n)
{
    if (i < 0)
        i = -i;
    return i >= n ? 2 * (n - 1) - i : i;
}

// One level: lows go to the front of the output, highs behind them.
__global__ void forwardLevel(const int* in, int* out, int n)
{
    __shared__ int high[THREADS + 1];
    const int lows = (n + 1) / 2, highs = n / 2;
    const int i = blockIdx.x * THREADS + threadIdx.x;
    for (int k = threadIdx.x; k <= THREADS; k += THREADS) {
        const int h = blockIdx.x * THREADS + k - 1;
        const int at = 2 * h + 1;
        high[k] = at < n + 2 && n > 1
                      ? in[mirrored(at, n)] - ((in[mirrored(at - 1, n)] + in[mirrored(at + 1, n)]) >> 1)
                      : 0;
    }
    __syncthreads();
    if (i < lows) {
        const int left = i > 0 ? high[threadIdx.x] : high[1];
        const int right = i < highs ? high[threadIdx.x + 1] : left;
        out[i] = in[2 * i] + ((left + right + 2) >> 2);
    }
    if (i < highs)
        out[lows + i] = high[threadIdx.x + 1];
}

__global__ void inverseEven(const int* in, int* out, int n)
{
    const int lows = (n + 1) / 2, highs = n / 2;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < lows; i += gridDim.x * blockDim.x) {
        const int left = in[lows + (i > 0 ? i - 1 : 0)];
        const int right = i < highs ? in[lows + i] : left;
        out[2 * i] = in[i] - ((left + right + 2) >> 2);
    }
}

__global__ void inverseOdd(const int* in, int* out, int n)
{
    const int lows = (n + 1) / 2, highs = n / 2;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < highs; i += gridDim.x * blockDim.x) {
        const int right = 2 * i + 2 < n ? out[2 * i + 2] : out[2 * i];
        out[2 * i + 1] = in[lows + i] + ((out[2 * i] + right) >> 1);
    }
}

__global__ void threshold(int* data, int from, int n, int limit, int* zeroed)
{
    const int i = from + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && abs(data[i]) < limit && data[i] != 0) {
        data[i] = 0;
        atomicAdd(zeroed, 1);
    }
}

int main(int argc, char** argv)
{
    const int n = int_arg(argc, argv, 1, 1500);
    const int levels = int_arg(argc, argv, 2, 4);
    Random random((unsigned)int_arg(argc, argv, 3, 1));
    if (n < 64 || levels < 1 || levels > 5)
        return 2;
    std::vector<int> signal(n);
    for (int i = 0; i < n; ++i)
        signal[i] = (i * i / 50) % 701 + (int)random.below(24) + (i % 300 > 200 ? 400 : 0);
    int* dA = to_device(signal);
    int* dB = device_zeros<int>(n);
    int* dCopy = device_zeros<int>(n);
    int* dZeroed = device_zeros<int>(1);
    std::vector<int> lengths;
    int length = n;
    for (int level = 0; level < levels; ++level) {
        lengths.push_back(length);
        forwardLevel<<<((length + 1) / 2 + THREADS - 1) / THREADS, THREADS>>>(dA, dB, length);
        HIP_CHECK(hipGetLastError());
        HIP_CHECK(hipMemcpy(dA, dB, length * sizeof(int), hipMemcpyDeviceToDevice));
        length = (length + 1) / 2;
    }
    const std::vector<int> pyramid = to_host(dA, n);
    bool right = false;
    for (int pass = 0; pass < 2; ++pass) {
        HIP_CHECK(hipMemcpy(dCopy, pyramid.data(), n * sizeof(int), hipMemcpyHostToDevice));
        if (pass == 1)
            threshold<<<(n - length + 127) / 128, 128>>>(dCopy, length, n, 9, dZeroed);
        for (int level = levels - 1; level >= 0; --level) {
            inverseEven<<<4, THREADS>>>(dCopy, dB, lengths[level]);
            inverseOdd<<<3, THREADS>>>(dCopy, dB, lengths[level]);
            HIP_CHECK(hipGetLastError());
            HIP_CHECK(hipMemcpy(dCopy, dB, lengths[level] * sizeof(int), hipMemcpyDeviceToDevice));
        }
        const std::vector<int> back = to_host(dCopy, n);
        int largest = 0;
        for (int i = 0; i < n; ++i)
            largest = std::max(largest, abs(back[i] - signal[i]));
        if (pass == 0)
            right = largest == 0;
        printf("pass %d: largest error %d, digest %08x\n", pass, largest, fnv1a(back));
    }
    printf("pyramid digest %08x, lowest band %d values, zeroed %d\n", fnv1a(pyramid), length,
           to_host(dZeroed, 1)[0]);
    show("pyramid", pyramid, 16);
    return finish(right);
}
