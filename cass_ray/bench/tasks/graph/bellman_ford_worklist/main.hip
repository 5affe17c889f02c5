// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Shortest paths by Bellman-Ford relaxation with atomicMin, active flags, and a change counter
// in managed memory.
#include <hip/hip_runtime.h>
#include <algorithm>
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

static int finish(bool right)
{
    GPU_OK(hipDeviceSynchronize());
    printf("verify: %s\n", right ? "OK" : "MISMATCH");
    return right ? 0 : 1;
}

#define UNREACHED 0x3fffffff

__managed__ int changes;

struct Edge {
    int from, to, weight;
};

__global__ void relax(const Edge* edges, int count, int* distance, const unsigned char* active,
                      unsigned char* nextActive)
{
    for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < count; e += gridDim.x * blockDim.x) {
        const Edge edge = edges[e];
        if (!active[edge.from])
            continue;
        const int candidate = ((volatile int*)distance)[edge.from] + edge.weight;
        if (candidate < atomicMin(&distance[edge.to], candidate)) {
            nextActive[edge.to] = 1;
            atomicAdd(&changes, 1);
        }
    }
}

// Any predecessor on a shortest path; the smallest, so that the answer is unique.
__global__ void predecessors(const Edge* edges, int count, const int* distance, int* before)
{
    for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < count; e += gridDim.x * blockDim.x) {
        const Edge edge = edges[e];
        if (distance[edge.from] < UNREACHED && distance[edge.from] + edge.weight == distance[edge.to])
            atomicMin(&before[edge.to], edge.from);
    }
}

int main(int argc, char** argv)
{
    const int n = argument(argc, argv, 1, 700);
    Random random((unsigned)argument(argc, argv, 2, 1));
    if (n < 4)
        return 2;
    const int m = 5 * n;
    Edge* edges;
    int *distance, *before;
    unsigned char *active, *nextActive;
    GPU_OK(hipMallocManaged((void**)&edges, m * sizeof(Edge)));
    GPU_OK(hipMallocManaged((void**)&distance, n * sizeof(int)));
    GPU_OK(hipMallocManaged((void**)&before, n * sizeof(int)));
    GPU_OK(hipMallocManaged((void**)&active, n));
    GPU_OK(hipMallocManaged((void**)&nextActive, n));
    for (int e = 0; e < m; ++e) {
        edges[e].from = (int)random.below(n);
        edges[e].to = (edges[e].from + 1 + (int)random.below(n / 4 + 1)) % n;
        edges[e].weight = 1 + (int)random.below(1000);
    }
    for (int v = 0; v < n; ++v) {
        distance[v] = v == 0 ? 0 : UNREACHED;
        before[v] = n;
        active[v] = v == 0;
        nextActive[v] = 0;
    }
    bool ended = false;
    for (int round = 0; round <= n && !ended; ++round) {
        changes = 0;
        relax<<<5, 96>>>(edges, m, distance, active, nextActive);
        GPU_OK(hipGetLastError());
        GPU_OK(hipDeviceSynchronize());
        ended = changes == 0;
        std::swap(active, nextActive);
        for (int v = 0; v < n; ++v)
            nextActive[v] = 0;
    }
    predecessors<<<5, 96>>>(edges, m, distance, before);
    GPU_OK(hipGetLastError());
    GPU_OK(hipDeviceSynchronize());

    std::vector<int> expected(n, UNREACHED);
    expected[0] = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (int e = 0; e < m; ++e)
            if (expected[edges[e].from] < UNREACHED &&
                expected[edges[e].from] + edges[e].weight < expected[edges[e].to]) {
                expected[edges[e].to] = expected[edges[e].from] + edges[e].weight;
                changed = true;
            }
    }
    int reached = 0, farthest = 0, wrong = 0;
    long long sum = 0;
    for (int v = 0; v < n; ++v) {
        wrong += distance[v] != expected[v];
        if (distance[v] == UNREACHED)
            continue;
        ++reached;
        sum += distance[v];
        if (distance[v] > distance[farthest])
            farthest = v;
    }
    printf("reached %d of %d, sum %lld, farthest %d at %d\n", reached, n, sum, farthest, distance[farthest]);
    printf("path back:");
    for (int v = farthest, k = 0; k < 20; ++k) {
        printf(" %d", v);
        if (v == 0)
            break;
        v = before[v];
    }
    printf("\ndigests %08x %08x\n", fingerprint(std::vector<int>(distance, distance + n)),
           fingerprint(std::vector<int>(before, before + n)));
    GPU_OK(hipFree(edges));
    GPU_OK(hipFree(distance));
    GPU_OK(hipFree(before));
    GPU_OK(hipFree(active));
    GPU_OK(hipFree(nextActive));
    return finish(ended && wrong == 0);
}
