// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Merkle tree of SHA-256 digests over variable leaves, built level by level, with inclusion
// proofs checked on the device.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define GPU_OK(call)                                                                  \
    do {                                                                             \
        const cudaError_t status_ = (call);                                          \
        if (status_ != cudaSuccess) {                                                \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
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

static int finish(bool right)
{
    GPU_OK(cudaDeviceSynchronize());
    printf("verify: %s\n", right ? "OK" : "MISMATCH");
    return right ? 0 : 1;
}

__constant__ unsigned roundConstants[64];

static const unsigned kConstants[64] = {
    0x428a2f98u, 0x71374491u, 0xb5c0fbcfu, 0xe9b5dba5u, 0x3956c25bu, 0x59f111f1u, 0x923f82a4u, 0xab1c5ed5u,
    0xd807aa98u, 0x12835b01u, 0x243185beu, 0x550c7dc3u, 0x72be5d74u, 0x80deb1feu, 0x9bdc06a7u, 0xc19bf174u,
    0xe49b69c1u, 0xefbe4786u, 0x0fc19dc6u, 0x240ca1ccu, 0x2de92c6fu, 0x4a7484aau, 0x5cb0a9dcu, 0x76f988dau,
    0x983e5152u, 0xa831c66du, 0xb00327c8u, 0xbf597fc7u, 0xc6e00bf3u, 0xd5a79147u, 0x06ca6351u, 0x14292967u,
    0x27b70a85u, 0x2e1b2138u, 0x4d2c6dfcu, 0x53380d13u, 0x650a7354u, 0x766a0abbu, 0x81c2c92eu, 0x92722c85u,
    0xa2bfe8a1u, 0xa81a664bu, 0xc24b8b70u, 0xc76c51a3u, 0xd192e819u, 0xd6990624u, 0xf40e3585u, 0x106aa070u,
    0x19a4c116u, 0x1e376c08u, 0x2748774cu, 0x34b0bcb5u, 0x391c0cb3u, 0x4ed8aa4au, 0x5b9cca4fu, 0x682e6ff3u,
    0x748f82eeu, 0x78a5636fu, 0x84c87814u, 0x8cc70208u, 0x90befffau, 0xa4506cebu, 0xbef9a3f7u, 0xc67178f2u};

struct Digest {
    unsigned h[8];
};

__host__ __device__ inline unsigned rotr(unsigned x, int k)
{
#ifdef __CUDA_ARCH__
    return __funnelshift_r(x, x, k);
#else
    return x >> k | x << (32 - k);
#endif
}

// One block of 16 words; the schedule is kept in a ring of registers.
template <typename Constants>
__host__ __device__ inline void compress(unsigned (&s)[8], unsigned (&w)[16], Constants constants)
{
    unsigned a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
#pragma unroll 16
    for (int i = 0; i < 64; ++i) {
        if (i >= 16) {
            const unsigned x = w[(i + 1) & 15], y = w[(i + 14) & 15];
            w[i & 15] += (rotr(x, 7) ^ rotr(x, 18) ^ x >> 3) + w[(i + 9) & 15] +
                         (rotr(y, 17) ^ rotr(y, 19) ^ y >> 10);
        }
        const unsigned t1 = h + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + ((e & f) ^ (~e & g)) +
                            constants[i] + w[i & 15];
        const unsigned t2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + t2;
    }
    s[0] += a;
    s[1] += b;
    s[2] += c;
    s[3] += d;
    s[4] += e;
    s[5] += f;
    s[6] += g;
    s[7] += h;
}

template <typename Constants>
__host__ __device__ inline Digest hashWords(const unsigned* data, int words, Constants constants)
{
    unsigned s[8] = {0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au,
                     0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u};
    const int blocks = (words + 3 + 15) / 16;
    for (int block = 0; block < blocks; ++block) {
        unsigned w[16];
        for (int i = 0; i < 16; ++i) {
            const int at = block * 16 + i;
            w[i] = at < words ? data[at] : at == words ? 0x80000000u : 0u;
        }
        if (block == blocks - 1)
            w[15] = (unsigned)words * 32u;
        compress(s, w, constants);
    }
    Digest r;
    for (int i = 0; i < 8; ++i)
        r.h[i] = s[i];
    return r;
}

__global__ void hashLeaves(const unsigned* words, const int* offsets, Digest* nodes, int leaves)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < leaves)
        nodes[i] = hashWords(words + offsets[i], offsets[i + 1] - offsets[i], roundConstants);
}

