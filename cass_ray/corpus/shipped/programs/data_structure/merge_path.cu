// SPDX-License-Identifier: MIT
// Stable merge of two sorted record arrays by merge path: each block finds its diagonal by
// binary search, stages its share in shared memory and each thread merges a short run.
#include <cuda_runtime.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_TRY(x)                                                          \
    do {                                                                     \
        const cudaError_t err = (x);                                         \
        if (err != cudaSuccess) {                                            \
            fprintf(stderr, "merge: %s\n", cudaGetErrorString(err));         \
            exit(2);                                                         \
        }                                                                    \
    } while (0)

struct Record {
    int key, origin;
};

constexpr int kThreads = 64;
constexpr int kRun = 4;
constexpr int kTile = kThreads * kRun;

// Number of elements taken from a among the first `diagonal` outputs; ties go to a.
__device__ int splitAt(const Record* a, int na, const Record* b, int nb, int diagonal)
{
    int low = max(0, diagonal - nb), high = min(diagonal, na);
    while (low < high) {
        const int middle = (low + high) / 2;
        if (a[middle].key <= b[diagonal - 1 - middle].key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

__global__ void mergeTiles(const Record* a, int na, const Record* b, int nb, Record* out)
{
    __shared__ Record tile[kTile];
    __shared__ int bounds[2];
    const int begin = blockIdx.x * kTile;
    const int end = min(begin + kTile, na + nb);
    if (threadIdx.x < 2)
        bounds[threadIdx.x] = splitAt(a, na, b, nb, threadIdx.x ? end : begin);
    __syncthreads();
    const int a0 = bounds[0], b0 = begin - a0;
    const int countA = bounds[1] - a0, countB = (end - begin) - countA;
    for (int i = threadIdx.x; i < end - begin; i += kThreads)
        tile[i] = i < countA ? a[a0 + i] : b[b0 + i - countA];
    __syncthreads();

    const Record* sa = tile;
    const Record* sb = tile + countA;
    const int first = min((int)threadIdx.x * kRun, end - begin);
    const int last = min(first + kRun, end - begin);
    int i = splitAt(sa, countA, sb, countB, first);
    int j = first - i;
    for (int k = first; k < last; ++k) {
        const bool takeA = j >= countB || (i < countA && sa[i].key <= sb[j].key);
        out[begin + k] = takeA ? sa[i++] : sb[j++];
    }
}

static std::vector<Record> sortedInput(int n, int origin, unsigned& seed)
{
    std::vector<Record> v(n);
    int key = 0;
    for (Record& r : v) {
        seed = seed * 1103515245u + 12345u;
        key += (int)(seed >> 16) % 5;
        r = Record{key, origin++};
    }
    return v;
}

int main(int argc, char** argv)
{
    const int na = argc > 1 ? atoi(argv[1]) : 9000;
    const int nb = argc > 2 ? atoi(argv[2]) : 13000;
    unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 1u;
    if (na < 1 || nb < 1)
        return 2;
    const std::vector<Record> a = sortedInput(na, 0, seed), b = sortedInput(nb, na, seed);
    std::vector<Record> merged(na + nb), expected(na + nb);
    Record *da, *db, *dout;
    CUDA_TRY(cudaMalloc(&da, na * sizeof(Record)));
    CUDA_TRY(cudaMalloc(&db, nb * sizeof(Record)));
    CUDA_TRY(cudaMalloc(&dout, (na + nb) * sizeof(Record)));
    CUDA_TRY(cudaMemcpy(da, a.data(), na * sizeof(Record), cudaMemcpyHostToDevice));
    CUDA_TRY(cudaMemcpy(db, b.data(), nb * sizeof(Record), cudaMemcpyHostToDevice));
    mergeTiles<<<(na + nb + kTile - 1) / kTile, kThreads>>>(da, na, db, nb, dout);
    CUDA_TRY(cudaGetLastError());
    CUDA_TRY(cudaMemcpy(merged.data(), dout, merged.size() * sizeof(Record), cudaMemcpyDeviceToHost));

    std::merge(a.begin(), a.end(), b.begin(), b.end(), expected.begin(),
               [](const Record& x, const Record& y) { return x.key < y.key; });
    bool ok = true;
    unsigned hash = 0;
    for (size_t i = 0; i < merged.size(); ++i) {
        ok = ok && merged[i].key == expected[i].key && merged[i].origin == expected[i].origin;
        hash = hash * 16777619u ^ (unsigned)merged[i].origin;
    }
    printf("merged %d + %d records\n", na, nb);
    printf("median key %d, last key %d, origin hash %08x\n", merged[merged.size() / 2].key, merged.back().key, hash);
    printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    CUDA_TRY(cudaFree(da));
    CUDA_TRY(cudaFree(db));
    CUDA_TRY(cudaFree(dout));
    return ok ? 0 : 1;
}
