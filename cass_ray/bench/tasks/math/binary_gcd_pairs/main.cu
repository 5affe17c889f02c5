// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Binary greatest common divisors of 64-bit pairs, with the number of coprime pairs counted by
// an atomic.
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
    GPU_OK(cudaMalloc(&memory, (values.empty() ? 1 : values.size()) * sizeof(T)));
    GPU_OK(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return memory;
}

template <typename T>
static T* deviceZeros(size_t count)
{
    T* memory = nullptr;
    GPU_OK(cudaMalloc(&memory, count * sizeof(T)));
    GPU_OK(cudaMemset(memory, 0, count * sizeof(T)));
    return memory;
}

template <typename T>
static std::vector<T> download(const T* memory, size_t count)
{
    std::vector<T> values(count);
    GPU_OK(cudaMemcpy(values.data(), memory, count * sizeof(T), cudaMemcpyDeviceToHost));
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
    GPU_OK(cudaDeviceSynchronize());
    printf("verify: %s\n", right ? "OK" : "MISMATCH");
    return right ? 0 : 1;
}

__device__ int coprimePairs;

__device__ unsigned long long binaryGcd(unsigned long long a, unsigned long long b)
{
    if (a == 0 || b == 0)
        return a | b;
    const int shift = __ffsll((long long)(a | b)) - 1;
    a >>= __ffsll((long long)a) - 1;
    while (b != 0) {
        b >>= __ffsll((long long)b) - 1;
        if (a > b) {
            const unsigned long long t = a;
            a = b;
            b = t;
        }
        b -= a;
    }
    return a << shift;
}

__global__ void gcdPairs(const unsigned long long* a, const unsigned long long* b,
                         unsigned long long* gcd, int* steps, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const unsigned long long g = binaryGcd(a[i], b[i]);
    gcd[i] = g;
    steps[i] = 64 - __clzll((long long)g) + __popcll(a[i] ^ b[i]);
    if (g == 1)
        atomicAdd(&coprimePairs, 1);
}

static unsigned long long euclid(unsigned long long a, unsigned long long b)
{
    while (b != 0) {
        const unsigned long long r = a % b;
        a = b;
        b = r;
    }
    return a;
}

int main(int argc, char** argv)
{
    const int n = argument(argc, argv, 1, 3000);
    Random random((unsigned)argument(argc, argv, 2, 1));
    if (n < 1)
        return 2;
    std::vector<unsigned long long> a(n), b(n);
    for (int i = 0; i < n; ++i) {
        const unsigned long long common = random.below(5000) + 1;
        const unsigned long long high = random.next();
        const unsigned long long low = random.next();
        a[i] = common * ((high & 0xffffffu) << 20 | (low & 0xfffffu));
        b[i] = common * (unsigned long long)random.next();
        if (i % 97 == 0)
            b[i] = 0;
    }
    unsigned long long* dA = upload(a);
    unsigned long long* dB = upload(b);
    unsigned long long* dGcd = deviceZeros<unsigned long long>(n);
    int* dSteps = deviceZeros<int>(n);
    const int zero = 0;
    GPU_OK(cudaMemcpyToSymbol(coprimePairs, &zero, sizeof zero));
    gcdPairs<<<(n + 127) / 128, 128>>>(dA, dB, dGcd, dSteps, n);
    GPU_OK(cudaGetLastError());
    const std::vector<unsigned long long> gcd = download(dGcd, n);
    const std::vector<int> steps = download(dSteps, n);
    int coprime = 0;
    GPU_OK(cudaMemcpyFromSymbol(&coprime, coprimePairs, sizeof coprime));
    int expectedCoprime = 0, wrong = 0;
    unsigned long long sum = 0;
    for (int i = 0; i < n; ++i) {
        const unsigned long long e = euclid(a[i], b[i]);
        expectedCoprime += e == 1;
        wrong += e != gcd[i];
        sum += gcd[i];
    }
    printf("pairs %d, coprime %d, sum of divisors %llu\n", n, coprime, sum);
    printf("gcd digest %08x, steps digest %08x\n", fingerprint(gcd), fingerprint(steps));
    show("gcd", gcd, 10);
    GPU_OK(cudaFree(dA));
    GPU_OK(cudaFree(dB));
    GPU_OK(cudaFree(dGcd));
    GPU_OK(cudaFree(dSteps));
    return finish(wrong == 0 && coprime == expectedCoprime);
}
