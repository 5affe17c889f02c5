// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Lock-free stack of node indices with a version tag in 64-bit compare-and-swap, pushed and
// popped by separate kernels.
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

static int finish(bool right)
{
    CHECK(hipDeviceSynchronize());
    printf("verify: %s\n", right ? "OK" : "MISMATCH");
    return right ? 0 : 1;
}

typedef unsigned long long u64;

struct Stack {
    u64* head;  // version << 32 | index + 1
    unsigned* next;

    __device__ void push(unsigned node)
    {
        u64 old = *(volatile u64*)head;
        for (;;) {
            ((volatile unsigned*)next)[node] = (unsigned)old;
            __threadfence();
            const u64 wanted = ((old >> 32) + 1) << 32 | (node + 1);
            const u64 seen = atomicCAS(head, old, wanted);
            if (seen == old)
                return;
            old = seen;
        }
    }

    __device__ bool pop(unsigned& node)
    {
        u64 old = *(volatile u64*)head;
        for (;;) {
            const unsigned top = (unsigned)old;
            if (top == 0)
                return false;
            const unsigned below = ((volatile unsigned*)next)[top - 1];
            const u64 wanted = ((old >> 32) + 1) << 32 | below;
            const u64 seen = atomicCAS(head, old, wanted);
            if (seen == old) {
                node = top - 1;
                return true;
            }
            old = seen;
        }
    }
};

__global__ void pushAll(Stack stack, const unsigned* values, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && values[i] % 5 != 0)
        stack.push(i);
}

// Every thread takes up to `each` nodes; what it got is summed, and marked.
__global__ void popSome(Stack stack, const unsigned* values, int threads, int each, u64* sums, unsigned* owner)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= threads)
        return;
    u64 sum = 0, count = 0;
    unsigned node;
    for (int k = 0; k < each && stack.pop(node); ++k) {
        sum += values[node];
        ++count;
        atomicAdd(&owner[node], 1u);
    }
    atomicAdd(&sums[0], sum);
    atomicAdd(&sums[1], count);
}

// Pops one and pushes it again: the content stays, the version grows.
__global__ void recycle(Stack stack, int threads, unsigned* failures)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned node;
    if (t < threads) {
        if (stack.pop(node))
            stack.push(node);
        else
            atomicAdd(failures, 1u);
    }
}

int main(int argc, char** argv)
{
    const int n = argument(argc, argv, 1, 1500);
    const int each = argument(argc, argv, 2, 2);
    Random random((unsigned)argument(argc, argv, 3, 1));
    if (n < 8 || each < 1)
        return 2;
    std::vector<unsigned> values(n);
    u64 total = 0, pushed = 0;
    for (unsigned& v : values) {
        v = random.below(100000);
        if (v % 5 != 0) {
            total += v;
            ++pushed;
        }
    }
    unsigned* dValues = toDevice(values);
    Stack stack = {zeros<u64>(1), zeros<unsigned>(n)};
    u64* dSums = zeros<u64>(2);
    unsigned* dOwner = zeros<unsigned>(n);
    unsigned* dFailures = zeros<unsigned>(1);
    pushAll<<<(n + 63) / 64, 64>>>(stack, dValues, n);
    CHECK(hipGetLastError());
    recycle<<<2, 64>>>(stack, 40, dFailures);
    CHECK(hipGetLastError());
    const u64 afterPush = toHost(stack.head, 1)[0];
    const int takers = (int)pushed / (2 * each);
    popSome<<<(takers + 63) / 64, 64>>>(stack, dValues, takers, each, dSums, dOwner);
    CHECK(hipGetLastError());
    const std::vector<u64> half = toHost(dSums, 2);
    popSome<<<8, 64>>>(stack, dValues, 500, n, dSums, dOwner);
    CHECK(hipGetLastError());
    const std::vector<u64> all = toHost(dSums, 2);
    const std::vector<unsigned> owner = toHost(dOwner, n);
    const u64 head = toHost(stack.head, 1)[0];
    const bool noneFailed = toHost(dFailures, 1)[0] == 0;
    bool right = all[0] == total && all[1] == pushed && (unsigned)head == 0;
    for (int i = 0; i < n; ++i)
        right = right && owner[i] == (values[i] % 5 != 0 ? 1u : 0u);
    printf("pushed %llu of %d, version %llu\n", pushed, n, noneFailed ? afterPush >> 32 : 0ull);
    printf("first takers popped %llu, all popped %llu with sum %llu\n", half[1], all[1], all[0]);
    printf("version at the end %llu, owners digest %08x\n", noneFailed ? head >> 32 : 0ull, digest(owner));
    return finish(right);
}
