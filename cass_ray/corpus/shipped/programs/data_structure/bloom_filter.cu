// SPDX-License-Identifier: MIT
// Blocked Bloom filter: each 64-bit key selects one 256-bit block and sets six bits in it with
// atomicOr. Members must always be found; the false-positive count is reported.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_CHECK(call)                                                  \
    do {                                                                  \
        if (cudaError_t err = (call)) {                                   \
            fprintf(stderr, "bloom_filter.cu(%d): %s\n", __LINE__, cudaGetErrorString(err)); \
            exit(2);                                                      \
        }                                                                 \
    } while (0)

constexpr int kHashes = 6;
constexpr int kWordsPerBlock = 8;

__host__ __device__ inline unsigned long long splitMix(unsigned long long z)
{
    z += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

// Calls visit(word, bit mask) for every bit of the key's signature.
template <class Visit>
__host__ __device__ inline void forEachBit(unsigned long long key, unsigned blocks, Visit visit)
{
    const unsigned long long h = splitMix(key);
    const unsigned block = (unsigned)((h >> 32) % blocks);
    unsigned long long bits = splitMix(h);
    for (int k = 0; k < kHashes; ++k, bits >>= 8)
        visit(block * kWordsPerBlock + ((unsigned)bits >> 5 & 7u), 1u << (bits & 31u));
}

struct Setter {
    unsigned* filter;
    __device__ void operator()(unsigned word, unsigned mask) const { atomicOr(&filter[word], mask); }
};

struct Tester {
    const unsigned* filter;
    bool* hit;
    __host__ __device__ void operator()(unsigned word, unsigned mask) const { *hit = *hit && (filter[word] & mask); }
};

__global__ void insert(const unsigned long long* keys, int n, unsigned* filter, unsigned blocks)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        forEachBit(keys[i], blocks, Setter{filter});
}

__global__ void query(const unsigned long long* keys, int n, const unsigned* filter, unsigned blocks,
                      unsigned char* answer)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        bool hit = true;
        forEachBit(keys[i], blocks, Tester{filter, &hit});
        answer[i] = hit;
    }
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 12000;
    const unsigned long long seed = argc > 2 ? strtoull(argv[2], nullptr, 10) : 5ull;
    if (n < 1)
        return 2;
    // Members are odd counters, strangers are even ones, so the sets are disjoint.
    std::vector<unsigned long long> keys(2 * n);
    for (int i = 0; i < n; ++i) {
        keys[i] = (seed << 32) + 2ull * i + 1;
        keys[n + i] = (seed << 32) + 2ull * i;
    }
    const unsigned blocks = (unsigned)(n / 28 + 1);
    const size_t words = (size_t)blocks * kWordsPerBlock;
    unsigned long long* dKeys;
    unsigned* filter;
    unsigned char* answer;
    CUDA_CHECK(cudaMalloc(&dKeys, keys.size() * sizeof keys[0]));
    CUDA_CHECK(cudaMalloc(&filter, words * sizeof(unsigned)));
    CUDA_CHECK(cudaMalloc(&answer, 2 * n));
    CUDA_CHECK(cudaMemset(filter, 0, words * sizeof(unsigned)));
    CUDA_CHECK(cudaMemcpy(dKeys, keys.data(), keys.size() * sizeof keys[0], cudaMemcpyHostToDevice));
    insert<<<(n + 255) / 256, 256>>>(dKeys, n, filter, blocks);
    query<<<(2 * n + 255) / 256, 256>>>(dKeys, 2 * n, filter, blocks, answer);
    CUDA_CHECK(cudaGetLastError());
    std::vector<unsigned> bits(words), expected(words, 0u);
    std::vector<unsigned char> answers(2 * n);
    CUDA_CHECK(cudaMemcpy(bits.data(), filter, words * sizeof(unsigned), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(answers.data(), answer, 2 * n, cudaMemcpyDeviceToHost));

    for (int i = 0; i < n; ++i)
        forEachBit(keys[i], blocks, [&expected](unsigned word, unsigned mask) { expected[word] |= mask; });
    int missing = 0, falsePositives = 0, wrong = 0;
    for (int i = 0; i < 2 * n; ++i) {
        bool hit = true;
        forEachBit(keys[i], blocks, Tester{expected.data(), &hit});
        wrong += hit != (answers[i] != 0);
        missing += i < n && !answers[i];
        falsePositives += i >= n && answers[i];
    }
    unsigned long long set = 0;
    for (unsigned w : bits)
        for (; w; w &= w - 1)
            ++set;
    const bool ok = bits == expected && wrong == 0 && missing == 0;
    printf("members %d, filter bits %u, set %llu\n", n, blocks * 256u, set);
    printf("false positives %d of %d\n", falsePositives, n);
    printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    CUDA_CHECK(cudaFree(dKeys));
    CUDA_CHECK(cudaFree(filter));
    CUDA_CHECK(cudaFree(answer));
    return ok ? 0 : 1;
}
