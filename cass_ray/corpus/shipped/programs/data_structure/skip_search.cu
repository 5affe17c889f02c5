// SPDX-License-Identifier: MIT
// Range counting in a sorted key array through a three-level skip index: the coarse fences are
// staged in shared memory, finer fences are searched in global memory, then the leaf is scanned.
#include <cuda_runtime.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_SAFE(call)                                                      \
    {                                                                        \
        const cudaError_t status = call;                                     \
        if (status != cudaSuccess) {                                         \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(status)); \
            exit(2);                                                         \
        }                                                                    \
    }

constexpr int kFan = 32;

struct Index {
    const unsigned* keys;
    const unsigned* fine;    // every 32nd key
    const unsigned* coarse;  // every 1024th key
    int n, fineCount, coarseCount;
};

// Number of entries in [begin, end) that are below the key; the range is sorted.
__device__ int countBelow(const unsigned* a, int begin, int end, unsigned key)
{
    while (begin < end) {
        const int middle = (begin + end) >> 1;
        if (a[middle] < key)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

__device__ int lowerBound(const Index& ix, const unsigned* coarse, unsigned key)
{
    const int c = max(countBelow(coarse, 0, ix.coarseCount, key) - 1, 0);
    const int f = max(countBelow(ix.fine, c * kFan, min((c + 1) * kFan, ix.fineCount), key) - 1, 0);
    int i = f * kFan;
    const int end = min(i + kFan, ix.n);
    while (i < end && ix.keys[i] < key)
        ++i;
    return i;
}

__global__ void countRanges(Index ix, const uint2* ranges, int queries, int* counts)
{
    extern __shared__ unsigned fences[];
    for (int i = threadIdx.x; i < ix.coarseCount; i += blockDim.x)
        fences[i] = ix.coarse[i];
    __syncthreads();
    for (int q = blockIdx.x * blockDim.x + threadIdx.x; q < queries; q += gridDim.x * blockDim.x)
        counts[q] = lowerBound(ix, fences, ranges[q].y) - lowerBound(ix, fences, ranges[q].x);
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 40000;
    const int queries = argc > 2 ? atoi(argv[2]) : 4000;
    unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 12u;
    if (n < 1 || n > 4000000 || queries < 1)
        return 2;
    std::vector<unsigned> keys(n), fine, coarse;
    for (unsigned& k : keys) {
        seed = seed * 1664525u + 1013904223u;
        k = seed >> 6;
    }
    std::sort(keys.begin(), keys.end());
    for (int i = 0; i < n; i += kFan) {
        fine.push_back(keys[i]);
        if (i % (kFan * kFan) == 0)
            coarse.push_back(keys[i]);
    }
    std::vector<uint2> ranges(queries);
    for (uint2& r : ranges) {
        seed = seed * 1664525u + 1013904223u;
        r.x = seed >> 6;
        seed = seed * 1664525u + 1013904223u;
        r.y = r.x + (seed >> 12);
    }

    unsigned *dKeys, *dFine, *dCoarse;
    uint2* dRanges;
    int* dCounts;
    CUDA_SAFE(cudaMalloc(&dKeys, n * sizeof(unsigned)));
    CUDA_SAFE(cudaMalloc(&dFine, fine.size() * sizeof(unsigned)));
    CUDA_SAFE(cudaMalloc(&dCoarse, coarse.size() * sizeof(unsigned)));
    CUDA_SAFE(cudaMalloc(&dRanges, queries * sizeof(uint2)));
    CUDA_SAFE(cudaMalloc(&dCounts, queries * sizeof(int)));
    CUDA_SAFE(cudaMemcpy(dKeys, keys.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
    CUDA_SAFE(cudaMemcpy(dFine, fine.data(), fine.size() * sizeof(unsigned), cudaMemcpyHostToDevice));
    CUDA_SAFE(cudaMemcpy(dCoarse, coarse.data(), coarse.size() * sizeof(unsigned), cudaMemcpyHostToDevice));
    CUDA_SAFE(cudaMemcpy(dRanges, ranges.data(), queries * sizeof(uint2), cudaMemcpyHostToDevice));
    const Index index{dKeys, dFine, dCoarse, n, (int)fine.size(), (int)coarse.size()};
    countRanges<<<8, 128, coarse.size() * sizeof(unsigned)>>>(index, dRanges, queries, dCounts);
    CUDA_SAFE(cudaGetLastError());
    std::vector<int> counts(queries);
    CUDA_SAFE(cudaMemcpy(counts.data(), dCounts, queries * sizeof(int), cudaMemcpyDeviceToHost));

    int wrong = 0, most = 0;
    long long total = 0;
    for (int q = 0; q < queries; ++q) {
        const auto low = std::lower_bound(keys.begin(), keys.end(), ranges[q].x);
        const auto high = std::lower_bound(keys.begin(), keys.end(), ranges[q].y);
        wrong += counts[q] != (int)(high - low);
        total += counts[q];
        most = std::max(most, counts[q]);
    }
    printf("%d keys, fences %d + %d, %d ranges\n", n, (int)coarse.size(), (int)fine.size(), queries);
    printf("keys in ranges: total %lld, most %d, first %d\n", total, most, counts[0]);
    printf("verify: %s\n", wrong ? "MISMATCH" : "OK");
    CUDA_SAFE(cudaFree(dKeys));
    CUDA_SAFE(cudaFree(dFine));
    CUDA_SAFE(cudaFree(dCoarse));
    CUDA_SAFE(cudaFree(dRanges));
    CUDA_SAFE(cudaFree(dCounts));
    return wrong ? 1 : 0;
}
