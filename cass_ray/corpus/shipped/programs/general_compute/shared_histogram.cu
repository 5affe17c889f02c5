// SPDX-License-Identifier: MIT
// 64-bin byte histogram. Every warp of a block counts into its own copy in shared memory to
// lower contention; the copies are merged and added to the global bins with atomics.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define TRY(call)                                                          \
    if (cudaError_t e = (call)) {                                          \
        fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e));         \
        exit(2);                                                           \
    }

enum { kBins = 64, kBlock = 192, kCopies = kBlock / 32 };

__global__ void histogram(const uchar4* __restrict__ data, int quads, unsigned* __restrict__ bins)
{
    __shared__ unsigned local[kCopies][kBins];
    for (int i = threadIdx.x; i < kCopies * kBins; i += kBlock)
        local[i / kBins][i % kBins] = 0;
    __syncthreads();

    unsigned* mine = local[threadIdx.x / 32];
    for (int i = blockIdx.x * kBlock + threadIdx.x; i < quads; i += gridDim.x * kBlock) {
        const uchar4 q = data[i];
        atomicAdd(&mine[q.x >> 2], 1u);
        atomicAdd(&mine[q.y >> 2], 1u);
        atomicAdd(&mine[q.z >> 2], 1u);
        atomicAdd(&mine[q.w >> 2], 1u);
    }
    __syncthreads();

    if (threadIdx.x < kBins) {
        unsigned total = 0;
        for (int c = 0; c < kCopies; ++c)
            total += local[c][threadIdx.x];
        if (total)
            atomicAdd(&bins[threadIdx.x], total);
    }
}

int main(int argc, char** argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 65536;
    unsigned state = argc > 2 ? (unsigned)strtoul(argv[2], 0, 0) : 2024u;
    n = n / 4 * 4;
    if (n <= 0) {
        fprintf(stderr, "need at least 4 bytes\n");
        return 2;
    }

    std::vector<unsigned char> bytes(n);
    std::vector<unsigned> expected(kBins, 0u), bins(kBins);
    for (int i = 0; i < n; ++i) {
        // The sum of two uniform draws gives a triangular distribution.
        state = state * 22695477u + 1u;
        bytes[i] = (unsigned char)(((state >> 24) + (state >> 16 & 255u)) / 2);
        ++expected[bytes[i] >> 2];
    }

    unsigned char* deviceBytes = nullptr;
    unsigned* deviceBins = nullptr;
    TRY(cudaMalloc((void**)&deviceBytes, n));
    TRY(cudaMalloc((void**)&deviceBins, kBins * sizeof(unsigned)));
    TRY(cudaMemset(deviceBins, 0, kBins * sizeof(unsigned)));
    TRY(cudaMemcpy(deviceBytes, bytes.data(), n, cudaMemcpyHostToDevice));
    histogram<<<10, kBlock>>>(reinterpret_cast<const uchar4*>(deviceBytes), n / 4, deviceBins);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(bins.data(), deviceBins, kBins * sizeof(unsigned), cudaMemcpyDeviceToHost));

    int mode = 0;
    for (int b = 0; b < kBins; ++b)
        if (bins[b] > bins[mode])
            mode = b;
    printf("bytes %d, fullest bin %d holds %u\n", n, mode, bins[mode]);
    for (int b = 0; b < kBins; b += 8)
        printf("bins %2d..%2d: %u %u %u %u %u %u %u %u\n", b, b + 7, bins[b], bins[b + 1], bins[b + 2], bins[b + 3],
               bins[b + 4], bins[b + 5], bins[b + 6], bins[b + 7]);
    const bool ok = bins == expected;
    printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    TRY(cudaFree(deviceBytes));
    TRY(cudaFree(deviceBins));
    return ok ? 0 : 1;
}
