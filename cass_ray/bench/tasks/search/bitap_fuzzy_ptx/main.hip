// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Approximate matching with up to two errors by bit-parallel automata, with lop3, shf, bfe,
// prmt and cache-hinted loads in PTX.
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

template <typename T>
static T* upload(const std::vector<T>& values)
{
    T* memory = nullptr;
    GPU_OK(hipMalloc(&memory, (values.empty() ? 1 : values.size()) * sizeof(T)));
    GPU_OK(hipMemcpy(memory, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice));
    return memory;
}

template <typename T>
static T* deviceZeros(size_t count)
{
    T* memory = nullptr;
    GPU_OK(hipMalloc(&memory, count * sizeof(T)));
    GPU_OK(hipMemset(memory, 0, count * sizeof(T)));
    return memory;
}

template <typename T>
static std::vector<T> download(const T* memory, size_t count)
{
    std::vector<T> values(count);
    GPU_OK(hipMemcpy(values.data(), memory, count * sizeof(T), hipMemcpyDeviceToHost));
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
    GPU_OK(hipDeviceSynchronize());
    printf("verify: %s\n", right ? "OK" : "MISMATCH");
    return right ? 0 : 1;
}

#define SPAN 64

__device__ __forceinline__ unsigned andOr(unsigned a, unsigned b, unsigned c)
{
    return a & (b | c);
}

__device__ __forceinline__ unsigned orOr(unsigned a, unsigned b, unsigned c)
{
    return a | b | c;
}

// One bit to the left, a one comes in.
__device__ __forceinline__ unsigned shiftInOne(unsigned x)
{
    return x << 1 | 1u;
}

__device__ __forceinline__ unsigned field(unsigned word, int at, int width)
{
    return word >> at & ((1u << width) - 1u);
}

__device__ __forceinline__ unsigned withField(unsigned word, unsigned value, int at, int width)
{
    const unsigned mask = ((1u << width) - 1u) << at;
    return (word & ~mask) | (value << at & mask);
}

__device__ __forceinline__ unsigned reversedBytes(unsigned x)
{
    return x >> 24 | (x >> 8 & 0xff00u) | (x << 8 & 0xff0000u) | x << 24;
}

__device__ __forceinline__ unsigned loadOnce(const unsigned* address)
{
#if defined(__HIP_PLATFORM_AMD__)
    return __builtin_nontemporal_load(address);
#else
    return *address;
#endif
}

__device__ __forceinline__ void storeThrough(unsigned* address, unsigned value)
{
    *address = value;
}

__device__ __forceinline__ int highestBit(unsigned x)
{
    return 31 - __clz((int)x);
}

// masks[c] has bit j where the pattern's letter j is c. Text words hold four letters, first highest.
__global__ void bitap(const unsigned* text, int words, const unsigned* masks, int length, unsigned* marks,
                      unsigned* summary)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    const int first = t * SPAN / 4;
    if (first >= words)
        return;
    const unsigned accept = 1u << (length - 1);
    unsigned r0 = 0, r1 = 1, r2 = 3, packed = 0, seen = 0;
    const int warmUp = max(0, first - 9);
    for (int w = warmUp; w < min(first + SPAN / 4, words); ++w) {
        const unsigned letters = reversedBytes(loadOnce(&text[w]));
        unsigned hits = 0;
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const unsigned mask = masks[field(letters, 8 * k, 8)];
            const unsigned old0 = r0, old1 = r1;
            r0 = shiftInOne(r0) & mask;
            // A substitution keeps the old prefix, a deletion the new one, an insertion stays.
            r1 = orOr(andOr(mask, shiftInOne(r1), 0u), shiftInOne(old0 | r0), old0);
            r2 = orOr(andOr(mask, shiftInOne(r2), 0u), shiftInOne(old1 | r1), old1);
            const unsigned errors = r0 & accept ? 1u : r1 & accept ? 2u : r2 & accept ? 3u : 0u;
            hits = withField(hits, errors, 2 * k, 2);
        }
        if (w < first)
            continue;
        storeThrough(&marks[w], hits);
        packed += __popc(hits & 0x55u) + (__popc(hits & 0xaau) << 16);
        seen |= hits != 0 ? 1u << ((w - first) & 31) : 0u;
    }
    summary[2 * t] = packed;
    summary[2 * t + 1] = (unsigned)(highestBit(seen) + 1);
}

int main(int argc, char** argv)
{
    const int n = (argument(argc, argv, 1, 6000) + 3) / 4 * 4;
    const int length = argument(argc, argv, 2, 12);
    Random random((unsigned)argument(argc, argv, 3, 1));
    if (n < 4 || length < 4 || length > 32)
        return 2;
    std::vector<unsigned char> pattern(length), text(n);
    std::vector<unsigned> masks(256, 0);
    for (int j = 0; j < length; ++j) {
        pattern[j] = (unsigned char)random.below(4);
        masks[pattern[j]] |= 1u << j;
    }
    for (int i = 0; i < n; ++i) {
        const unsigned letter = random.below(4);
        const unsigned noise = random.below(12);
        text[i] = i % 100 < length && noise != 0 ? pattern[i % 100] : (unsigned char)letter;
    }
    std::vector<unsigned> packed(n / 4);
    for (int w = 0; w < n / 4; ++w)
        packed[w] = (unsigned)text[4 * w] << 24 >> 24 | (unsigned)text[4 * w + 1] << 8 |
                    (unsigned)text[4 * w + 2] << 16 | (unsigned)text[4 * w + 3] << 24;
    for (unsigned& w : packed)  // first letter highest
        w = w >> 24 | (w >> 8 & 0xff00u) | (w << 8 & 0xff0000u) | w << 24;
    const int threads = (n + SPAN - 1) / SPAN;
    unsigned* dText = upload(packed);
    unsigned* dMasks = upload(masks);
    unsigned* dMarks = deviceZeros<unsigned>(n / 4);
    unsigned* dSummary = deviceZeros<unsigned>(2 * threads);
    bitap<<<(threads + 31) / 32, 32>>>(dText, n / 4, dMasks, length, dMarks, dSummary);
    GPU_OK(hipGetLastError());
    const std::vector<unsigned> marks = download(dMarks, n / 4), summary = download(dSummary, 2 * threads);
    // Sellers' algorithm: least edit distance of a match that ends here, starting anywhere within
    // what a thread sees.
    int wrong = 0, totals[4] = {};
    for (int t = 0; t < threads; ++t) {
        const int start = std::max(0, t * SPAN - 36);
        std::vector<int> column(length + 1);
        for (int j = 0; j <= length; ++j)
            column[j] = j;
        for (int i = start; i < std::min(n, (t + 1) * SPAN); ++i) {
            int diagonal = column[0];
            for (int j = 1; j <= length; ++j) {
                const int up = column[j];
                column[j] = std::min(std::min(column[j], column[j - 1]) + 1, diagonal + (text[i] != pattern[j - 1]));
                diagonal = up;
            }
            if (i < t * SPAN)
                continue;
            const unsigned mark = marks[i / 4] >> (2 * (i % 4)) & 3u;
            const int expected = column[length] <= 2 ? column[length] + 1 : 0;
            ++totals[mark];
            wrong += (int)mark != expected;
        }
    }
    printf("text %d, pattern %d: none %d, exact %d, one error %d, two errors %d\n", n, length, totals[0], totals[1],
           totals[2], totals[3]);
    printf("marks %08x, summary %08x\n", fingerprint(marks), fingerprint(summary));
    show("summary", summary, 12);
    return finish(wrong == 0);
}