// An odd node at the end is paired with itself.
__global__ void hashLevel(const Digest* below, int count, Digest* above)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (2 * i >= count)
        return;
    const Digest left = below[2 * i], right = below[2 * i + 1 < count ? 2 * i + 1 : 2 * i];
    unsigned both[16];
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        both[k] = left.h[k];
        both[8 + k] = right.h[k];
    }
    above[i] = hashWords(both, 16, roundConstants);
}

__global__ void checkProofs(const Digest* nodes, const int* levelStart, const int* levelCount, int levels,
                            int* valid)
{
    const int leaf = blockIdx.x * blockDim.x + threadIdx.x;
    if (leaf >= levelCount[0])
        return;
    Digest mine = nodes[leaf];
    int index = leaf;
    for (int level = 0; level + 1 < levels; ++level) {
        const int sibling = (index ^ 1) < levelCount[level] ? index ^ 1 : index;
        const Digest other = nodes[levelStart[level] + sibling];
        unsigned both[16];
        for (int k = 0; k < 8; ++k) {
            both[k] = index & 1 ? other.h[k] : mine.h[k];
            both[8 + k] = index & 1 ? mine.h[k] : other.h[k];
        }
        mine = hashWords(both, 16, roundConstants);
        index >>= 1;
    }
    int same = 1;
    for (int k = 0; k < 8; ++k)
        same &= mine.h[k] == nodes[levelStart[levels - 1]].h[k];
    valid[leaf] = same;
}

int main(int argc, char** argv)
{
    const int leaves = argument(argc, argv, 1, 50);
    Random random((unsigned)argument(argc, argv, 2, 1));
    if (leaves < 1)
        return 2;
    std::vector<int> offsets(1, 0);
    std::vector<unsigned> words;
    for (int i = 0; i < leaves; ++i) {
        const int count = (int)random.below(30);
        for (int k = 0; k < count; ++k)
            words.push_back(random.next());
        offsets.push_back((int)words.size());
    }
    std::vector<int> start, count;
    int total = 0;
    for (int c = leaves;; c = (c + 1) / 2) {
        start.push_back(total);
        count.push_back(c);
        total += c;
        if (c == 1)
            break;
    }
    GPU_OK(cudaMemcpyToSymbol(roundConstants, kConstants, sizeof kConstants));
    unsigned* dWords = upload(words);
    int* dOffsets = upload(offsets);
    Digest* dNodes = deviceZeros<Digest>(total);
    int* dStart = upload(start);
    int* dCount = upload(count);
    int* dValid = deviceZeros<int>(leaves);
    hashLeaves<<<(leaves + 31) / 32, 32>>>(dWords, dOffsets, dNodes, leaves);
    GPU_OK(cudaGetLastError());
    const int levels = (int)count.size();
    for (int level = 0; level + 1 < levels; ++level)
        hashLevel<<<(count[level + 1] + 31) / 32, 32>>>(dNodes + start[level], count[level],
                                                        dNodes + start[level + 1]);
    checkProofs<<<(leaves + 31) / 32, 32>>>(dNodes, dStart, dCount, levels, dValid);
    GPU_OK(cudaGetLastError());
    const std::vector<Digest> nodes = download(dNodes, total);
    const std::vector<int> valid = download(dValid, leaves);
    int proven = 0, wrong = 0;
    for (int v : valid)
        proven += v;
    std::vector<Digest> level(nodes.begin(), nodes.begin() + leaves);
    for (int i = 0; i < leaves; ++i) {
        const Digest d = hashWords(words.data() + offsets[i], offsets[i + 1] - offsets[i], kConstants);
        wrong += memcmp(&d, &nodes[i], sizeof d) != 0;
    }
    const Digest empty = hashWords(words.data(), 0, kConstants);
    printf("empty message ");
    for (unsigned w : empty.h)
        printf("%08x", w);
    printf("\nroot of %d leaves ", leaves);
    for (unsigned w : nodes.back().h)
        printf("%08x", w);
    printf("\nproofs %d, levels %d, nodes digest %08x\n", proven, levels, fingerprint(nodes));
    return finish(wrong == 0 && proven == leaves && empty.h[0] == 0xe3b0c442u);
}
