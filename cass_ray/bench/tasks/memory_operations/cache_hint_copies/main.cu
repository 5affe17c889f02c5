// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void checkCuda(cudaError_t code, const char* what, int line) {
    if (code != cudaSuccess) {
        fprintf(stderr, "line %d: %s failed: %s\n", line, what, cudaGetErrorString(code));
        exit(2);
    }
}
#define gpuErrchk(expr) checkCuda((expr), #expr, __LINE__)

__device__ __forceinline__ uint32_t loadReadOnly(const uint32_t* p)
{
    uint32_t v;
    asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(v) : "l"(p));
    return v;
}
__device__ __forceinline__ uint32_t loadGlobalCache(const uint32_t* p)
{
    uint32_t v;
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}
__device__ __forceinline__ uint4 loadStreaming(const uint4* p)
{
    uint4 v;
    asm volatile("ld.global.cs.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
    return v;
}
__device__ __forceinline__ void storeWriteThrough(uint32_t* p, uint32_t v)
{
    asm volatile("st.global.wt.u32 [%0], %1;" :: "l"(p), "r"(v) : "memory");
}
__device__ __forceinline__ void storeStreaming(uint4* p, uint4 v)
{
    asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" :: "l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}
__device__ __forceinline__ uint32_t atomicXorPtx(uint32_t* p, uint32_t v)
{
    uint32_t old;
    asm volatile("atom.global.xor.b32 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(v) : "memory");
    return old;
}
__device__ __forceinline__ void reduceAdd(unsigned long long* p, unsigned long long v)
{
    asm volatile("red.global.add.u64 [%0], %1;" :: "l"(p), "l"(v) : "memory");
}

__global__ void copyVectors(const uint4* in, uint4* out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    asm volatile("prefetch.global.L2 [%0];" :: "l"(in + (i + 32 < n ? i + 32 : i)));
    const uint4 v = loadStreaming(in + i);
    storeStreaming(out + i, make_uint4(v.w, v.x ^ v.y, v.y + v.z, v.z));
}

__global__ void scramble(const uint32_t* a, const uint32_t* order, uint32_t* out, uint32_t* parity, unsigned long long* total, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const uint32_t j = loadReadOnly(order + i);
    const uint32_t v = loadGlobalCache(a + j) + __ldg(a + i);
    storeWriteThrough(out + j, v);
    asm volatile("membar.gl;" ::: "memory");
    atomicXorPtx(parity + (j & 7u), v);
    reduceAdd(total, (unsigned long long)v * j);
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 3000;
    uint32_t s = argc > 2 ? (uint32_t)atoi(argv[2]) : 19u;
    if (n < 1) return 1;
    const int words = 4 * n;
    std::vector<uint32_t> a(words), order(words), out(words), b(words), parity(8);
    for (int i = 0; i < words; ++i) {
        s = s * 1664525u + 1013904223u;
        a[i] = s;
        order[i] = (uint32_t)i;
    }
    for (int i = words - 1; i > 0; --i) {
        s = s * 1664525u + 1013904223u;
        std::swap(order[i], order[(s >> 8) % (uint32_t)(i + 1)]);
    }
    uint32_t *da, *db, *dorder, *dout, *dp;
    unsigned long long *dt, total = 0;
    gpuErrchk(cudaMalloc(&da, words * 4));
    gpuErrchk(cudaMalloc(&db, words * 4));
    gpuErrchk(cudaMalloc(&dorder, words * 4));
    gpuErrchk(cudaMalloc(&dout, words * 4));
    gpuErrchk(cudaMalloc(&dp, 32));
    gpuErrchk(cudaMalloc(&dt, sizeof(unsigned long long)));
    gpuErrchk(cudaMemset(dp, 0, 32));
    gpuErrchk(cudaMemset(dt, 0, sizeof(unsigned long long)));
    gpuErrchk(cudaMemcpy(da, a.data(), words * 4, cudaMemcpyHostToDevice));
    gpuErrchk(cudaMemcpy(dorder, order.data(), words * 4, cudaMemcpyHostToDevice));
    copyVectors<<<(n + 127) / 128, 128>>>((const uint4*)da, (uint4*)db, n);
    scramble<<<(words + 127) / 128, 128>>>(db, dorder, dout, dp, dt, words);
    gpuErrchk(cudaGetLastError());
    gpuErrchk(cudaMemcpy(out.data(), dout, words * 4, cudaMemcpyDeviceToHost));
    gpuErrchk(cudaMemcpy(parity.data(), dp, 32, cudaMemcpyDeviceToHost));
    gpuErrchk(cudaMemcpy(&total, dt, sizeof total, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i) {
        const uint32_t* v = &a[4 * i];
        b[4 * i] = v[3];
        b[4 * i + 1] = v[0] ^ v[1];
        b[4 * i + 2] = v[1] + v[2];
        b[4 * i + 3] = v[2];
    }
    int wrong = 0;
    unsigned long long expected = 0;
    uint32_t fold = 0, parities[8] = {0};
    for (int i = 0; i < words; ++i) {
        const uint32_t j = order[i], v = b[j] + b[i];
        wrong += out[j] != v;
        parities[j & 7u] ^= v;
        expected += (unsigned long long)v * j;
    }
    for (int i = 0; i < words; ++i) fold = fold * 31u + out[i];
    for (int k = 0; k < 8; ++k) wrong += parities[k] != parity[k];
    wrong += expected != total;
    printf("words %d fold %08x total %llu\nparity", words, fold, total);
    for (uint32_t p : parity) printf(" %08x", p);
    printf("\nwrong %d\n", wrong);
    cudaFree(da); cudaFree(db); cudaFree(dorder); cudaFree(dout); cudaFree(dp); cudaFree(dt);
    return wrong ? 1 : 0;
}
