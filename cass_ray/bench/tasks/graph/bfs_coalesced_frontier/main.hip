// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Breadth-first search whose queue tail is advanced once for each coalesced group of threads
// that found a new vertex.
#include <hip/hip_runtime.h>
#include <hip/hip_cooperative_groups.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <queue>
#include <vector>

static void stopOnError(hipError_t status, const char* what, int line)
{
    if (status == hipSuccess)
        return;
    fprintf(stderr, "line %d: %s failed: %s\n", line, what, hipGetErrorString(status));
    exit(2);
}
#define HIP_CHECK(call) stopOnError((call), #call, __LINE__)

struct Random {
    unsigned x;
    explicit Random(unsigned seed) : x(seed ^ 0x9e3779b9u)
    {
        if (x == 0)
            x = 1;
    }
    unsigned next()
    {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        return x * 0x2545f491u;
    }
    unsigned below(unsigned bound) { return (next() >> 4) % bound; }
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

static int finish(bool right)
{
    HIP_CHECK(hipDeviceSynchronize());
    printf("verify: %s\n", right ? "OK" : "MISMATCH");
    return right ? 0 : 1;
}

namespace cg = cooperative_groups;

__global__ void expand(const int* offsets, const int* neighbours, const int* frontier, int count,
                       unsigned* depths, unsigned level, int* next, int* nextCount, unsigned* groups)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count)
        return;
    const int vertex = frontier[t];
    for (int e = offsets[vertex]; e < offsets[vertex + 1]; ++e) {
        const int other = neighbours[e];
        if (depths[other] == 0xffffffffu && atomicCAS(&depths[other], 0xffffffffu, level) == 0xffffffffu) {
            const cg::coalesced_group group = cg::coalesced_threads();
            int first = 0;
            if (group.thread_rank() == 0) {
                first = atomicAdd(nextCount, (int)group.size());
                atomicAdd(groups, 1u);
            }
            next[group.shfl(first, 0) + group.thread_rank()] = other;
        }
    }
}

int main(int argc, char** argv)
{
    const int n = int_arg(argc, argv, 1, 900);
    const int degree = int_arg(argc, argv, 2, 3);
    Random random((unsigned)int_arg(argc, argv, 3, 1));
    if (n < 2 || degree < 1)
        return 2;
    std::vector<std::vector<int>> lists(n);
    for (int v = 0; v < n; ++v)
        for (int k = 0; k < degree; ++k) {
            const int w = (int)random.below(n);
            if (v % 50 != 49 && w % 50 != 49) {
                lists[v].push_back(w);
                lists[w].push_back(v);
            }
        }
    std::vector<int> offsets(1, 0), neighbours;
    for (const std::vector<int>& list : lists) {
        neighbours.insert(neighbours.end(), list.begin(), list.end());
        offsets.push_back((int)neighbours.size());
    }
    std::vector<unsigned> expected(n, 0xffffffffu), depths(n, 0xffffffffu);
    std::queue<int> queue;
    expected[0] = depths[0] = 0;
    queue.push(0);
    while (!queue.empty()) {
        const int v = queue.front();
        queue.pop();
        for (int w : lists[v])
            if (expected[w] == 0xffffffffu) {
                expected[w] = expected[v] + 1;
                queue.push(w);
            }
    }
    int* dOffsets = to_device(offsets);
    int* dNeighbours = to_device(neighbours);
    unsigned* dDepths = to_device(depths);
    int* dFrontier = device_zeros<int>(n);
    int* dNext = device_zeros<int>(n);
    int* dCount = device_zeros<int>(1);
    unsigned* dGroups = device_zeros<unsigned>(1);
    int count = 1;
    bool plausible = true;
    for (unsigned level = 1; count > 0; ++level) {
        HIP_CHECK(hipMemset(dCount, 0, sizeof(int)));
        expand<<<(count + 127) / 128, 128>>>(dOffsets, dNeighbours, dFrontier, count, dDepths, level, dNext,
                                             dCount, dGroups);
        HIP_CHECK(hipGetLastError());
        count = to_host(dCount, 1)[0];
        // The order in the queue is free, its content is not.
        std::vector<int> found = to_host(dNext, count);
        std::sort(found.begin(), found.end());
        printf("level %u: %d vertices, digest %08x\n", level, count, fnv1a(found));
        std::swap(dFrontier, dNext);
        const unsigned groups = to_host(dGroups, 1)[0];
        plausible = plausible && (level > 1 || (groups >= 1 && groups <= (unsigned)count + 1));
    }
    depths = to_host(dDepths, n);
    int reached = 0;
    unsigned long long sum = 0;
    for (unsigned d : depths)
        if (d != 0xffffffffu) {
            ++reached;
            sum += d;
        }
    printf("reached %d of %d, sum of depths %llu, digest %08x\n", reached, n, sum, fnv1a(depths));
    return finish(plausible && depths == expected);
}
