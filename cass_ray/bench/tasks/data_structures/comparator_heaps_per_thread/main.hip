// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Bounded binary heaps in shared memory, one for each thread, templated on the ordering,
// keeping the k best of a stream.
#include <hip/hip_runtime.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define HIP_CHECK(expression)                                                        \
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
    HIP_CHECK(hipDeviceSynchronize());
    printf("verify: %s\n", right ? "OK" : "MISMATCH");
    return right ? 0 : 1;
}

#define THREADS 32
#define CAPACITY 15

struct Smallest {
    static constexpr int worst = 0x7fffffff;
    __host__ __device__ bool operator()(int a, int b) const { return a < b; }
};

struct LargestByLowByte {
    static constexpr int worst = -1;
    __host__ __device__ bool operator()(int a, int b) const
    {
        return (a & 255) != (b & 255) ? (a & 255) > (b & 255) : a > b;
    }
};

// The root is the worst of the kept values. Element e of thread t lies at e * THREADS + t.
template <typename Better>
class Heap {
public:
    __device__ Heap(int* memory, Better better) : data(memory), better(better) {}

    __device__ void offer(int value)
    {
        if (count < CAPACITY) {
            int at = count++;
            while (at > 0 && better(get((at - 1) / 2), value)) {
                set(at, get((at - 1) / 2));
                at = (at - 1) / 2;
            }
            set(at, value);
        } else if (better(value, get(0))) {
            sink(value);
            ++replaced;
        }
    }

    __device__ int takeWorst()
    {
        const int worst = get(0), last = get(--count);
        if (count > 0)
            sink(last);
        return worst;
    }

    int count = 0, replaced = 0;

private:
    __device__ int get(int i) const { return data[i * THREADS]; }
    __device__ void set(int i, int value) { data[i * THREADS] = value; }

    __device__ void sink(int value)
    {
        int at = 0;
        for (;;) {
            int child = 2 * at + 1;
            if (child >= count)
                break;
            if (child + 1 < count && better(get(child), get(child + 1)))
                ++child;
            if (!better(value, get(child)))
                break;
            set(at, get(child));
            at = child;
        }
        set(at, value);
    }

    int* data;
    Better better;
};

template <typename Better>
__global__ void keepBest(const int* streams, int count, int length, int* best, int* replaced)
{
    __shared__ int memory[CAPACITY * THREADS];
    const int s = blockIdx.x * THREADS + threadIdx.x;
    if (s >= count)
        return;
    Heap<Better> heap(memory + threadIdx.x, Better());
    for (int i = 0; i < length; ++i)
        heap.offer(streams[i * count + s]);
    replaced[s] = heap.replaced;
    for (int k = heap.count; k < CAPACITY; ++k)
        best[s * CAPACITY + k] = Better::worst;
    while (heap.count > 0) {
        const int at = heap.count - 1;
        best[s * CAPACITY + at] = heap.takeWorst();
    }
}

template <typename Better>
static bool run(const char* name, const std::vector<int>& streams, const int* dStreams, int count, int length)
{
    int* dBest = device_zeros<int>(count * CAPACITY);
    int* dReplaced = device_zeros<int>(count);
    keepBest<Better><<<(count + THREADS - 1) / THREADS, THREADS>>>(dStreams, count, length, dBest, dReplaced);
    HIP_CHECK(hipGetLastError());
    const std::vector<int> best = to_host(dBest, count * CAPACITY), replaced = to_host(dReplaced, count);
    bool right = true;
    for (int s = 0; s < count; ++s) {
        std::vector<int> all(length);
        for (int i = 0; i < length; ++i)
            all[i] = streams[i * count + s];
        std::sort(all.begin(), all.end(), Better());
        for (int k = 0; k < CAPACITY; ++k)
            right = right && best[s * CAPACITY + k] == (k < length ? all[k] : Better::worst);
    }
    printf("%s: digests %08x %08x\n", name, fnv1a(best), fnv1a(replaced));
    show("best", best, 10);
    return right;
}

int main(int argc, char** argv)
{
    const int count = int_arg(argc, argv, 1, 50);
    const int length = int_arg(argc, argv, 2, 120);
    Random random((unsigned)int_arg(argc, argv, 3, 1));
    if (count < 1 || length < 1)
        return 2;
    std::vector<int> streams(count * length);
    for (int& v : streams)
        v = (int)random.below(100000);
    int* dStreams = to_device(streams);
    const bool smallest = run<Smallest>("smallest", streams, dStreams, count, length);
    const bool byByte = run<LargestByLowByte>("largest by low byte", streams, dStreams, count, length);
    HIP_CHECK(hipFree(dStreams));
    return finish(smallest && byByte);
}
