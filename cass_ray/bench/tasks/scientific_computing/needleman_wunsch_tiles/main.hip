// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Global sequence alignment in 16 x 16 tiles along antidiagonals, with a substitution table in
// constant memory and a traceback.
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
#define CHECK(call) stopOnError((call), #call, __LINE__)

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

#define TILE 16
#define GAP 4
__constant__ signed char substitution[16];

__global__ void alignTiles(const unsigned char* a, const unsigned char* b, int n, int m, int* score, int diagonal,
                           int firstRow)
{
    __shared__ int local[TILE + 1][TILE + 1];
    __shared__ unsigned char rowLetters[TILE], columnLetters[TILE];
    const int tileRow = firstRow + blockIdx.x, tileColumn = diagonal - tileRow;
    const int row0 = tileRow * TILE, column0 = tileColumn * TILE;
    const int pitch = m + 1, t = threadIdx.x;
    rowLetters[t] = row0 + t < n ? a[row0 + t] : 0;
    columnLetters[t] = column0 + t < m ? b[column0 + t] : 0;
    if (row0 + t + 1 <= n)
        local[t + 1][0] = score[(row0 + t + 1) * pitch + column0];
    if (column0 + t + 1 <= m)
        local[0][t + 1] = score[row0 * pitch + column0 + t + 1];
    if (t == 0)
        local[0][0] = score[row0 * pitch + column0];
    __syncthreads();
    for (int step = 0; step < 2 * TILE - 1; ++step) {
        const int i = t, j = step - t;
        if (j >= 0 && j < TILE && row0 + i < n && column0 + j < m) {
            const int match = local[i][j] + substitution[rowLetters[i] * 4 + columnLetters[j]];
            const int gap = max(local[i][j + 1], local[i + 1][j]) - GAP;
            local[i + 1][j + 1] = max(match, gap);
        }
        __syncthreads();
    }
    if (column0 + t < m)
        for (int i = 0; i < TILE && row0 + i < n; ++i)
            score[(row0 + i + 1) * pitch + column0 + t + 1] = local[i + 1][t + 1];
}

__global__ void traceback(const unsigned char* a, const unsigned char* b, int n, int m, const int* score, int* steps)
{
    int i = n, j = m, diagonal = 0, up = 0, left = 0, same = 0;
    unsigned path = 2166136261u;
    while (i > 0 || j > 0) {
        const int here = score[i * (m + 1) + j];
        int move = 2;
        if (i > 0 && j > 0 && here == score[(i - 1) * (m + 1) + j - 1] + substitution[a[i - 1] * 4 + b[j - 1]])
            move = 0;
        else if (i > 0 && here == score[(i - 1) * (m + 1) + j] - GAP)
            move = 1;
        path = (path ^ (unsigned)move) * 16777619u;
        if (move == 0) {
            same += a[i - 1] == b[j - 1];
            --i;
            --j;
            ++diagonal;
        } else if (move == 1) {
            --i;
            ++up;
        } else {
            --j;
            ++left;
        }
    }
    steps[0] = diagonal;
    steps[1] = up;
    steps[2] = left;
    steps[3] = same;
    steps[4] = (int)path;
}

int main(int argc, char** argv)
{
    const int n = argument(argc, argv, 1, 90);
    const int m = argument(argc, argv, 2, 80);
    Random random((unsigned)argument(argc, argv, 3, 1));
    if (n < 1 || m < 1)
        return 2;
    std::vector<unsigned char> a(n), b(m);
    for (unsigned char& c : a)
        c = (unsigned char)random.below(4);
    for (int j = 0; j < m; ++j) {
        const unsigned mutate = random.below(5);
        const unsigned letter = random.below(4);
        b[j] = mutate == 0 || j >= n ? (unsigned char)letter : a[j * n / std::max(n, m)];
    }
    const signed char table[16] = {5, -3, -1, -3, -3, 5, -3, -1, -1, -3, 5, -3, -3, -1, -3, 5};
    CHECK(hipMemcpyToSymbol(substitution, table, sizeof table));
    std::vector<int> score((n + 1) * (m + 1), 0);
    for (int i = 0; i <= n; ++i)
        score[i * (m + 1)] = -GAP * i;
    for (int j = 0; j <= m; ++j)
        score[j] = -GAP * j;
    unsigned char* dA = toDevice(a);
    unsigned char* dB = toDevice(b);
    int* dScore = toDevice(score);
    int* dSteps = zeros<int>(5);
    const int rows = (n + TILE - 1) / TILE, columns = (m + TILE - 1) / TILE;
    for (int diagonal = 0; diagonal < rows + columns - 1; ++diagonal) {
        const int first = std::max(0, diagonal - columns + 1), last = std::min(diagonal, rows - 1);
        alignTiles<<<last - first + 1, TILE>>>(dA, dB, n, m, dScore, diagonal, first);
    }
    traceback<<<1, 1>>>(dA, dB, n, m, dScore, dSteps);
    CHECK(hipGetLastError());
    const std::vector<int> result = toHost(dScore, (n + 1) * (m + 1)), steps = toHost(dSteps, 5);
    for (int i = 1; i <= n; ++i)
        for (int j = 1; j <= m; ++j)
            score[i * (m + 1) + j] = std::max(score[(i - 1) * (m + 1) + j - 1] + table[a[i - 1] * 4 + b[j - 1]],
                                              std::max(score[(i - 1) * (m + 1) + j], score[i * (m + 1) + j - 1]) - GAP);
    printf("lengths %d and %d, score %d, digest %08x\n", n, m, result.back(), digest(result));
    printf("diagonal %d, up %d, left %d, identical %d, path %08x\n", steps[0], steps[1], steps[2], steps[3],
           (unsigned)steps[4]);
    show("scores", result, 12);
    return finish(result == score);
}
