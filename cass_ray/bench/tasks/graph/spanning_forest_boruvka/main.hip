// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Minimum spanning forest by Boruvka rounds: 64-bit atomicMin picks edges, pointer jumping
// contracts the components.
#include <hip/hip_runtime.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define TRY(call)                                                                  \
    do {                                                                             \
        const hipError_t status_ = (call);                                          \
        if (status_ != hipSuccess) {                                                \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(status_)); \
            exit(2);                                                                 \
        }                                                                            \
    } while (0)

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
static T* copyIn(const std::vector<T>& values)
{
    T* memory = nullptr;
    TRY(hipMalloc(&memory, (values.empty() ? 1 : values.size()) * sizeof(T)));
    TRY(hipMemcpy(memory, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice));
    return memory;
}

template <typename T>
static T* cleared(size_t count)
{
    T* memory = nullptr;
    TRY(hipMalloc(&memory, count * sizeof(T)));
    TRY(hipMemset(memory, 0, count * sizeof(T)));
    return memory;
}

template <typename T>
static std::vector<T> copyOut(const T* memory, size_t count)
{
    std::vector<T> values(count);
    TRY(hipMemcpy(values.data(), memory, count * sizeof(T), hipMemcpyDeviceToHost));
    return values;
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

static int conclude(bool right)
{
    TRY(hipDeviceSynchronize());
    printf("verify: %s\n", right ? "OK" : "MISMATCH");
    return right ? 0 : 1;
}

typedef unsigned long long u64;

struct Edge {
    int a, b;
    unsigned weight;
};

__global__ void reset(u64* best, int n)
{
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n)
        best[v] = ~0ull;
}

__global__ void pickEdges(const Edge* edges, int m, const int* component, u64* best)
{
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= m)
        return;
    const int a = component[edges[e].a], b = component[edges[e].b];
    if (a == b)
        return;
    const u64 key = (u64)edges[e].weight << 32 | (unsigned)e;
    if (key < best[a])
        atomicMin(&best[a], key);
    if (key < best[b])
        atomicMin(&best[b], key);
}

__global__ void hook(const Edge* edges, const u64* best, const int* component, int* parent,
                     unsigned char* chosen, int* merged, int n)
{
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n)
        return;
    if (component[v] != v || best[v] == ~0ull) {
        parent[v] = component[v];
        return;
    }
    const int e = (int)(unsigned)best[v];
    const int a = component[edges[e].a], b = component[edges[e].b];
    const int other = a == v ? b : a;
    // Two components that chose the same edge: the smaller one stays a root.
    if (best[other] == best[v] && v < other) {
        parent[v] = v;
        return;
    }
    parent[v] = other;
    chosen[e] = 1;
    atomicAdd(merged, 1);
}

__global__ void jump(const int* parent, int* component, int n)
{
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n)
        return;
    int root = parent[v];
    while (parent[root] != root)
        root = parent[root];
    component[v] = root;
}

static int rootOf(std::vector<int>& parent, int v)
{
    while (parent[v] != v)
        v = parent[v] = parent[parent[v]];
    return v;
}

int main(int argc, char** argv)
{
    const int n = argument(argc, argv, 1, 600);
    const int degree = argument(argc, argv, 2, 3);
    Random random((unsigned)argument(argc, argv, 3, 1));
    if (n < 2 || degree < 1)
        return 2;
    std::vector<Edge> edges(n * degree);
    for (Edge& e : edges) {
        e.a = (int)random.below(n);
        // Residues modulo 3 never mix: the forest has several trees.
        e.b = (e.a + 3 * (1 + (int)random.below(n / 6 + 1))) / 3 * 3 + e.a % 3;
        if (e.b >= n)
            e.b = e.a % 3;
        e.weight = random.below(1000);
    }
    const int m = (int)edges.size();
    std::vector<int> identity(n);
    for (int v = 0; v < n; ++v)
        identity[v] = v;
    Edge* dEdges = copyIn(edges);
    int* dComponent = copyIn(identity);
    int* dParent = copyIn(identity);
    u64* dBest = cleared<u64>(n);
    unsigned char* dChosen = cleared<unsigned char>(m);
    int* dMerged = cleared<int>(1);
    const int vertexBlocks = (n + 127) / 128, edgeBlocks = (m + 127) / 128;
    for (int round = 1;; ++round) {
        TRY(hipMemset(dMerged, 0, sizeof(int)));
        reset<<<vertexBlocks, 128>>>(dBest, n);
        pickEdges<<<edgeBlocks, 128>>>(dEdges, m, dComponent, dBest);
        hook<<<vertexBlocks, 128>>>(dEdges, dBest, dComponent, dParent, dChosen, dMerged, n);
        jump<<<vertexBlocks, 128>>>(dParent, dComponent, n);
        TRY(hipGetLastError());
        const int merged = copyOut(dMerged, 1)[0];
        printf("round %d: merged %d\n", round, merged);
        if (merged == 0)
            break;
    }
    const std::vector<unsigned char> chosen = copyOut(dChosen, m);
    const std::vector<int> component = copyOut(dComponent, n);
    std::vector<int> order(m), parent(identity);
    for (int e = 0; e < m; ++e)
        order[e] = e;
    std::stable_sort(order.begin(), order.end(),
                     [&](int x, int y) { return edges[x].weight < edges[y].weight; });
    std::vector<unsigned char> expected(m, 0);
    for (int e : order) {
        const int a = rootOf(parent, edges[e].a), b = rootOf(parent, edges[e].b);
        if (a != b) {
            parent[a] = b;
            expected[e] = 1;
        }
    }
    long long weight = 0;
    int taken = 0, trees = 0;
    for (int e = 0; e < m; ++e)
        if (chosen[e]) {
            ++taken;
            weight += edges[e].weight;
        }
    for (int v = 0; v < n; ++v)
        trees += component[v] == v;
    printf("edges %d of %d, weight %lld, trees %d\n", taken, m, weight, trees);
    printf("digests: edges %08x components %08x\n", hashOf(chosen), hashOf(component));
    return conclude(chosen == expected && taken == n - trees);
}
