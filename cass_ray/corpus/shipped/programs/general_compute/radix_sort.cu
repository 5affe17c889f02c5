// SPDX-License-Identifier: MIT
// Stable least-significant-digit radix sort of 32-bit keys with 4-bit digits. Per pass: digit
// counts per tile, one scan over all (digit, tile) pairs, and a stable scatter in which each
// thread ranks its keys against those of lower threads.
#include <cuda_runtime.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK_CUDA(stmt)                                                            \
    do {                                                                            \
        cudaError_t result = (stmt);                                                \
        if (result != cudaSuccess) {                                                \
            std::fprintf(stderr, "%s -> %s\n", #stmt, cudaGetErrorName(result));    \
            std::exit(2);                                                           \
        }                                                                           \
    } while (0)

namespace {

constexpr int kRadixBits = 4;
constexpr int kRadix = 1 << kRadixBits;
constexpr int kThreads = 64;
constexpr int kPerThread = 4;
constexpr int kTile = kThreads * kPerThread;

__global__ void countDigits(const unsigned* keys, int n, int shift, int* counts)
{
    __shared__ int local[kRadix];
    if (threadIdx.x < kRadix)
        local[threadIdx.x] = 0;
    __syncthreads();
    const int base = blockIdx.x * kTile;
    for (int i = threadIdx.x; i < kTile; i += kThreads)
        if (base + i < n)
            atomicAdd(&local[keys[base + i] >> shift & (kRadix - 1)], 1);
    __syncthreads();
    if (threadIdx.x < kRadix)
        counts[threadIdx.x * gridDim.x + blockIdx.x] = local[threadIdx.x];
}

// Exclusive scan by one block: each thread sums a run of entries, thread totals are scanned.
__global__ void scanCounts(int* counts, int n)
{
    __shared__ int totals[256];
    const int t = threadIdx.x;
    const int run = (n + 255) / 256;
    const int begin = min(t * run, n), end = min(begin + run, n);
    int sum = 0;
    for (int i = begin; i < end; ++i)
        sum += counts[i];
    totals[t] = sum;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        const int add = t >= d ? totals[t - d] : 0;
        __syncthreads();
        totals[t] += add;
        __syncthreads();
    }
    int running = totals[t] - sum;
    for (int i = begin; i < end; ++i) {
        const int c = counts[i];
        counts[i] = running;
        running += c;
    }
}

__global__ void scatterKeys(const unsigned* keys, int n, int shift, const int* offsets, unsigned* out)
{
    __shared__ int rank[kRadix][kThreads];
    const int t = threadIdx.x;
    const int first = blockIdx.x * kTile + t * kPerThread;
    int mine[kRadix] = {};
    unsigned key[kPerThread];
    for (int k = 0; k < kPerThread; ++k)
        if (first + k < n) {
            key[k] = keys[first + k];
            ++mine[key[k] >> shift & (kRadix - 1)];
        }
    for (int d = 0; d < kRadix; ++d)
        rank[d][t] = mine[d];
    __syncthreads();
    if (t < kRadix) {
        int running = offsets[t * gridDim.x + blockIdx.x];
        for (int i = 0; i < kThreads; ++i) {
            const int c = rank[t][i];
            rank[t][i] = running;
            running += c;
        }
    }
    __syncthreads();
    for (int k = 0; k < kPerThread; ++k)
        if (first + k < n)
            out[rank[key[k] >> shift & (kRadix - 1)][t]++] = key[k];
}

}  // namespace

int main(int argc, char** argv)
{
    const int n = argc > 1 ? std::atoi(argv[1]) : 12000;
    unsigned state = argc > 2 ? (unsigned)std::strtoul(argv[2], nullptr, 10) : 17u;
    if (n <= 0)
        return 2;
    std::vector<unsigned> keys(n);
    for (unsigned& k : keys) {
        state = state * 1664525u + 1013904223u;
        k = state ^ (state >> 13);
    }
    std::vector<unsigned> expected(keys), sorted(n);
    std::sort(expected.begin(), expected.end());

    const int tiles = (n + kTile - 1) / kTile;
    unsigned *a, *b;
    int* counts;
    CHECK_CUDA(cudaMalloc(&a, n * sizeof(unsigned)));
    CHECK_CUDA(cudaMalloc(&b, n * sizeof(unsigned)));
    CHECK_CUDA(cudaMalloc(&counts, kRadix * tiles * sizeof(int)));
    CHECK_CUDA(cudaMemcpy(a, keys.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
    for (int shift = 0; shift < 32; shift += kRadixBits) {
        countDigits<<<tiles, kThreads>>>(a, n, shift, counts);
        scanCounts<<<1, 256>>>(counts, kRadix * tiles);
        scatterKeys<<<tiles, kThreads>>>(a, n, shift, counts, b);
        CHECK_CUDA(cudaGetLastError());
        std::swap(a, b);
    }
    CHECK_CUDA(cudaMemcpy(sorted.data(), a, n * sizeof(unsigned), cudaMemcpyDeviceToHost));

    std::printf("sorted %d keys\n", n);
    std::printf("min %u median %u max %u\n", sorted.front(), sorted[n / 2], sorted.back());
    const bool ok = sorted == expected;
    std::printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    CHECK_CUDA(cudaFree(a));
    CHECK_CUDA(cudaFree(b));
    CHECK_CUDA(cudaFree(counts));
    return ok ? 0 : 1;
}
