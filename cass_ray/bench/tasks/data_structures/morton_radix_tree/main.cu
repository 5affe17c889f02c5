// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Binary radix tree over sorted 63-bit Morton codes built in parallel by common prefixes, with
// bounds gathered bottom-up.
#include <cuda_runtime.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                  \
    do {                                                                             \
        const cudaError_t status_ = (call);                                          \
        if (status_ != cudaSuccess) {                                                \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
            exit(2);                                                                 \
        }                                                                            \
    } while (0)

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

static int argument(int argc, char** argv, int index, int fallback)
{
    return argc > index ? atoi(argv[index]) : fallback;
}

template <typename T>
static T* toDevice(const std::vector<T>& values)
{
    T* memory = nullptr;
    CHECK(cudaMalloc(&memory, (values.empty() ? 1 : values.size()) * sizeof(T)));
    CHECK(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return memory;
}

template <typename T>
static T* zeros(size_t count)
{
    T* memory = nullptr;
    CHECK(cudaMalloc(&memory, count * sizeof(T)));
    CHECK(cudaMemset(memory, 0, count * sizeof(T)));
    return memory;
}

template <typename T>
static std::vector<T> toHost(const T* memory, size_t count)
{
    std::vector<T> values(count);
    CHECK(cudaMemcpy(values.data(), memory, count * sizeof(T), cudaMemcpyDeviceToHost));
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
    CHECK(cudaDeviceSynchronize());
    printf("verify: %s\n", right ? "OK" : "MISMATCH");
    return right ? 0 : 1;
}

typedef unsigned long long u64;

__host__ __device__ inline u64 spread(unsigned v)
{
    u64 x = v & 0x1fffff;
    x = (x | x << 32) & 0x1f00000000ffffull;
    x = (x | x << 16) & 0x1f0000ff0000ffull;
    x = (x | x << 8) & 0x100f00f00f00f00full;
    x = (x | x << 4) & 0x10c30c30c30c30c3ull;
    x = (x | x << 2) & 0x1249249249249249ull;
    return x;
}

__global__ void mortonCodes(const int4* points, u64* codes, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        codes[i] = spread(points[i].x) << 2 | spread(points[i].y) << 1 | spread(points[i].z);
}

__device__ int commonPrefix(const u64* codes, int n, int i, int j)
{
    if (j < 0 || j >= n)
        return -1;
    const u64 difference = codes[i] ^ codes[j];
    return difference != 0 ? __clzll((long long)difference) : 64 + __clz(i ^ j);
}

// Children are node indices; leaves are n - 1 + index.
__global__ void buildNodes(const u64* codes, int n, int2* children, int* parent)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n - 1)
        return;
    const int direction = commonPrefix(codes, n, i, i + 1) > commonPrefix(codes, n, i, i - 1) ? 1 : -1;
    const int least = commonPrefix(codes, n, i, i - direction);
    int bound = 2;
    while (commonPrefix(codes, n, i, i + bound * direction) > least)
        bound *= 2;
    int length = 0;
    for (int step = bound / 2; step > 0; step /= 2)
        if (commonPrefix(codes, n, i, i + (length + step) * direction) > least)
            length += step;
    const int other = i + length * direction;
    const int nodePrefix = commonPrefix(codes, n, i, other);
    int split = 0;
    for (int step = (length + 1) / 2;; step = (step + 1) / 2) {
        if (commonPrefix(codes, n, i, i + (split + step) * direction) > nodePrefix)
            split += step;
        if (step == 1)
            break;
    }
    const int gamma = i + split * direction + min(direction, 0);
    const int left = min(i, other) == gamma ? n - 1 + gamma : gamma;
    const int right = max(i, other) == gamma + 1 ? n - 1 + gamma + 1 : gamma + 1;
    children[i] = make_int2(left, right);
    parent[left] = i;
    parent[right] = i;
}

struct Box {
    int low[3], high[3], count, depth;
};

