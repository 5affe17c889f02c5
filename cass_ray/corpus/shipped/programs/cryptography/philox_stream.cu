// SPDX-License-Identifier: MIT
// Philox4x32-10 counter-based generator built on the high-half multiply. Checks the published
// test vector, then the bit balance and a chi-square statistic of a long stream.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECKED(expr)                                                          \
    do {                                                                       \
        if (cudaError_t problem = (expr)) {                                    \
            fprintf(stderr, "%s: %s\n", #expr, cudaGetErrorString(problem));   \
            exit(2);                                                           \
        }                                                                      \
    } while (0)

__host__ __device__ inline unsigned highHalf(unsigned a, unsigned b)
{
#ifdef __CUDA_ARCH__
    return __umulhi(a, b);
#else
    return (unsigned)((unsigned long long)a * b >> 32);
#endif
}

__host__ __device__ inline uint4 philox(uint4 c, uint2 key)
{
    for (int round = 0; round < 10; ++round) {
        const unsigned hi0 = highHalf(0xd2511f53u, c.x), lo0 = 0xd2511f53u * c.x;
        const unsigned hi1 = highHalf(0xcd9e8d57u, c.z), lo1 = 0xcd9e8d57u * c.z;
        c = make_uint4(hi1 ^ c.y ^ key.x, lo1, hi0 ^ c.w ^ key.y, lo0);
        key.x += 0x9e3779b9u;
        key.y += 0xbb67ae85u;
    }
    return c;
}

__global__ void generate(uint2 key, int n, uint4* out, unsigned* ones, unsigned* buckets)
{
    __shared__ unsigned blockOnes, blockBuckets[16];
    if (threadIdx.x == 0)
        blockOnes = 0;
    if (threadIdx.x < 16)
        blockBuckets[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const uint4 r = philox(make_uint4((unsigned)i, 0u, 0u, 0u), key);
        out[i] = r;
        atomicAdd(&blockOnes, (unsigned)(__popc(r.x) + __popc(r.y) + __popc(r.z) + __popc(r.w)));
        atomicAdd(&blockBuckets[r.x >> 28], 1u);
        atomicAdd(&blockBuckets[r.w >> 28], 1u);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(ones, blockOnes);
    if (threadIdx.x < 16)
        atomicAdd(&buckets[threadIdx.x], blockBuckets[threadIdx.x]);
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 16384;
    const unsigned seed = argc > 2 ? (unsigned)strtoul(argv[2], nullptr, 10) : 20240u;
    if (n < 64)
        return 2;
    const uint4 test = philox(make_uint4(0u, 0u, 0u, 0u), make_uint2(0u, 0u));
    bool ok = test.x == 0x6627e8d5u && test.y == 0xe169c58du && test.z == 0xbc57ac4cu && test.w == 0x9b00dbd8u;

    uint4* out;
    unsigned* counters;
    CHECKED(cudaMalloc(&out, n * sizeof(uint4)));
    CHECKED(cudaMalloc(&counters, 17 * sizeof(unsigned)));
    CHECKED(cudaMemset(counters, 0, 17 * sizeof(unsigned)));
    const uint2 key = make_uint2(seed, seed ^ 0x5bd1e995u);
    generate<<<16, 128>>>(key, n, out, counters, counters + 1);
    CHECKED(cudaGetLastError());
    std::vector<uint4> stream(n);
    unsigned counts[17], expected[17] = {};
    CHECKED(cudaMemcpy(stream.data(), out, n * sizeof(uint4), cudaMemcpyDeviceToHost));
    CHECKED(cudaMemcpy(counts, counters, sizeof counts, cudaMemcpyDeviceToHost));
    CHECKED(cudaFree(out));
    CHECKED(cudaFree(counters));

    unsigned mixed = 0;
    for (int i = 0; i < n; ++i) {
        const uint4 r = philox(make_uint4((unsigned)i, 0u, 0u, 0u), key);
        const uint4 g = stream[i];
        ok = ok && r.x == g.x && r.y == g.y && r.z == g.z && r.w == g.w;
        const unsigned words[4] = {r.x, r.y, r.z, r.w};
        for (unsigned w : words) {
            mixed = mixed * 31u + w;
            for (; w; w &= w - 1)
                ++expected[0];
        }
        ++expected[1 + (r.x >> 28)];
        ++expected[1 + (r.w >> 28)];
    }
    double chiSquare = 0.0;
    for (int b = 0; b < 17; ++b) {
        ok = ok && counts[b] == expected[b];
        if (b > 0) {
            const double mean = 2.0 * n / 16.0, d = counts[b] - mean;
            chiSquare += d * d / mean;
        }
    }
    printf("first draw %08x %08x %08x %08x\n", stream[0].x, stream[0].y, stream[0].z, stream[0].w);
    printf("ones %u of %llu bits, chi-square (15 degrees) %.3f\n", counts[0], 128ull * n, chiSquare);
    printf("stream hash %08x\n", mixed);
    printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    return ok ? 0 : 1;
}
