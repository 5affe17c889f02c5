// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Soft-decision Viterbi decoder of a rate 1/2 code with 32 states, one warp for each frame and
// survivor bits by ballot.
#include <hip/hip_runtime.h>
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

#define STATES 32
#define POLY_A 0x35
#define POLY_B 0x2b

__host__ __device__ inline int encoded(int shiftRegister)
{
    int a = shiftRegister & POLY_A, b = shiftRegister & POLY_B;
    a ^= a >> 4;
    b ^= b >> 4;
    a ^= a >> 2;
    b ^= b >> 2;
    a ^= a >> 1;
    b ^= b >> 1;
    return (a & 1) << 1 | (b & 1);
}

// A state is the last five bits; lane = state. Every frame ends in state 0.
__global__ void viterbi(const signed char* soft, int steps, unsigned* survivors, unsigned char* decoded,
                        int* metrics, int frames)
{
    const int frame = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    if (frame >= frames)
        return;
    const int state = threadIdx.x & 31;
    int metric = state == 0 ? 0 : -100000;
    const int bit = state & 1;
    const int from0 = state >> 1, from1 = state >> 1 | 16;
    const int out0 = encoded(from0 << 1 | bit), out1 = encoded(from1 << 1 | bit);
    for (int i = 0; i < steps; ++i) {
        const int x = soft[(frame * steps + i) * 2], y = soft[(frame * steps + i) * 2 + 1];
        const int m0 = __shfl(metric, from0, 32) + (out0 & 2 ? x : -x) + (out0 & 1 ? y : -y);
        const int m1 = __shfl(metric, from1, 32) + (out1 & 2 ? x : -x) + (out1 & 1 ? y : -y);
        const bool choose1 = m1 > m0;
        metric = choose1 ? m1 : m0;
        // A frame is 32 lanes: a half of a wavefront of 64.
        const unsigned word = (unsigned)(__ballot(choose1) >> (__lane_id() & 32));
        if (state == 0)
            survivors[frame * steps + i] = word;
    }
    const int best = __shfl(metric, 0, 32);
    int lowest = metric;
    for (int offset = 16; offset > 0; offset >>= 1)
        lowest = min(lowest, __shfl_xor(lowest, offset, 32));
    if (state == 0) {
        metrics[2 * frame] = best;
        metrics[2 * frame + 1] = best - lowest;
        int at = 0;
        for (int i = steps - 1; i >= 0; --i) {
            decoded[frame * steps + i] = (unsigned char)(at & 1);
            at = at >> 1 | (survivors[frame * steps + i] >> at & 1u) << 4;
        }
    }
}

int main(int argc, char** argv)
{
    const int frames = argument(argc, argv, 1, 7);
    const int steps = argument(argc, argv, 2, 100);
    Random random((unsigned)argument(argc, argv, 3, 1));
    if (frames < 1 || steps < 8)
        return 2;
    std::vector<signed char> soft(frames * steps * 2);
    std::vector<unsigned char> sent(frames * steps);
    int flipped = 0;
    for (int f = 0; f < frames; ++f) {
        int reg = 0;
        for (int i = 0; i < steps; ++i) {
            const int bit = i < steps - 5 ? (int)random.below(2) : 0;
            sent[f * steps + i] = (unsigned char)bit;
            reg = (reg << 1 | bit) & 63;
            const int code = encoded(reg);
            for (int k = 0; k < 2; ++k) {
                const int clean = code >> (1 - k) & 1 ? 24 : -24;
                const int received = clean + (int)random.below(61) - 30;
                flipped += (received > 0) != (clean > 0);
                soft[(f * steps + i) * 2 + k] = (signed char)received;
            }
        }
    }
    signed char* dSoft = toDevice(soft);
    unsigned* dSurvivors = zeros<unsigned>(frames * steps);
    unsigned char* dDecoded = zeros<unsigned char>(frames * steps);
    int* dMetrics = zeros<int>(2 * frames);
    viterbi<<<(frames + 3) / 4, 128>>>(dSoft, steps, dSurvivors, dDecoded, dMetrics, frames);
    CHECK(hipGetLastError());
    const std::vector<unsigned char> decoded = toHost(dDecoded, frames * steps);
    const std::vector<int> metrics = toHost(dMetrics, 2 * frames);
    int errors = 0, wrong = 0;
    for (int i = 0; i < frames * steps; ++i)
        errors += decoded[i] != sent[i];
    for (int f = 0; f < frames; ++f) {
        // The metric of the decoded path must be what the decoder claims.
        int reg = 0, metric = 0;
        for (int i = 0; i < steps; ++i) {
            reg = (reg << 1 | decoded[f * steps + i]) & 63;
            const int code = encoded(reg);
            metric += code & 2 ? soft[(f * steps + i) * 2] : -soft[(f * steps + i) * 2];
            metric += code & 1 ? soft[(f * steps + i) * 2 + 1] : -soft[(f * steps + i) * 2 + 1];
        }
        wrong += metric != metrics[2 * f];
    }
    printf("frames %d, hard errors received %d, bit errors left %d\n", frames, flipped, errors);
    printf("digests: bits %08x survivors %08x\n", digest(decoded), digest(toHost(dSurvivors, frames * steps)));
    show("metrics", metrics, 14);
    return finish(wrong == 0);
}
