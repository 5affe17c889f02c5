// SPDX-License-Identifier: MIT
// Segmented sum of values grouped by sorted keys. Each warp runs a segmented scan with
// shuffles; the last lane of every run adds its total to the segment with a 64-bit atomic.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_REQUIRE(c)                                                             \
    do {                                                                            \
        cudaError_t e = (c);                                                        \
        if (e != cudaSuccess) {                                                     \
            fprintf(stderr, "error in %s: %s\n", __func__, cudaGetErrorString(e));  \
            exit(2);                                                                \
        }                                                                           \
    } while (0)

__device__ __forceinline__ int laneId()
{
    int lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

__global__ void segmentedSum(const int* __restrict__ segment, const unsigned* __restrict__ value, int n,
                             unsigned long long* __restrict__ sums)
{
    const unsigned full = 0xffffffffu;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int lane = laneId();
    const int mine = i < n ? segment[i] : -1;
    unsigned sum = i < n ? value[i] : 0u;

    for (int d = 1; d < 32; d <<= 1) {
        const unsigned other = __shfl_up_sync(full, sum, d);
        const int owner = __shfl_up_sync(full, mine, d);
        if (lane >= d && owner == mine)
            sum += other;
    }
    const int following = __shfl_down_sync(full, mine, 1);
    const bool endOfRun = lane == 31 || following != mine;
    if (mine >= 0 && endOfRun)
        atomicAdd(&sums[mine], (unsigned long long)sum);
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 48000;
    unsigned state = argc > 2 ? (unsigned)atoi(argv[2]) : 5u;
    if (n <= 0)
        return 2;

    // Segment lengths vary from one element to several warps.
    std::vector<int> segment(n);
    std::vector<unsigned> value(n);
    int current = 0, left = 1;
    for (int i = 0; i < n; ++i) {
        state = state * 1103515245u + 12345u;
        if (left == 0) {
            ++current;
            left = 1 + (int)(state >> 16) % (current % 5 == 0 ? 200 : 12);
        }
        --left;
        segment[i] = current;
        value[i] = state >> 14 & 0xffffu;
    }
    const int segments = current + 1;

    int* dSegment;
    unsigned* dValue;
    unsigned long long* dSums;
    CUDA_REQUIRE(cudaMalloc(&dSegment, sizeof(int) * n));
    CUDA_REQUIRE(cudaMalloc(&dValue, sizeof(unsigned) * n));
    CUDA_REQUIRE(cudaMalloc(&dSums, sizeof(unsigned long long) * segments));
    CUDA_REQUIRE(cudaMemcpy(dSegment, segment.data(), sizeof(int) * n, cudaMemcpyHostToDevice));
    CUDA_REQUIRE(cudaMemcpy(dValue, value.data(), sizeof(unsigned) * n, cudaMemcpyHostToDevice));
    CUDA_REQUIRE(cudaMemset(dSums, 0, sizeof(unsigned long long) * segments));
    const int threads = 256;
    segmentedSum<<<(n + threads - 1) / threads, threads>>>(dSegment, dValue, n, dSums);
    CUDA_REQUIRE(cudaGetLastError());

    std::vector<unsigned long long> sums(segments), expected(segments, 0ull);
    CUDA_REQUIRE(cudaMemcpy(sums.data(), dSums, sizeof(unsigned long long) * segments, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i)
        expected[segment[i]] += value[i];

    int largest = 0;
    for (int s = 1; s < segments; ++s)
        if (sums[s] > sums[largest])
            largest = s;
    printf("%d values in %d segments\n", n, segments);
    printf("largest: segment %d sum %llu\n", largest, sums[largest]);
    printf("first %llu last %llu\n", sums.front(), sums.back());
    const bool ok = sums == expected;
    printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    CUDA_REQUIRE(cudaFree(dSegment));
    CUDA_REQUIRE(cudaFree(dValue));
    CUDA_REQUIRE(cudaFree(dSums));
    return ok ? 0 : 1;
}
