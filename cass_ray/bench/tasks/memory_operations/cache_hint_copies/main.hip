// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <hip/hip_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void checkHip(hipError_t code, const char* what, int line) {
    if (code != hipSuccess) {
        fprintf(stderr, "line %d: %s failed: %s\n", line, what, hipGetErrorString(code));
        exit(2);
    }
}
#define gpuErrchk(expr) checkHip((expr), #expr, __LINE__)

__device__ __forceinline__ uint32_t loadReadOnly(const uint32_t* p)
{
    return __ldg(p);
}
__device__ __forceinline__ uint32_t loadGlobalCache(const uint32_t* p)
{
    return *(const volatile uint32_t*)p;
}
__device__ __forceinline__ uint4 loadStreaming(const uint4* p)
{
    return *p;
}
__device__ __forceinline__ void storeWriteThrough(uint32_t* p, uint32_t v)
{
    *(volatile uint32_t*)p = v;
}
__device__ __forceinline__ void storeStreaming(uint4* p, uint4 v)
{
    *p = v;
}
__device__ __forceinline__ uint32_t atomicXorPtx(uint32_t* p, uint32_t v)
{
    return atomicXor(p, v);
}
__device__ __forceinline__ void reduceAdd(unsigned long long* p, unsigned long long v)
{
    atomicAdd(p, v);
}

__global__ void copyVectors(const uint4* in, uint4* out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;

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
    __threadfence();
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
    gpuErrchk(hipMalloc(&da, words * 4));
    gpuErrchk(hipMalloc(&db, words * 4));
    gpuErrchk(hipMalloc(&dorder, words * 4));
    gpuErrchk(hipMalloc(&dout, words * 4));
    gpuErrchk(hipMalloc(&dp, 32));
    gpuErrchk(hipMalloc(&dt, sizeof(unsigned long long)));
    gpuErrchk(hipMemset(dp, 0, 32));
    gpuErrchk(hipMemset(dt, 0, sizeof(unsigned long long)));
    gpuErrchk(hipMemcpy(da, a.data(), words * 4, hipMemcpyHostToDevice));
    gpuErrchk(hipMemcpy(dorder, order.data(), words * 4, hipMemcpyHostToDevice));
    copyVectors<<<(n + 127) / 128, 128>>>((const uint4*)da, (uint4*)db, n);
    scramble<<<(words + 127) / 128, 128>>>(db, dorder, dout, dp, dt, words);
    gpuErrchk(hipGetLastError());
    gpuErrchk(hipMemcpy(out.data(), dout, words * 4, hipMemcpyDeviceToHost));
    gpuErrchk(hipMemcpy(parity.data(), dp, 32, hipMemcpyDeviceToHost));
    gpuErrchk(hipMemcpy(&total, dt, sizeof total, hipMemcpyDeviceToHost));
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
    hipFree(da); hipFree(db); hipFree(dorder); hipFree(dout); hipFree(dp); hipFree(dt);
    return wrong ? 1 : 0;
}
