// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <hip/hip_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

inline void gpuAssert(hipError_t code, const char* file, int line)
{
    if (code == hipSuccess) return;
    fprintf(stderr, "GPU error: %s %s:%d\n", hipGetErrorName(code), file, line);
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

// Inclusive scan over the block in shared memory; every thread gets its own and the total.
__device__ unsigned blockScan(unsigned v, unsigned* s, unsigned& total)
{
    s[threadIdx.x] = v;
    __syncthreads();
    for (int d = 1; d < kThreads; d <<= 1) {
        const unsigned other = (int)threadIdx.x >= d ? s[threadIdx.x - d] : 0u;
        __syncthreads();
        s[threadIdx.x] += other;
        __syncthreads();
    }
    const unsigned inclusive = s[threadIdx.x];
    total = s[kThreads - 1];
    __syncthreads();
    return inclusive;
}

// Stable radix sort of the block's keys, one bit a pass, in a blocked arrangement.
__device__ void blockSort(unsigned* keys, unsigned* tile, unsigned* s)
{
    for (int bit = 0; bit < 32; ++bit) {
        unsigned zeros = 0, total = 0;
        for (int k = 0; k < kItems; ++k) zeros += !(keys[k] >> bit & 1u);
        unsigned before = blockScan(zeros, s, total) - zeros;
        unsigned ones = total + threadIdx.x * kItems - before;
        for (int k = 0; k < kItems; ++k) tile[keys[k] >> bit & 1u ? ones++ : before++] = keys[k];
        __syncthreads();
        for (int k = 0; k < kItems; ++k) keys[k] = tile[threadIdx.x * kItems + k];
        __syncthreads();
    }
}

// Sorts the tile, then stores keys, exclusive prefix sums of the sorted keys, and a summary.
__global__ void tiles(const unsigned* in, int n, unsigned* sorted, unsigned* prefix, Summary* summaries)
{
    __shared__ unsigned tile[kTile], scratch[kThreads];
    const int base = blockIdx.x * kTile + threadIdx.x * kItems;
    unsigned keys[kItems], sums[kItems], total = 0;
    for (int k = 0; k < kItems; ++k) keys[k] = base + k < n ? in[base + k] : 0xffffffffu;
    blockSort(keys, tile, scratch);
    const int valid = n - (int)blockIdx.x * kTile < kTile ? n - (int)blockIdx.x * kTile : kTile;
    unsigned counted[kItems];
    for (int k = 0; k < kItems; ++k) counted[k] = (int)threadIdx.x * kItems + k < valid ? keys[k] : 0u;
    sums[0] = blockScan(counted[0] + counted[1], scratch, total) - counted[0] - counted[1];
    sums[1] = sums[0] + counted[0];
    unsigned best = LargerLowByte()(counted[0], counted[1]);
    scratch[threadIdx.x] = best;
    __syncthreads();
    for (int d = kThreads / 2; d > 0; d >>= 1) {
        if ((int)threadIdx.x < d) scratch[threadIdx.x] = LargerLowByte()(scratch[threadIdx.x], scratch[threadIdx.x + d]);
        __syncthreads();
    }
    best = scratch[0];
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
    CK(hipMalloc(&di, n * sizeof(unsigned)));
    CK(hipMalloc(&ds, n * sizeof(unsigned)));
    CK(hipMalloc(&dp, n * sizeof(unsigned)));
    CK(hipMalloc(&dm, blocks * sizeof(Summary)));
    CK(hipMemcpy(di, in.data(), n * sizeof(unsigned), hipMemcpyHostToDevice));
    tiles<<<blocks, kThreads>>>(di, n, ds, dp, dm);
    CK(hipGetLastError());
    CK(hipMemcpy(sorted.data(), ds, n * sizeof(unsigned), hipMemcpyDeviceToHost));
    CK(hipMemcpy(prefix.data(), dp, n * sizeof(unsigned), hipMemcpyDeviceToHost));
    CK(hipMemcpy(summaries.data(), dm, blocks * sizeof(Summary), hipMemcpyDeviceToHost));
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
    CK(hipFree(di));
    CK(hipFree(ds));
    CK(hipFree(dp));
    CK(hipFree(dm));
    return wrong ? 1 : 0;
}
