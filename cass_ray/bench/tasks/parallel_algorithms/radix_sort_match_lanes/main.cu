// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <cuda_runtime.h>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define gpuErrchk(call)                                                                  \
    do {                                                                             \
        cudaError_t status = (call);                                                 \
        if (status != cudaSuccess) {                                                 \
            std::fprintf(stderr, "%s:%d: CUDA error: %s\n", __FILE__, __LINE__,      \
                         cudaGetErrorString(status));                                \
            std::exit(EXIT_FAILURE);                                                 \
        }                                                                            \
    } while (0)

#define FULL_MASK 0xffffffffu
const int kWarps = 4, kThreads = kWarps * 32;

// Lanes of the warp with the same digit.
__device__ __forceinline__ unsigned peersOf(unsigned digit)
{
    return __match_any_sync(FULL_MASK, digit);
}

// Per block and digit: how many keys. Digits of lanes past the end are 16.
__global__ void countDigits(const uint32_t* keys, int n, int shift, uint32_t* counts)
{
    __shared__ uint32_t local[16];
    if (threadIdx.x < 16) local[threadIdx.x] = 0;
    __syncthreads();
    const int i = blockIdx.x * kThreads + threadIdx.x;
    const unsigned digit = i < n ? keys[i] >> shift & 15u : 16u;
    const unsigned peers = peersOf(digit);
    if (digit < 16u && __ffs((int)peers) - 1 == (int)(threadIdx.x % 32)) atomicAdd(&local[digit], (uint32_t)__popc(peers));
    __syncthreads();
    if (threadIdx.x < 16) counts[threadIdx.x * gridDim.x + blockIdx.x] = local[threadIdx.x];
}

__global__ void scanCounts(uint32_t* counts, int n)
{
    __shared__ uint32_t s[256];
    uint32_t carry = 0;
    for (int base = 0; base < n; base += 256) {
        const int i = base + threadIdx.x;
        const uint32_t own = i < n ? counts[i] : 0u;
        s[threadIdx.x] = own;
        __syncthreads();
        for (int d = 1; d < 256; d <<= 1) {
            const uint32_t v = threadIdx.x >= (unsigned)d ? s[threadIdx.x - d] : 0u;
            __syncthreads();
            s[threadIdx.x] += v;
            __syncthreads();
        }
        if (i < n) counts[i] = carry + s[threadIdx.x] - own;
        carry += s[255];
        __syncthreads();
    }
}

__global__ void scatter(const uint32_t* keys, const uint32_t* values, int n, int shift, const uint32_t* offsets,
                        uint32_t* keysOut, uint32_t* valuesOut)
{
    __shared__ uint32_t warpCounts[kWarps][17];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int d = lane; d < 17; d += 32) warpCounts[warp][d] = 0;
    __syncthreads();
    const int i = blockIdx.x * kThreads + threadIdx.x;
    const unsigned digit = i < n ? keys[i] >> shift & 15u : 16u;
    const unsigned peers = peersOf(digit);
    const unsigned below = __popc(peers & ((1u << lane) - 1u));
    if (below == 0) warpCounts[warp][digit] = __popc(peers);
    __syncthreads();
    if (i < n) {
        uint32_t to = offsets[digit * gridDim.x + blockIdx.x] + below;
        for (int w = 0; w < warp; ++w) to += warpCounts[w][digit];
        keysOut[to] = keys[i];
        valuesOut[to] = values[i];
    }
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 2500;
    uint32_t s = argc > 2 ? (uint32_t)atoi(argv[2]) : 12u;
    if (n < 1) return 1;
    std::vector<uint32_t> keys(n), values(n), k(n), v(n);
    for (int i = 0; i < n; ++i) {
        s = s * 1664525u + 1013904223u;
        keys[i] = i % 3 ? s : s >> 22;  // with many equal keys
        values[i] = (uint32_t)i;
    }
    const int blocks = (n + kThreads - 1) / kThreads;
    uint32_t *ka, *kb, *va, *vb, *counts;
    gpuErrchk(cudaMalloc(&ka, n * 4));
    gpuErrchk(cudaMalloc(&kb, n * 4));
    gpuErrchk(cudaMalloc(&va, n * 4));
    gpuErrchk(cudaMalloc(&vb, n * 4));
    gpuErrchk(cudaMalloc(&counts, 16 * blocks * 4));
    gpuErrchk(cudaMemcpy(ka, keys.data(), n * 4, cudaMemcpyHostToDevice));
    gpuErrchk(cudaMemcpy(va, values.data(), n * 4, cudaMemcpyHostToDevice));
    for (int shift = 0; shift < 32; shift += 4) {
        countDigits<<<blocks, kThreads>>>(ka, n, shift, counts);
        scanCounts<<<1, 256>>>(counts, 16 * blocks);
        scatter<<<blocks, kThreads>>>(ka, va, n, shift, counts, kb, vb);
        gpuErrchk(cudaGetLastError());
        std::swap(ka, kb);
        std::swap(va, vb);
    }
    gpuErrchk(cudaMemcpy(k.data(), ka, n * 4, cudaMemcpyDeviceToHost));
    gpuErrchk(cudaMemcpy(v.data(), va, n * 4, cudaMemcpyDeviceToHost));
    std::vector<uint32_t> order(values);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return keys[a] < keys[b]; });
    int wrong = 0;
    uint32_t fold = 0;
    for (int i = 0; i < n; ++i) {
        wrong += v[i] != order[i] || k[i] != keys[order[i]];
        fold = fold * 31u + k[i] ^ v[i];
    }
    for (int i = 0; i < n; i += n / 6 + 1) printf("%d: key %08x from %u\n", i, k[i], v[i]);
    printf("n %d fold %08x wrong %d\n", n, fold, wrong);
    cudaFree(ka); cudaFree(kb); cudaFree(va); cudaFree(vb); cudaFree(counts);
    return wrong ? 1 : 0;
}
