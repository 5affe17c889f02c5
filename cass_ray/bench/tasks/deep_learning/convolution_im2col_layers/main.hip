// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Two integer convolution layers by im2col and a matrix product, with activation functors and
// pooling, in several files.
#include <hip/hip_runtime.h>
#include "layers.hip.h"
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

int main(int argc, char** argv)
{
    const int batch = argument(argc, argv, 1, 2);
    const int side = argument(argc, argv, 2, 16);
    Random random((unsigned)argument(argc, argv, 3, 1));
    if (batch < 1 || side < 7)
        return 2;
    const Shape input = {3, side, side};
    const Shape first = convolved(input, 6, 3), pooled = halved(first), second = convolved(pooled, 4, 2);
    std::vector<int> image(batch * input.size()), weights1(6 * 27), weights2(4 * 24);
    for (int& v : image)
        v = (int)random.below(31) - 15;
    for (int& v : weights1)
        v = (int)random.below(9) - 4;
    for (int& v : weights2)
        v = (int)random.below(9) - 4;
    int* dImage = toDevice(image);
    int* dWeights1 = toDevice(weights1);
    int* dWeights2 = toDevice(weights2);
    int* dColumns = zeros<int>(first.height * first.width * 27);
    int* dFirst = zeros<int>(first.size());
    int* dPooled = zeros<int>(pooled.size());
    int* dSecond = zeros<int>(second.size());
    int wrong = 0;
    for (int b = 0; b < batch; ++b) {
        convolve<3>(dImage + b * input.size(), input, dWeights1, first, dColumns, dFirst, LeakyRelu{3});
        maxPool<<<blocksFor(pooled.size()), kThreads>>>(dFirst, first, dPooled, pooled);
        convolve<2>(dPooled, pooled, dWeights2, second, dColumns, dSecond, Clamp{-1000, 1000});
        CHECK(hipGetLastError());
        const std::vector<int> one = toHost(dFirst, first.size()), out = toHost(dSecond, second.size());
        for (int o = 0; o < first.channels; ++o)
            for (int y = 0; y < first.height; ++y)
                for (int x = 0; x < first.width; ++x) {
                    int sum = 0;
                    for (int k = 0; k < 27; ++k)
                        sum += weights1[o * 27 + k] *
                               image[b * input.size() + (k / 9 * side + y + k % 9 / 3) * side + x + k % 3];
                    wrong += one[(o * first.height + y) * first.width + x] != (sum < 0 ? sum >> 3 : sum);
                }
        printf("image %d: digests %08x %08x\n", b, digest(one), digest(out));
        show("out", out, 12);
    }
    return finish(wrong == 0);
}
