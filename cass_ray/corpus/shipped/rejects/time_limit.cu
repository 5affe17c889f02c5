// SPDX-License-Identifier: MIT
// A binary tree of template instantiations, far too large to finish: every node is a distinct
// type with a constant-expression loop of its own, so compilers spend time and little memory.
#include <cuda_runtime.h>
#include <cstdio>

constexpr unsigned scramble(unsigned long long seed)
{
    unsigned long long x = seed | 1;
    for (int i = 0; i < 4000; ++i)
        x = x * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(x >> 40);
}

template <int kDepth, unsigned long long kPath>
struct Tree {
    static constexpr unsigned value =
        scramble(kPath) ^ Tree<kDepth - 1, 2 * kPath>::value ^ Tree<kDepth - 1, 2 * kPath + 1>::value;
};

template <unsigned long long kPath>
struct Tree<0, kPath> {
    static constexpr unsigned value = scramble(kPath);
};

__global__ void store(unsigned* out) { out[threadIdx.x] = Tree<40, 1>::value + threadIdx.x; }

int main()
{
    unsigned *device, host = 0;
    cudaMalloc(&device, 32 * sizeof(unsigned));
    store<<<1, 32>>>(device);
    cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost);
    printf("%u\n", host);
    return 0;
}
