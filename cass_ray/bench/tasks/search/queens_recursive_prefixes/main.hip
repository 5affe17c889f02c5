// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// All placements of queens on boards with blocked squares, by recursive search from prefixes,
// with a report printed by the device.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(expression)                                                        \
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

static int argument(int argc, char** argv, int index, int fallback)
{
    return argc > index ? atoi(argv[index]) : fallback;
}

template <typename T>
static T* zeros(size_t count)
{
    T* memory = nullptr;
    CHECK(hipMalloc(&memory, count * sizeof(T)));
    CHECK(hipMemset(memory, 0, count * sizeof(T)));
    return memory;
}

template <typename T>
static std::vector<T> toHost(const T* memory, size_t count)
{
    std::vector<T> values(count);
    CHECK(hipMemcpy(values.data(), memory, count * sizeof(T), hipMemcpyDeviceToHost));
    return values;
}

// FNV-1a over the bytes of all values.
template <typename T>
static unsigned digest(const std::vector<T>& values)
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
    CHECK(hipDeviceSynchronize());
    printf("verify: %s\n", right ? "OK" : "MISMATCH");
    return right ? 0 : 1;
}

__constant__ unsigned blocked[16];

struct Progress {
    unsigned long long solutions, nodes, signature;
};

__device__ Progress totals;

__device__ void place(int n, int row, unsigned columns, unsigned left, unsigned right, unsigned path, Progress& p)
{
    ++p.nodes;
    if (row == n) {
        ++p.solutions;
        p.signature += path * 2654435761ull + 1;
        return;
    }
    unsigned free = ~(columns | left | right | blocked[row]) & ((1u << n) - 1u);
    while (free != 0) {
        const unsigned bit = free & (0u - free);
        free ^= bit;
        place(n, row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1,
              path * 31u + (unsigned)__ffs((int)bit), p);
    }
}

// Thread t starts with the queens of the first two rows in columns t / n and t % n.
__global__ void search(int n, unsigned* perPrefix)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n * n)
        return;
    const unsigned first = 1u << (t / n), second = 1u << (t % n);
    if ((first & blocked[0]) || (second & (first | first << 1 | first >> 1 | blocked[1])))
        return;
    Progress p = {0, 0, 0};
    const unsigned left = (first << 1 | second) << 1, right = (first >> 1 | second) >> 1;
    place(n, 2, first | second, left, right, (unsigned)t, p);
    perPrefix[t] = (unsigned)p.solutions;
    atomicAdd(&totals.solutions, p.solutions);
    atomicAdd(&totals.nodes, p.nodes);
    atomicAdd(&totals.signature, p.signature);
}

__global__ void report(int n)
{
    if (threadIdx.x == 0 && blockIdx.x == 0)
        printf("device: board %d, solutions %llu, nodes %llu\n", n, totals.solutions, totals.nodes);
}

static void hostPlace(const unsigned* holes, int n, int row, unsigned columns, unsigned left, unsigned right,
                      unsigned long long& solutions)
{
    if (row == n) {
        ++solutions;
        return;
    }
    for (unsigned free = ~(columns | left | right | holes[row]) & ((1u << n) - 1u); free; free &= free - 1) {
        const unsigned bit = free & (0u - free);
        hostPlace(holes, n, row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1, solutions);
    }
}

int main(int argc, char** argv)
{
    const int n = argument(argc, argv, 1, 8);
    Random random((unsigned)argument(argc, argv, 2, 0));
    if (n < 4 || n > 10)
        return 2;
    unsigned holes[16] = {};
    for (int k = 0; k < n / 3; ++k) {
        const unsigned row = random.below(n);
        holes[row] |= 1u << random.below(n);
    }
    const Progress nothing = {0, 0, 0};
    CHECK(hipDeviceSetLimit(hipLimitStackSize, 4096));
    CHECK(hipMemcpyToSymbol(blocked, holes, sizeof holes));
    CHECK(hipMemcpyToSymbol(totals, &nothing, sizeof nothing));
    unsigned* dPerPrefix = zeros<unsigned>(n * n);
    search<<<(n * n + 31) / 32, 32>>>(n, dPerPrefix);
    CHECK(hipGetLastError());
    CHECK(hipDeviceSynchronize());
    fflush(stdout);
    report<<<1, 32>>>(n);
    CHECK(hipGetLastError());
    CHECK(hipDeviceSynchronize());
    Progress found;
    CHECK(hipMemcpyFromSymbol(&found, totals, sizeof found));
    const std::vector<unsigned> perPrefix = toHost(dPerPrefix, n * n);
    unsigned long long expected = 0;
    hostPlace(holes, n, 0, 0, 0, 0, expected);
    printf("blocked rows:");
    for (int r = 0; r < n; ++r)
        printf(" %03x", holes[r]);
    printf("\nsolutions %llu, nodes %llu, signature %016llx, digest %08x\n", found.solutions, found.nodes,
           found.signature, digest(perPrefix));
    show("per prefix", perPrefix, 100);
    return finish(found.solutions == expected);
}
