// SPDX-License-Identifier: MIT
// Monte-Carlo estimate of pi. Every thread owns a PCG32 stream and tests integer points against
// the quarter circle, so the hit count is exact and independent of the schedule.
#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#define SAFE(call)                                                            \
    do {                                                                      \
        cudaError_t s = (call);                                               \
        if (s != cudaSuccess) {                                               \
            fprintf(stderr, "%s (line %d)\n", cudaGetErrorString(s), __LINE__); \
            exit(2);                                                          \
        }                                                                     \
    } while (0)

struct Pcg32 {
    unsigned long long state, increment;

    __host__ __device__ Pcg32(unsigned long long seed, unsigned long long stream)
        : state(0), increment(stream << 1 | 1)
    {
        next();
        state += seed;
        next();
    }

    __host__ __device__ unsigned next()
    {
        const unsigned long long old = state;
        state = old * 6364136223846793005ull + increment;
        const unsigned x = (unsigned)((old >> 18 ^ old) >> 27), turn = (unsigned)(old >> 59);
        return x >> turn | x << ((32 - turn) & 31);
    }
};

__host__ __device__ inline unsigned countHits(unsigned long long seed, unsigned stream, int draws)
{
    Pcg32 random(seed, stream);
    unsigned hits = 0;
    for (int i = 0; i < draws; ++i) {
        const unsigned point = random.next();
        const unsigned long long x = point >> 16, y = point & 0xffffu;
        hits += x * x + y * y < 0xfffe0001ull;  // 65535 squared
    }
    return hits;
}

__global__ void throwDarts(unsigned long long seed, int draws, unsigned long long* inside)
{
    unsigned hits = countHits(seed, blockIdx.x * blockDim.x + threadIdx.x, draws);
    for (int offset = 16; offset > 0; offset /= 2)
        hits += __shfl_xor_sync(0xffffffffu, hits, offset);
    if (threadIdx.x % 32 == 0)
        atomicAdd(inside, (unsigned long long)hits);
}

int main(int argc, char** argv)
{
    const int draws = argc > 1 ? atoi(argv[1]) : 128;
    const unsigned long long seed = argc > 2 ? strtoull(argv[2], nullptr, 10) : 1234ull;
    if (draws < 16) {
        fprintf(stderr, "need at least 16 draws per thread\n");
        return 2;
    }
    const int blocks = 8, threads = 128;
    unsigned long long* inside;
    SAFE(cudaMallocManaged(&inside, sizeof *inside));
    *inside = 0;
    throwDarts<<<blocks, threads>>>(seed, draws, inside);
    SAFE(cudaGetLastError());
    SAFE(cudaDeviceSynchronize());

    unsigned long long expected = 0;
    for (int id = 0; id < blocks * threads; ++id)
        expected += countHits(seed, (unsigned)id, draws);
    const double points = (double)draws * blocks * threads;
    const double estimate = 4.0 * (double)*inside / points;
    const bool ok = *inside == expected && fabs(estimate - 3.14159265) < 6.0 * 1.642 / sqrt(points);
    printf("points %.0f inside %llu\n", points, *inside);
    printf("pi is about %.4f\n", estimate);
    printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    SAFE(cudaFree(inside));
    return ok ? 0 : 1;
}
