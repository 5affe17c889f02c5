// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Vertex colouring by rounds of local maxima of hashed priorities, replayed as an instantiated
// HIP graph until nothing is left.
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

__device__ int remaining;

__host__ __device__ inline unsigned priority(unsigned v)
{
    v ^= v >> 16;
    v *= 0x7feb352du;
    v ^= v >> 15;
    v *= 0x846ca68bu;
    return v ^ v >> 16;
}

// Before: colour < 0. A vertex decides when all its undecided neighbours have lower priority.
__global__ void chooseColours(const int* offsets, const int* neighbours, const int* colour, int* next, int n)
{
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n)
        return;
    int mine = colour[v];
    if (mine < 0) {
        unsigned long long used = 0;
        bool highest = true;
        const unsigned own = priority(v);
        for (int e = offsets[v]; e < offsets[v + 1]; ++e) {
            const int w = neighbours[e], c = colour[w];
            if (c >= 0)
                used |= 1ull << c;
            else if (w != v) {
                const unsigned other = priority(w);
                highest = highest && (own > other || (own == other && v > w));
            }
        }
        if (highest)
            mine = __ffsll((long long)~used) - 1;
    }
    next[v] = mine;
}

__global__ void publish(const int* next, int* colour, int n)
{
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n)
        return;
    if (colour[v] < 0 && next[v] >= 0)
        atomicSub(&remaining, 1);
    colour[v] = next[v];
}

int main(int argc, char** argv)
{
    const int n = argument(argc, argv, 1, 500);
    const int degree = argument(argc, argv, 2, 4);
    Random random((unsigned)argument(argc, argv, 3, 1));
    if (n < 2 || degree < 1 || degree > 12)
        return 2;
    std::vector<std::vector<int>> lists(n);
    for (int v = 0; v < n; ++v)
        for (int k = 0; k < degree; ++k) {
            const int w = (int)random.below(n);
            if (w != v && lists[v].size() < 40 && lists[w].size() < 40) {
                lists[v].push_back(w);
                lists[w].push_back(v);
            }
        }
    std::vector<int> offsets(1, 0), neighbours;
    for (const std::vector<int>& list : lists) {
        neighbours.insert(neighbours.end(), list.begin(), list.end());
        offsets.push_back((int)neighbours.size());
    }
    int* dOffsets = copyIn(offsets);
    int* dNeighbours = copyIn(neighbours);
    int* dColour = copyIn(std::vector<int>(n, -1));
    int* dNext = cleared<int>(n);
    TRY(hipMemcpyToSymbol(remaining, &n, sizeof n));

    hipStream_t stream;
    hipGraph_t graph;
    hipGraphExec_t exec;
    TRY(hipStreamCreate(&stream));
    TRY(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    const int blocks = (n + 95) / 96;
    for (int half = 0; half < 2; ++half) {
        chooseColours<<<blocks, 96, 0, stream>>>(dOffsets, dNeighbours, dColour, dNext, n);
        publish<<<blocks, 96, 0, stream>>>(dNext, dColour, n);
    }
    TRY(hipStreamEndCapture(stream, &graph));
    size_t nodes = 0;
    TRY(hipGraphGetNodes(graph, nullptr, &nodes));
    TRY(hipGraphInstantiateWithFlags(&exec, graph, 0));
    int left = n, launches = 0;
    while (left > 0 && launches < n) {
        TRY(hipGraphLaunch(exec, stream));
        TRY(hipStreamSynchronize(stream));
        TRY(hipMemcpyFromSymbol(&left, remaining, sizeof left));
        ++launches;
        printf("after launch %d: %d left\n", launches, left);
    }
    const std::vector<int> colour = copyOut(dColour, n);
    int conflicts = 0;
    std::vector<int> classes(41, 0), order(n), expected(n, -1);
    for (int v = 0; v < n; ++v) {
        order[v] = v;
        for (int w : lists[v])
            conflicts += colour[v] == colour[w];
        if (colour[v] >= 0)
            ++classes[colour[v]];
    }
    std::sort(order.begin(), order.end(), [](int a, int b) {
        return priority(a) != priority(b) ? priority(a) > priority(b) : a > b;
    });
    for (int v : order) {
        unsigned long long used = 0;
        for (int w : lists[v])
            if (expected[w] >= 0)
                used |= 1ull << expected[w];
        int c = 0;
        while (used >> c & 1)
            ++c;
        expected[v] = c;
    }
    printf("graph nodes %zu, conflicts %d, digest %08x\n", nodes, conflicts, hashOf(colour));
    printf("classes:");
    for (int c : classes)
        if (c)
            printf(" %d", c);
    printf("\n");
    TRY(hipGraphExecDestroy(exec));
    TRY(hipGraphDestroy(graph));
    TRY(hipStreamDestroy(stream));
    return conclude(conflicts == 0 && left == 0 && colour == expected);
}
