// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Counts all occurrences of up to 16 patterns with an Aho-Corasick automaton, in overlapping
// chunks of the text.
#include <hip/hip_runtime.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <queue>
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

#define STATES 96
#define LETTERS 4
#define MAX_LENGTH 6
#define CHUNK 50
__constant__ unsigned short outputs[STATES];  // bit p: pattern p ends here

__global__ void matchChunks(const unsigned char* text, int n, const unsigned char* next, int states,
                            unsigned* counts, int* firstAt)
{
    __shared__ unsigned char table[STATES * LETTERS];
    __shared__ unsigned local[16];
    for (int i = threadIdx.x; i < states * LETTERS; i += blockDim.x)
        table[i] = next[i];
    if (threadIdx.x < 16)
        local[threadIdx.x] = 0;
    __syncthreads();
    const int start = (blockIdx.x * blockDim.x + threadIdx.x) * CHUNK;
    int state = 0;
    // Warm up on the letters before the chunk: no pattern is longer.
    for (int i = max(0, start - (MAX_LENGTH - 1)); i < min(start + CHUNK, n); ++i) {
        state = table[state * LETTERS + text[i]];
        if (i < start)
            continue;
        for (unsigned ends = outputs[state]; ends != 0; ends &= ends - 1) {
            const int p = __ffs((int)ends) - 1;
            atomicAdd(&local[p], 1u);
            atomicMin(&firstAt[p], i);
        }
    }
    __syncthreads();
    if (threadIdx.x < 16 && local[threadIdx.x] != 0)
        atomicAdd(&counts[threadIdx.x], local[threadIdx.x]);
}

int main(int argc, char** argv)
{
    const int n = argument(argc, argv, 1, 8000);
    const int patterns = argument(argc, argv, 2, 12);
    Random random((unsigned)argument(argc, argv, 3, 1));
    if (n < 1 || patterns < 1 || patterns > 16)
        return 2;
    std::vector<std::vector<unsigned char>> words(patterns);
    for (int p = 0; p < patterns; ++p) {
        const int length = 2 + (int)random.below(MAX_LENGTH - 1);
        for (int k = 0; k < length; ++k)
            words[p].push_back((unsigned char)random.below(LETTERS));
    }
    std::vector<unsigned char> text(n);
    for (int i = 0; i < n; ++i) {
        const unsigned letter = random.below(6);
        text[i] = (unsigned char)(letter < LETTERS ? letter : i % 3);
    }
    // Trie, failure links and complete transitions.
    std::vector<int> child(STATES * LETTERS, -1), failure(STATES, 0);
    std::vector<unsigned short> output(STATES, 0);
    int states = 1;
    for (int p = 0; p < patterns; ++p) {
        int s = 0;
        for (unsigned char c : words[p]) {
            if (child[s * LETTERS + c] < 0)
                child[s * LETTERS + c] = states++;
            s = child[s * LETTERS + c];
        }
        output[s] |= (unsigned short)(1u << p);
    }
    std::queue<int> queue;
    for (int c = 0; c < LETTERS; ++c) {
        if (child[c] < 0)
            child[c] = 0;
        else
            queue.push(child[c]);
    }
    while (!queue.empty()) {
        const int s = queue.front();
        queue.pop();
        output[s] |= output[failure[s]];
        for (int c = 0; c < LETTERS; ++c) {
            int& t = child[s * LETTERS + c];
            if (t < 0) {
                t = child[failure[s] * LETTERS + c];
            } else {
                failure[t] = child[failure[s] * LETTERS + c];
                queue.push(t);
            }
        }
    }
    std::vector<unsigned char> next(states * LETTERS);
    for (int i = 0; i < states * LETTERS; ++i)
        next[i] = (unsigned char)child[i];
    CHECK(hipMemcpyToSymbol(outputs, output.data(), STATES * sizeof(unsigned short)));
    unsigned char* dText = toDevice(text);
    unsigned char* dNext = toDevice(next);
    unsigned* dCounts = zeros<unsigned>(16);
    int* dFirst = toDevice(std::vector<int>(16, n));
    const int chunks = (n + CHUNK - 1) / CHUNK;
    matchChunks<<<(chunks + 63) / 64, 64>>>(dText, n, dNext, states, dCounts, dFirst);
    CHECK(hipGetLastError());
    const std::vector<unsigned> counts = toHost(dCounts, 16);
    const std::vector<int> first = toHost(dFirst, 16);
    int wrong = 0;
    for (int p = 0; p < patterns; ++p) {
        unsigned expected = 0;
        int at = n;
        const int length = (int)words[p].size();
        for (int i = 0; i + length <= n; ++i)
            if (memcmp(&text[i], words[p].data(), length) == 0) {
                ++expected;
                at = std::min(at, i + length - 1);
            }
        wrong += expected != counts[p] || at != first[p];
        printf("pattern %2d of length %d: %u times, first ends at %d\n", p, length, counts[p], first[p]);
    }
    printf("states %d, digest %08x\n", states, digest(counts));
    return finish(wrong == 0);
}
