// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Triangles counted by intersecting rows of a bit matrix with one warp for each edge, and
// clustering per vertex.
#include <hip/hip_runtime.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                  \
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

template <typename T>
static T* toDevice(const std::vector<T>& values)
{
    T* memory = nullptr;
    CHECK(hipMalloc(&memory, (values.empty() ? 1 : values.size()) * sizeof(T)));
    CHECK(hipMemcpy(memory, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice));
    return memory;
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

// Logical groups of 32 lanes: a wavefront may have 64.
#define WARP 32

__global__ void countTriangles(const unsigned* rows, int words, const int2* edges, int count,
                               unsigned long long* total, unsigned* perVertex)
{
    const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / WARP, lane = threadIdx.x % WARP;
    if (warp >= count)
        return;
    const int2 edge = edges[warp];
    unsigned common = 0;
    for (int w = lane; w < words; w += WARP) {
        const unsigned both = rows[edge.x * words + w] & rows[edge.y * words + w];
        common += __popc(both);
        for (unsigned rest = both; rest != 0; rest &= rest - 1)
            atomicAdd(&perVertex[w * 32 + __ffs(rest) - 1], 1u);
    }
    for (int offset = WARP / 2; offset > 0; offset >>= 1)
        common += __shfl_down(common, offset, WARP);
    if (lane == 0 && common != 0)
        atomicAdd(total, (unsigned long long)common);
}

int main(int argc, char** argv)
{
    const int n = argument(argc, argv, 1, 200);
    const int degree = argument(argc, argv, 2, 6);
    Random random((unsigned)argument(argc, argv, 3, 1));
    if (n < 3 || degree < 1)
        return 2;
    const int words = (n + 31) / 32;
    std::vector<unsigned> rows(n * words, 0);
    std::vector<int2> edges;
    for (int k = 0; k < n * degree; ++k) {
        const int a = (int)random.below(n);
        const int b = (a + 1 + (int)random.below(n / 5 + 2)) % n;
        if (a == b || rows[a * words + b / 32] >> (b % 32) & 1)
            continue;
        rows[a * words + b / 32] |= 1u << (b % 32);
        rows[b * words + a / 32] |= 1u << (a % 32);
        edges.push_back(make_int2(a, b));
    }
    const int count = (int)edges.size();
    unsigned* dRows = toDevice(rows);
    int2* dEdges = toDevice(edges);
    unsigned long long* dTotal = zeros<unsigned long long>(1);
    unsigned* dPerVertex = zeros<unsigned>(words * 32);
    countTriangles<<<(count + 3) / 4, 4 * WARP>>>(dRows, words, dEdges, count, dTotal, dPerVertex);
    CHECK(hipGetLastError());
    const unsigned long long corners = toHost(dTotal, 1)[0];
    const std::vector<unsigned> perVertex = toHost(dPerVertex, words * 32);
    auto joined = [&](int a, int b) { return (rows[a * words + b / 32] >> (b % 32) & 1) != 0; };
    std::vector<unsigned> expected(words * 32, 0);
    unsigned long long triangles = 0;
    for (int a = 0; a < n; ++a)
        for (int b = a + 1; b < n; ++b)
            for (int c = b + 1; joined(a, b) && c < n; ++c)
                if (joined(a, c) && joined(b, c)) {
                    ++triangles;
                    ++expected[a];
                    ++expected[b];
                    ++expected[c];
                }
    unsigned most = 0;
    for (unsigned v : perVertex)
        most = std::max(most, v);
    printf("vertices %d, edges %d, triangles %llu (corners %llu), most at a vertex %u\n", n, count,
           corners / 3, corners, most);
    printf("digest %08x\n", digest(perVertex));
    show("per vertex", perVertex, 16);
    return finish(corners == 3 * triangles && perVertex == expected);
}
