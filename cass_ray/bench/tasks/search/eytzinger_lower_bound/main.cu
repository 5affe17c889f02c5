// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Lower bounds in a sorted array laid out breadth-first, against a plain binary search in the
// same program.
#include <cuda_runtime.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define GPU_OK(expression)                                                        \
    if (cudaError_t failure = (expression); failure != cudaSuccess) {            \
        fprintf(stderr, "error %d (%s) in line %d\n", (int)failure,              \
                cudaGetErrorName(failure), __LINE__);                            \
        exit(2);                                                                 \
    }

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

// tree[1 .. n] is the array in breadth-first order of a complete search tree; position[] maps back.
__global__ void lowerBoundTree(const int* __restrict__ tree, const int* __restrict__ position, int n,
                               const int* __restrict__ queries, int* found, int count)
{
    for (int q = blockIdx.x * blockDim.x + threadIdx.x; q < count; q += gridDim.x * blockDim.x) {
        const int value = __ldg(&queries[q]);
        unsigned k = 1;
        while (k <= (unsigned)n)
            k = 2 * k + (__ldg(&tree[k]) < value ? 1u : 0u);
        // Undo the right turns at the end, and the left turn before them.
        k >>= __ffs((int)~k);
        found[q] = k == 0 ? n : position[k];
    }
}

__global__ void lowerBoundPlain(const int* sorted, int n, const int* queries, int* found, int count)
{
    const int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= count)
        return;
    int low = 0, length = n;
    while (length > 0) {
        const int half = length / 2;
        const bool right = sorted[low + half] < queries[q];
        low = right ? low + half + 1 : low;
        length = right ? length - half - 1 : half;
    }
    found[q] = low;
}

static int layOut(const std::vector<int>& sorted, std::vector<int>& tree, std::vector<int>& position, int next,
                  size_t k)
{
    if (k < tree.size()) {
        next = layOut(sorted, tree, position, next, 2 * k);
        tree[k] = sorted[next];
        position[k] = next++;
        next = layOut(sorted, tree, position, next, 2 * k + 1);
    }
    return next;
}

int main(int argc, char** argv)
{
    const int n = argument(argc, argv, 1, 3000);
    const int count = argument(argc, argv, 2, 2500);
    Random random((unsigned)argument(argc, argv, 3, 1));
    if (n < 1 || count < 1)
        return 2;
    std::vector<int> sorted(n), queries(count), tree(n + 1, 0), position(n + 1, 0);
    for (int& v : sorted)
        v = (int)random.below(10 * n);
    std::sort(sorted.begin(), sorted.end());
    for (int& q : queries)
        q = (int)random.below(11 * n) - n / 4;
    layOut(sorted, tree, position, 0, 1);
    int* dSorted = upload(sorted);
    int* dTree = upload(tree);
    int* dPosition = upload(position);
    int* dQueries = upload(queries);
    int* dFound = deviceZeros<int>(count);
    int* dPlain = deviceZeros<int>(count);
    lowerBoundTree<<<6, 96>>>(dTree, dPosition, n, dQueries, dFound, count);
    lowerBoundPlain<<<(count + 127) / 128, 128>>>(dSorted, n, dQueries, dPlain, count);
    GPU_OK(cudaGetLastError());
    const std::vector<int> found = download(dFound, count), plain = download(dPlain, count);
    int wrong = 0, absent = 0, exact = 0;
    long long sum = 0;
    for (int q = 0; q < count; ++q) {
        const int e = (int)(std::lower_bound(sorted.begin(), sorted.end(), queries[q]) - sorted.begin());
        wrong += e != found[q];
        absent += found[q] == n;
        exact += found[q] < n && sorted[found[q]] == queries[q];
        sum += (long long)found[q] * (1 + q % 5);
    }
    printf("queries %d, exact hits %d, beyond the end %d, sum %lld\n", count, exact, absent, sum);
    printf("digest %08x %08x\n", fingerprint(found), fingerprint(plain));
    show("found", found, 12);
    return finish(wrong == 0 && found == plain);
}
