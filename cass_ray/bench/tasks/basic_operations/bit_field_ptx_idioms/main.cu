// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_CHECK(call)                                                                  \
    do {                                                                             \
        cudaError_t status = (call);                                                 \
        if (status != cudaSuccess) {                                                 \
            std::fprintf(stderr, "%s:%d: CUDA error: %s\n", __FILE__, __LINE__,      \
                         cudaGetErrorString(status));                                \
            std::exit(EXIT_FAILURE);                                                 \
        }                                                                            \
    } while (0)

__device__ __forceinline__ uint32_t extractUnsigned(uint32_t v, uint32_t start, uint32_t length)
{
    uint32_t r;
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(v), "r"(start), "r"(length));
    return r;
}
__device__ __forceinline__ int extractSigned(int v, uint32_t start, uint32_t length)
{
    int r;
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(v), "r"(start), "r"(length));
    return r;
}
__device__ __forceinline__ uint32_t insert(uint32_t field, uint32_t into, uint32_t start, uint32_t length)
{
    uint32_t r;
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(field), "r"(into), "r"(start), "r"(length));
    return r;
}
__device__ __forceinline__ uint32_t permute(uint32_t a, uint32_t b, uint32_t selector)
{
    uint32_t r;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(selector));
    return r;
}
__device__ __forceinline__ uint32_t majority(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t r;
    asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
}
__device__ __forceinline__ uint32_t choose(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t r;
    asm("lop3.b32 %0, %1, %2, %3, 0xca;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
}
__device__ __forceinline__ uint32_t funnelLeft(uint32_t low, uint32_t high, uint32_t by)
{
    uint32_t r;
    asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(low), "r"(high), "r"(by));
    return r;
}
__device__ __forceinline__ uint32_t funnelRightClamp(uint32_t low, uint32_t high, uint32_t by)
{
    uint32_t r;
    asm("shf.r.clamp.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(low), "r"(high), "r"(by));
    return r;
}
__device__ __forceinline__ uint32_t highestBit(uint32_t v)
{
    uint32_t r;
    asm("bfind.u32 %0, %1;" : "=r"(r) : "r"(v));
    return r;
}
__device__ __forceinline__ uint32_t counts(uint32_t v)
{
    uint32_t ones, zeros, reversed;
    asm("{\n\t"
        "popc.b32 %0, %3;\n\t"
        "clz.b32 %1, %3;\n\t"
        "brev.b32 %2, %3;\n\t"
        "}" : "=r"(ones), "=r"(zeros), "=r"(reversed) : "r"(v));
    return reversed ^ (ones << 8) ^ zeros;
}
__device__ __forceinline__ int saturatingAdd(int a, int b)
{
    int r;
    asm("add.sat.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
}
__device__ __forceinline__ uint32_t absoluteDifference(int a, int b, uint32_t c)
{
    uint32_t r;
    asm("sad.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
}

#define KINDS 12
__global__ void everyIdiom(const uint32_t* in, int n, uint32_t* out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const uint32_t a = in[i], b = in[(i + 1) % n], c = in[(i + 2) % n];
    const uint32_t start = b & 31u, length = c & 31u;
    uint32_t r[KINDS];
    r[0] = extractUnsigned(a, start, length);
    r[1] = (uint32_t)extractSigned((int)a, start, length);
    r[2] = insert(a, b, start, length);
    r[3] = permute(a, b, c & 0x7777u);
    r[4] = majority(a, b, c);
    r[5] = choose(a, b, c);
    r[6] = funnelLeft(a, b, c & 63u);
    r[7] = funnelRightClamp(a, b, c & 63u);
    r[8] = highestBit(i % 16 ? a >> (b & 31u) : 0u);
    r[9] = counts(a >> (c & 15u));
    r[10] = (uint32_t)saturatingAdd((int)a, (int)b);
    r[11] = absoluteDifference((int)(a >> 4), (int)(b >> 3), c);
    for (int k = 0; k < KINDS; ++k)
        out[k * n + i] = r[k];
}

static uint32_t model(int k, uint32_t a, uint32_t b, uint32_t c, int i)
{
    const uint32_t start = b & 31u, length = c & 31u;
    const uint64_t wide = (uint64_t)b << 32 | a;
    uint32_t r = 0;
    switch (k) {
    case 0: return (uint32_t)(((uint64_t)a >> start) & ((1ull << length) - 1));
    case 1:
        if (length == 0) return 0;
        for (uint32_t bit = 0; bit < 32; ++bit) {
            uint32_t from = start + (bit < length ? bit : length - 1);
            if (from > 31) from = 31;
            r |= (a >> from & 1u) << bit;
        }
        return r;
    case 2:
        r = b;
        for (uint32_t bit = 0; bit < length && start + bit < 32; ++bit)
            r = (r & ~(1u << (start + bit))) | (a >> bit & 1u) << (start + bit);
        return r;
    case 3:
        for (int byte = 0; byte < 4; ++byte)
            r |= (uint32_t)(wide >> (8 * (c >> (4 * byte) & 7u)) & 255u) << (8 * byte);
        return r;
    case 4: return (a & b) | (a & c) | (b & c);
    case 5: return (a & b) | (~a & c);
    case 6: return (uint32_t)((wide << (c & 31u)) >> 32);
    case 7: return (uint32_t)(wide >> ((c & 63u) > 32u ? 32u : c & 63u));
    case 8: {
        const uint32_t v = i % 16 ? a >> (b & 31u) : 0u;
        r = 0xffffffffu;
        for (uint32_t bit = 0; bit < 32; ++bit) if (v >> bit & 1u) r = bit;
        return r;
    }
    case 9: {
        const uint32_t v = a >> (c & 15u);
        uint32_t ones = 0, zeros = 32;
        for (uint32_t bit = 0; bit < 32; ++bit)
            if (v >> bit & 1u) { ++ones; zeros = 31 - bit; r |= 1u << (31 - bit); }
        return r ^ (ones << 8) ^ zeros;
    }
    case 10: {
        const int64_t sum = (int64_t)(int)a + (int)b;
        return (uint32_t)(int)(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
    }
    default: {
        const int64_t d = (int64_t)(int)(a >> 4) - (int)(b >> 3);
        return c + (uint32_t)(d < 0 ? -d : d);
    }
    }
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 2500;
    uint32_t s = argc > 2 ? (uint32_t)atoi(argv[2]) : 1u;
    if (n < 1) return 1;
    std::vector<uint32_t> in(n), out((size_t)KINDS * n);
    for (uint32_t& v : in) {
        s = s * 747796405u + 2891336453u;
        const uint32_t w = ((s >> ((s >> 28) + 4)) ^ s) * 277803737u;
        v = (w >> 22) ^ w;
    }
    uint32_t *di, *dout;
    CUDA_CHECK(cudaMalloc(&di, in.size() * 4));
    CUDA_CHECK(cudaMalloc(&dout, out.size() * 4));
    CUDA_CHECK(cudaMemcpy(di, in.data(), in.size() * 4, cudaMemcpyHostToDevice));
    everyIdiom<<<(n + 127) / 128, 128>>>(di, n, dout);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(out.data(), dout, out.size() * 4, cudaMemcpyDeviceToHost));
    static const char* names[KINDS] = { "bfe.u32", "bfe.s32", "bfi", "prmt", "lop3 majority", "lop3 choose",
                                        "shf.l.wrap", "shf.r.clamp", "bfind", "counts", "add.sat", "sad" };
    int total = 0;
    for (int k = 0; k < KINDS; ++k) {
        uint32_t fold = 0;
        int wrong = 0;
        for (int i = 0; i < n; ++i) {
            const uint32_t v = out[(size_t)k * n + i];
            fold = fold * 16777619u ^ v;
            wrong += v != model(k, in[i], in[(i + 1) % n], in[(i + 2) % n], i);
        }
        printf("%-14s first %08x fold %08x wrong %d\n", names[k], out[(size_t)k * n], fold, wrong);
        total += wrong;
    }
    printf("%s\n", total ? "FAILED" : "ok");
    CUDA_CHECK(cudaFree(di));
    CUDA_CHECK(cudaFree(dout));
    return total ? 1 : 0;
}
