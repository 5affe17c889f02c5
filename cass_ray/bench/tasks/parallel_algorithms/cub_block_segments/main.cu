// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <cuda_runtime.h>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

inline void gpuAssert(cudaError_t code, const char* file, int line)
{
    if (code == cudaSuccess) return;
    fprintf(stderr, "GPU error: %s %s:%d\n", cudaGetErrorName(code), file, line);
    exit(1);
}
#define CK(ans) gpuAssert((ans), __FILE__, __LINE__)

const int kThreads = 128, kItems = 2, kTile = kThreads * kItems;

struct LargerLowByte {
    __device__ unsigned operator()(unsigned a, unsigned b) const { return (b & 255u) > (a & 255u) || ((b & 255u) == (a & 255u) && b > a) ? b : a; }
};
struct Summary {
    unsigned sum, best, valid;
};

// Sorts the tile, then stores keys, exclusive prefix sums of the sorted keys, and a summary.
__global__ void tiles(const unsigned* in, int n, unsigned* sorted, unsigned* prefix, Summary* summaries)
{
    typedef cub::BlockRadixSort<unsigned, kThreads, kItems> Sort;
    typedef cub::BlockScan<unsigned, kThreads> Scan;
    typedef cub::BlockReduce<unsigned, kThreads> Reduce;
    __shared__ union {
        typename Sort::TempStorage sort;
        typename Scan::TempStorage scan;
        typename Reduce::TempStorage reduce;
    } storage;
    const int base = blockIdx.x * kTile + threadIdx.x * kItems;
    unsigned keys[kItems], sums[kItems], total = 0;
    for (int k = 0; k < kItems; ++k) keys[k] = base + k < n ? in[base + k] : 0xffffffffu;
    Sort(storage.sort).Sort(keys);
    __syncthreads();
    const int valid = n - (int)blockIdx.x * kTile < kTile ? n - (int)blockIdx.x * kTile : kTile;
    unsigned counted[kItems];
    for (int k = 0; k < kItems; ++k) counted[k] = (int)threadIdx.x * kItems + k < valid ? keys[k] : 0u;
    Scan(storage.scan).ExclusiveSum(counted, sums, total);
    __syncthreads();
    unsigned best = LargerLowByte()(counted[0], counted[1]);
    best = Reduce(storage.reduce).Reduce(best, LargerLowByte());
    for (int k = 0; k < kItems; ++k)
        if (base + k < n) {
            sorted[base + k] = keys[k];
            prefix[base + k] = sums[k];
        }
    if (threadIdx.x == 0) {
        Summary s = { total, best, (unsigned)valid };
        summaries[blockIdx.x] = s;
    }
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 2000;
    unsigned s = argc > 2 ? (unsigned)atoi(argv[2]) : 6u;
    if (n < 1) return 1;
    const int blocks = (n + kTile - 1) / kTile;
    std::vector<unsigned> in(n), sorted(n), prefix(n);
    std::vector<Summary> summaries(blocks);
    for (unsigned& v : in) {
        s = s * 1664525u + 1013904223u;
        v = s >> 6;
    }
    unsigned *di, *ds, *dp;
    Summary* dm;
    CK(cudaMalloc(&di, n * sizeof(unsigned)));
    CK(cudaMalloc(&ds, n * sizeof(unsigned)));
    CK(cudaMalloc(&dp, n * sizeof(unsigned)));
    CK(cudaMalloc(&dm, blocks * sizeof(Summary)));
    CK(cudaMemcpy(di, in.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
    tiles<<<blocks, kThreads>>>(di, n, ds, dp, dm);
    CK(cudaGetLastError());
    CK(cudaMemcpy(sorted.data(), ds, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(prefix.data(), dp, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(summaries.data(), dm, blocks * sizeof(Summary), cudaMemcpyDeviceToHost));
    int wrong = 0;
    unsigned foldSorted = 0, foldPrefix = 0;
    for (int b = 0; b < blocks; ++b) {
        const int from = b * kTile, to = std::min(n, from + kTile);
        std::vector<unsigned> e(in.begin() + from, in.begin() + to);
        std::sort(e.begin(), e.end());
        unsigned sum = 0, best = 0;
        for (int i = from; i < to; ++i) {
            const unsigned v = e[i - from];
            wrong += sorted[i] != v || prefix[i] != sum;
            sum += v;
            if ((v & 255u) > (best & 255u) || ((v & 255u) == (best & 255u) && v > best)) best = v;
            foldSorted = foldSorted * 31u + sorted[i];
            foldPrefix = foldPrefix * 37u + prefix[i];
        }
        wrong += summaries[b].sum != sum || summaries[b].best != best || summaries[b].valid != (unsigned)(to - from);
        if (b < 6) printf("tile %d: valid %u sum %u best %08x first %u\n", b, summaries[b].valid, summaries[b].sum, summaries[b].best, sorted[from]);
    }
    printf("n %d folds %08x %08x wrong %d\n", n, foldSorted, foldPrefix, wrong);
    CK(cudaFree(di));
    CK(cudaFree(ds));
    CK(cudaFree(dp));
    CK(cudaFree(dm));
    return wrong ? 1 : 0;
}
