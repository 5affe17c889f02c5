// SPDX-License-Identifier: MIT
// Work-efficient exclusive prefix sum (Blelloch up-sweep and down-sweep) of any length:
// block totals are scanned recursively and added back.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define GPU(call)                                                                   \
    do {                                                                            \
        const cudaError_t err = (call);                                             \
        if (err != cudaSuccess) {                                                   \
            fprintf(stderr, "%s at line %d\n", cudaGetErrorString(err), __LINE__);  \
            exit(2);                                                                \
        }                                                                           \
    } while (0)

static const int kThreads = 128;
static const int kTile = 2 * kThreads;

// One padding word every 32 keeps the strided tree accesses off the same bank.
__device__ __forceinline__ int padded(int i) { return i + (i >> 5); }

__global__ void scanTiles(const unsigned* in, unsigned* out, unsigned* totals, int n)
{
    extern __shared__ unsigned tree[];
    const int t = threadIdx.x;
    const int base = blockIdx.x * kTile;
    tree[padded(t)] = base + t < n ? in[base + t] : 0u;
    tree[padded(t + kThreads)] = base + t + kThreads < n ? in[base + t + kThreads] : 0u;

    int stride = 1;
    for (int active = kThreads; active > 0; active >>= 1, stride <<= 1) {
        __syncthreads();
        if (t < active) {
            const int left = padded(stride * (2 * t + 1) - 1);
            const int right = padded(stride * (2 * t + 2) - 1);
            tree[right] += tree[left];
        }
    }
    __syncthreads();
    if (t == 0) {
        totals[blockIdx.x] = tree[padded(kTile - 1)];
        tree[padded(kTile - 1)] = 0u;
    }
    for (int active = 1; active <= kThreads; active <<= 1) {
        stride >>= 1;
        __syncthreads();
        if (t < active) {
            const int left = padded(stride * (2 * t + 1) - 1);
            const int right = padded(stride * (2 * t + 2) - 1);
            const unsigned carried = tree[left];
            tree[left] = tree[right];
            tree[right] += carried;
        }
    }
    __syncthreads();
    if (base + t < n)
        out[base + t] = tree[padded(t)];
    if (base + t + kThreads < n)
        out[base + t + kThreads] = tree[padded(t + kThreads)];
}

__global__ void addOffsets(unsigned* data, const unsigned* offsets, int n)
{
    const int i = blockIdx.x * kTile + threadIdx.x;
    const unsigned offset = offsets[blockIdx.x];
    if (i < n)
        data[i] += offset;
    if (i + kThreads < n)
        data[i + kThreads] += offset;
}

static void exclusiveScan(const unsigned* in, unsigned* out, int n)
{
    const int tiles = (n + kTile - 1) / kTile;
    const size_t shared = (kTile + kTile / 32) * sizeof(unsigned);
    unsigned* totals;
    GPU(cudaMalloc(&totals, tiles * sizeof(unsigned)));
    scanTiles<<<tiles, kThreads, shared>>>(in, out, totals, n);
    GPU(cudaGetLastError());
    if (tiles > 1) {
        unsigned* offsets;
        GPU(cudaMalloc(&offsets, tiles * sizeof(unsigned)));
        exclusiveScan(totals, offsets, tiles);
        addOffsets<<<tiles, kThreads>>>(out, offsets, n);
        GPU(cudaGetLastError());
        GPU(cudaFree(offsets));
    }
    GPU(cudaFree(totals));
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 70001;
    unsigned lcg = argc > 2 ? (unsigned)atoi(argv[2]) : 7u;
    if (n < 1)
        return 2;
    std::vector<unsigned> input(n), result(n);
    for (unsigned& v : input) {
        lcg = lcg * 1103515245u + 12345u;
        v = (lcg >> 16) % 100u;
    }
    unsigned *in, *out;
    GPU(cudaMalloc(&in, n * sizeof(unsigned)));
    GPU(cudaMalloc(&out, n * sizeof(unsigned)));
    GPU(cudaMemcpy(in, input.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
    exclusiveScan(in, out, n);
    GPU(cudaMemcpy(result.data(), out, n * sizeof(unsigned), cudaMemcpyDeviceToHost));

    unsigned running = 0, weighted = 0;
    int firstBad = -1;
    for (int i = 0; i < n; ++i) {
        if (result[i] != running && firstBad < 0)
            firstBad = i;
        running += input[i];
        weighted += result[i] * (unsigned)(i | 1);
    }
    printf("scan of %d values, last prefix %u, total %u\n", n, result[n - 1], running);
    printf("checksum %08x\n", weighted);
    if (firstBad >= 0)
        printf("first difference at %d\n", firstBad);
    printf("verify: %s\n", firstBad < 0 ? "OK" : "MISMATCH");
    GPU(cudaFree(in));
    GPU(cudaFree(out));
    return firstBad < 0 ? 0 : 1;
}
