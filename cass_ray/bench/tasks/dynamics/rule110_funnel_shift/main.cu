// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Elementary cellular automata on bits packed in words on a ring, with neighbours from funnel
// shifts.
#include <cuda_runtime.h>
#include <algorithm>
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
#define CUDA_CHECK(call) stopOnError((call), #call, __LINE__)

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
    CUDA_CHECK(cudaMalloc(&memory, (values.empty() ? 1 : values.size()) * sizeof(T)));
    CUDA_CHECK(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return memory;
}

template <typename T>
static T* device_zeros(size_t count)
{
    T* memory = nullptr;
    CUDA_CHECK(cudaMalloc(&memory, count * sizeof(T)));
    CUDA_CHECK(cudaMemset(memory, 0, count * sizeof(T)));
    return memory;
}

template <typename T>
static std::vector<T> to_host(const T* memory, size_t count)
{
    std::vector<T> values(count);
    CUDA_CHECK(cudaMemcpy(values.data(), memory, count * sizeof(T), cudaMemcpyDeviceToHost));
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
    CUDA_CHECK(cudaDeviceSynchronize());
    printf("verify: %s\n", right ? "OK" : "MISMATCH");
    return right ? 0 : 1;
}

__global__ void evolve(const unsigned* now, unsigned* next, int words, unsigned rule, unsigned* population)
{
    const int w = blockIdx.x * blockDim.x + threadIdx.x;
    if (w >= words)
        return;
    const unsigned center = now[w];
    const unsigned before = now[w == 0 ? words - 1 : w - 1], after = now[w + 1 == words ? 0 : w + 1];
    const unsigned left = __funnelshift_l(before, center, 1);
    const unsigned right = __funnelshift_r(center, after, 1);
    unsigned result = 0;
#pragma unroll
    for (int pattern = 0; pattern < 8; ++pattern)
        if (rule >> pattern & 1u)
            result |= (pattern & 4 ? left : ~left) & (pattern & 2 ? center : ~center) &
                      (pattern & 1 ? right : ~right);
    next[w] = result;
    atomicAdd(population, (unsigned)__popc(result));
}

int main(int argc, char** argv)
{
    const int words = int_arg(argc, argv, 1, 100);
    const unsigned rule = (unsigned)int_arg(argc, argv, 2, 110);
    const int steps = int_arg(argc, argv, 3, 50);
    Random random((unsigned)int_arg(argc, argv, 4, 1));
    if (words < 1 || rule > 255 || steps < 1)
        return 2;
    std::vector<unsigned> cells(words);
    for (unsigned& c : cells)
        c = random.next();
    unsigned* dNow = to_device(cells);
    unsigned* dNext = device_zeros<unsigned>(words);
    unsigned* dPopulation = device_zeros<unsigned>(steps);
    for (int s = 0; s < steps; ++s) {
        evolve<<<(words + 63) / 64, 64>>>(dNow, dNext, words, rule, dPopulation + s);
        std::swap(dNow, dNext);
    }
    CUDA_CHECK(cudaGetLastError());
    const std::vector<unsigned> result = to_host(dNow, words), population = to_host(dPopulation, steps);
    const int n = 32 * words;
    std::vector<unsigned char> bits(n), next(n);
    for (int i = 0; i < n; ++i)
        bits[i] = cells[i / 32] >> (i % 32) & 1u;
    for (int s = 0; s < steps; ++s) {
        // Bit i - 1 is the left neighbour: it is the bit below, moved up by the shift.
        for (int i = 0; i < n; ++i)
            next[i] = rule >> (bits[(i + n - 1) % n] * 4 + bits[i] * 2 + bits[(i + 1) % n]) & 1u;
        bits.swap(next);
    }
    int wrong = 0;
    for (int i = 0; i < n; ++i)
        wrong += bits[i] != (result[i / 32] >> (i % 32) & 1u);
    printf("rule %u, %d cells, %d steps: population %u, digest %08x\n", rule, n, steps,
           population[steps - 1], fnv1a(result));
    show("population", population, 16);
    printf("words:");
    for (int w = 0; w < words; w += words / 6 + 1)
        printf(" %08x", result[w]);
    printf("\n");
    return finish(wrong == 0);
}