__global__ void gatherBounds(const int4* points, const int* order, int n, const int2* children,
                             const int* parent, unsigned* visits, Box* boxes)
{
    const int leaf = blockIdx.x * blockDim.x + threadIdx.x;
    if (leaf >= n)
        return;
    const int4 p = points[order[leaf]];
    Box box = {{p.x, p.y, p.z}, {p.x, p.y, p.z}, 1, 0};
    boxes[n - 1 + leaf] = box;
    int node = parent[n - 1 + leaf];
    while (node >= 0) {
        __threadfence();
        // The second child to arrive goes on.
        if (atomicAdd(&visits[node], 1u) == 0)
            return;
        __threadfence();
        const volatile Box* a = &boxes[children[node].x];
        const volatile Box* b = &boxes[children[node].y];
        for (int k = 0; k < 3; ++k) {
            box.low[k] = min(a->low[k], b->low[k]);
            box.high[k] = max(a->high[k], b->high[k]);
        }
        box.count = a->count + b->count;
        box.depth = max(a->depth, b->depth) + 1;
        boxes[node] = box;
        node = parent[node];
    }
}

int main(int argc, char** argv)
{
    const int n = argument(argc, argv, 1, 900);
    Random random((unsigned)argument(argc, argv, 2, 1));
    if (n < 2)
        return 2;
    std::vector<int4> points(n);
    for (int i = 0; i < n; ++i) {
        // A few points coincide.
        const int spreadOut = i % 9 == 0 ? 4 : 1 << 18;
        points[i].x = (int)random.below(spreadOut);
        points[i].y = (int)random.below(spreadOut);
        points[i].z = (int)random.below(spreadOut);
        points[i].w = i;
    }
    int4* dPoints = toDevice(points);
    u64* dCodes = zeros<u64>(n);
    mortonCodes<<<(n + 127) / 128, 128>>>(dPoints, dCodes, n);
    CHECK(cudaGetLastError());
    std::vector<u64> codes = toHost(dCodes, n);
    std::vector<int> order(n);
    for (int i = 0; i < n; ++i)
        order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return codes[a] < codes[b]; });
    std::vector<u64> sorted(n);
    for (int i = 0; i < n; ++i)
        sorted[i] = codes[order[i]];
    CHECK(cudaMemcpy(dCodes, sorted.data(), n * sizeof(u64), cudaMemcpyHostToDevice));
    int* dOrder = toDevice(order);
    int2* dChildren = zeros<int2>(n);
    int* dParent = toDevice(std::vector<int>(2 * n, -1));
    unsigned* dVisits = zeros<unsigned>(n);
    Box* dBoxes = zeros<Box>(2 * n);
    buildNodes<<<(n + 63) / 64, 64>>>(dCodes, n, dChildren, dParent);
    CHECK(cudaGetLastError());
    gatherBounds<<<(n + 63) / 64, 64>>>(dPoints, dOrder, n, dChildren, dParent, dVisits, dBoxes);
    CHECK(cudaGetLastError());
    const std::vector<int2> children = toHost(dChildren, n - 1);
    const std::vector<Box> boxes = toHost(dBoxes, 2 * n - 1);
    const Box root = boxes[0];
    bool right = root.count == n;
    long long counts = 0, volume = 0;
    for (int i = 0; i < n - 1; ++i) {
        const Box& a = boxes[children[i].x];
        const Box& b = boxes[children[i].y];
        right = right && boxes[i].count == a.count + b.count;
        counts += boxes[i].count;
        volume += (long long)(boxes[i].high[0] - boxes[i].low[0]) * (i % 13 + 1);
    }
    printf("root %d points, depth %d, x %d..%d, y %d..%d, z %d..%d\n", root.count, root.depth, root.low[0],
           root.high[0], root.low[1], root.high[1], root.low[2], root.high[2]);
    printf("sum of counts %lld, extents %lld, children %08x, boxes %08x\n", counts, volume, digest(children),
           digest(boxes));
    show("codes", sorted, 6);
    return finish(right);
}
