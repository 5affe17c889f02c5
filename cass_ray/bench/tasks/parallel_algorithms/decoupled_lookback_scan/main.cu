// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

inline void gpuAssert(cudaError_t code, const char* file, int line)
{
    if (code == cudaSuccess) return;
    fprintf(stderr, "GPU error: %s %s:%d\n", cudaGetErrorName(code), file, line);
    exit(1);
}
#define CUDA_CALL(ans) gpuAssert((ans), __FILE__, __LINE__)

typedef unsigned long long u64;
const int kThreads = 128, kItems = 2, kTile = kThreads * kItems;
#define EMPTY 0ull
#define AGGREGATE 1ull
#define PREFIX 2ull

// Upper half: state, lower half: value, so that both are published at once.
__device__ __forceinline__ void publish(volatile u64* slot, u64 state, unsigned value)
{
    __threadfence();
    *slot = state << 32 | value;
}

__global__ void scanOnePass(const unsigned* in, unsigned* out, int n, volatile u64* slots, unsigned* ticket)
{
    __shared__ unsigned tile, before;
    __shared__ unsigned warpSums[kThreads / 32];
    if (threadIdx.x == 0) tile = atomicAdd(ticket, 1u);
    __syncthreads();
    const int base = tile * kTile + threadIdx.x * kItems;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned v[kItems], sum = 0;
    for (int k = 0; k < kItems; ++k) {
        v[k] = base + k < n ? in[base + k] : 0u;
        sum += v[k];
        v[k] = sum;
    }
    unsigned inclusive = sum;
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        const unsigned other = __shfl_up_sync(0xffffffffu, inclusive, d, 32);
        if (lane >= d) inclusive += other;
    }
    if (lane == 31) warpSums[warp] = inclusive;
    __syncthreads();
    unsigned offset = inclusive - sum, total = 0;
    for (int w = 0; w < kThreads / 32; ++w) {
        if (w < warp) offset += warpSums[w];
        total += warpSums[w];
    }
    if (threadIdx.x == 0) {
        unsigned prefix = 0;
        if (tile == 0) {
            publish(slots, PREFIX, total);
        } else {
            publish(slots + tile, AGGREGATE, total);
            for (int look = (int)tile - 1; look >= 0;) {
                const u64 seen = slots[look];
                const u64 state = seen >> 32;
                if (state == EMPTY) continue;
                prefix += (unsigned)seen;
                if (state == PREFIX) break;
                --look;
            }
            publish(slots + tile, PREFIX, prefix + total);
        }
        before = prefix;
    }
    __syncthreads();
    for (int k = 0; k < kItems; ++k)
        if (base + k < n) out[base + k] = before + offset + v[k];
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 12345;
    unsigned s = argc > 2 ? (unsigned)atoi(argv[2]) : 3u;
    if (n < 1) return 1;
    const int tiles = (n + kTile - 1) / kTile;
    std::vector<unsigned> in(n), out(n);
    for (unsigned& v : in) {
        s = s * 22695477u + 1u;
        v = s >> 12;
    }
    unsigned *di, *dout, *dticket;
    u64* dslots;
    CUDA_CALL(cudaMalloc(&di, n * sizeof(unsigned)));
    CUDA_CALL(cudaMalloc(&dout, n * sizeof(unsigned)));
    CUDA_CALL(cudaMalloc(&dslots, tiles * sizeof(u64)));
    CUDA_CALL(cudaMalloc(&dticket, sizeof(unsigned)));
    CUDA_CALL(cudaMemcpy(di, in.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
    CUDA_CALL(cudaMemset(dslots, 0, tiles * sizeof(u64)));
    CUDA_CALL(cudaMemset(dticket, 0, sizeof(unsigned)));
    scanOnePass<<<tiles, kThreads>>>(di, dout, n, dslots, dticket);
    CUDA_CALL(cudaGetLastError());
    CUDA_CALL(cudaMemcpy(out.data(), dout, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
    unsigned sum = 0, fold = 0;
    int wrong = 0;
    for (int i = 0; i < n; ++i) {
        sum += in[i];
        wrong += out[i] != sum;
        fold = (fold << 3 | fold >> 29) ^ out[i];
    }
    printf("n %d tiles %d\nlast %u fold %08x\nmiddle %u\nwrong %d\n", n, tiles, out[n - 1], fold, out[n / 2], wrong);
    CUDA_CALL(cudaFree(di));
    CUDA_CALL(cudaFree(dout));
    CUDA_CALL(cudaFree(dslots));
    CUDA_CALL(cudaFree(dticket));
    return wrong ? 1 : 0;
}
