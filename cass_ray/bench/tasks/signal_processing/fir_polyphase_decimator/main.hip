// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Integer FIR filter with taps in constant memory and a shared halo, decimating by a template
// factor.
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
#define GPU_OK(call) stopOnError((call), #call, __LINE__)

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
    GPU_OK(hipMalloc(&memory, (values.empty() ? 1 : values.size()) * sizeof(T)));
    GPU_OK(hipMemcpy(memory, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice));
    return memory;
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

#define THREADS 128
#define MAX_TAPS 64
__constant__ short taps[MAX_TAPS];
__constant__ int tapCount;

template <int Factor>
__global__ void decimate(const short* in, int n, int* out, int outputs)
{
    __shared__ short window[THREADS * Factor + MAX_TAPS];
    const int start = blockIdx.x * THREADS * Factor - (tapCount - 1);
    for (int i = threadIdx.x; i < THREADS * Factor + tapCount - 1; i += THREADS) {
        const int at = start + i;
        window[i] = at >= 0 && at < n ? in[at] : (short)0;
    }
    __syncthreads();
    const int o = blockIdx.x * THREADS + threadIdx.x;
    if (o >= outputs)
        return;
    int sum = 1 << 9;
    for (int k = 0; k < tapCount; ++k)
        sum += taps[k] * window[threadIdx.x * Factor + tapCount - 1 - k];
    out[o] = sum >> 10;
}

template <int Factor>
static bool filter(const std::vector<short>& in, const short* dIn, const std::vector<short>& h)
{
    const int n = (int)in.size(), outputs = (n + Factor - 1) / Factor;
    int* dOut = deviceZeros<int>(outputs);
    decimate<Factor><<<(outputs + THREADS - 1) / THREADS, THREADS>>>(dIn, n, dOut, outputs);
    GPU_OK(hipGetLastError());
    const std::vector<int> out = download(dOut, outputs);
    int wrong = 0;
    long long energy = 0;
    for (int o = 0; o < outputs; ++o) {
        int sum = 1 << 9;
        for (int k = 0; k < (int)h.size(); ++k)
            if (o * Factor - k >= 0)
                sum += h[k] * in[o * Factor - k];
        wrong += out[o] != sum >> 10;
        energy += (long long)out[o] * out[o];
    }
    printf("factor %d: %d outputs, energy %lld, digest %08x\n", Factor, outputs, energy, fingerprint(out));
    show("out", out, 10);
    GPU_OK(hipFree(dOut));
    return wrong == 0;
}

int main(int argc, char** argv)
{
    const int n = argument(argc, argv, 1, 5000);
    const int count = argument(argc, argv, 2, 33);
    Random random((unsigned)argument(argc, argv, 3, 1));
    if (n < 1 || count < 1 || count > MAX_TAPS)
        return 2;
    std::vector<short> in(n), h(count);
    for (int i = 0; i < n; ++i)
        in[i] = (short)((i * 37 % 2000 - 1000) * 8 + (int)random.below(4000) - 2000);
    for (int k = 0; k < count; ++k)
        h[k] = (short)((int)random.below(400) - 100);
    GPU_OK(hipMemcpyToSymbol(taps, h.data(), count * sizeof(short)));
    GPU_OK(hipMemcpyToSymbol(tapCount, &count, sizeof count));
    short* dIn = upload(in);
    bool right = filter<1>(in, dIn, h);
    right = filter<2>(in, dIn, h) && right;
    right = filter<3>(in, dIn, h) && right;
    GPU_OK(hipFree(dIn));
    return finish(right);
}
