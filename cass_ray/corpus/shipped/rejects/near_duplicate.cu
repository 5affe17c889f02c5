// SPDX-License-Identifier: MIT
// A lightly edited copy of programs/general_compute/bitonic_sort.cu: bitonic sort of (key, index) records packed in 64 bits. Distances that fit a tile run in
// shared memory within one launch; larger ones take one global pass each.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <algorithm>
#include <vector>

typedef unsigned long long record;

#define CALL(f)                                                        \
    {                                                                  \
        cudaError_t e_ = f;                                            \
        if (e_ != cudaSuccess) {                                       \
            printf("failed: %s\n", cudaGetErrorString(e_));            \
            exit(2);                                                   \
        }                                                              \
    }

const int TILE = 512;

__device__ void exchange(record& a, record& b, bool ascending)
{
    if ((a > b) == ascending) {
        const record t = a;
        a = b;
        b = t;
    }
}

__global__ __launch_bounds__(TILE / 2) void sortInTile(record* data, unsigned kFirst, unsigned kLast)
{
    __shared__ record tile[TILE];
    const unsigned base = blockIdx.x * TILE;
    tile[threadIdx.x] = data[base + threadIdx.x];
    tile[threadIdx.x + TILE / 2] = data[base + threadIdx.x + TILE / 2];
    for (unsigned k = kFirst; k <= kLast; k <<= 1) {
        const unsigned start = k < TILE ? k >> 1 : TILE / 2;
        for (unsigned j = start; j > 0; j >>= 1) {
            __syncthreads();
            const unsigned low = 2 * threadIdx.x - (threadIdx.x & (j - 1));
            exchange(tile[low], tile[low + j], ((base + low) & k) == 0);
        }
    }
    __syncthreads();
    data[base + threadIdx.x] = tile[threadIdx.x];
    data[base + threadIdx.x + TILE / 2] = tile[threadIdx.x + TILE / 2];
}

__global__ void mergeGlobal(record* data, unsigned j, unsigned k)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned low = 2 * i - (i & (j - 1));
    record a = data[low], b = data[low + j];
    exchange(a, b, (low & k) == 0);
    data[low] = a;
    data[low + j] = b;
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 3000;
    unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 11u;
    if (n < 1)
        return 2;
    unsigned padded = TILE;
    while (padded < (unsigned)n)
        padded *= 2;

    std::vector<record> host(padded, ~0ull);
    for (int i = 0; i < n; ++i) {
        seed = seed * 134775813u + 1u;
        host[i] = (record)(seed >> 20) << 32 | (unsigned)i;  // few distinct keys: ties keep the index order
    }
    std::vector<record> expected(host), sorted(padded);
    std::sort(expected.begin(), expected.end());

    record* data;
    CALL(cudaMalloc(&data, padded * sizeof(record)));
    CALL(cudaMemcpy(data, host.data(), padded * sizeof(record), cudaMemcpyHostToDevice));
    sortInTile<<<padded / TILE, TILE / 2>>>(data, 2, TILE);
    for (unsigned k = 2 * TILE; k <= padded; k <<= 1) {
        for (unsigned j = k / 2; j >= TILE; j >>= 1)
            mergeGlobal<<<padded / TILE, TILE / 2>>>(data, j, k);
        sortInTile<<<padded / TILE, TILE / 2>>>(data, k, k);
    }
    CALL(cudaGetLastError());
    CALL(cudaMemcpy(sorted.data(), data, padded * sizeof(record), cudaMemcpyDeviceToHost));
    CALL(cudaFree(data));

    unsigned order = 0;
    for (int i = 0; i < n; ++i)
        order = order * 31u + (unsigned)sorted[i];
    printf("records %d padded to %u\n", n, padded);
    printf("smallest key %u index %u, largest key %u\n", (unsigned)(sorted[0] >> 32), (unsigned)sorted[0],
           (unsigned)(sorted[n - 1] >> 32));
    printf("order digest %08x\n", order);
    const bool ok = sorted == expected;
    printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    return ok ? 0 : 1;
}
