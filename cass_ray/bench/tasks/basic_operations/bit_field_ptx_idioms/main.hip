// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <hip/hip_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define HIP_CHECK(call)                                                                  \
    do {                                                                             \
        hipError_t status = (call);                                                 \
        if (status != hipSuccess) {                                                 \
            std::fprintf(stderr, "%s:%d: HIP error: %s\n", __FILE__, __LINE__,      \
                         hipGetErrorString(status));                                \
            std::exit(EXIT_FAILURE);                                                 \
        }                                                                            \
    } while (0)

__device__ __forceinline__ uint32_t extractUnsigned(uint32_t v, uint32_t start, uint32_t length)
{
    return (uint32_t)((v >> start) & ((1u << length) - 1u));  // start and length are below 32
}
__device__ __forceinline__ int extractSigned(int v, uint32_t start, uint32_t length)
{
    // The sign bit is the field's highest bit, or bit 31 where the field goes past it.
    return length == 0 ? 0 : (int)((int64_t)((uint64_t)((int64_t)v >> start) << (64u - length)) >> (64u - length));
}
__device__ __forceinline__ uint32_t insert(uint32_t field, uint32_t into, uint32_t start, uint32_t length)
{
    const uint32_t mask = ((1u << length) - 1u) << start;
    return (into & ~mask) | ((field << start) & mask);
}
__device__ __forceinline__ uint32_t permute(uint32_t a, uint32_t b, uint32_t selector)
{
    const uint64_t both = (uint64_t)b << 32 | a;
    uint32_t r = 0;
    for (int k = 0; k < 4; ++k)
        r |= (uint32_t)(both >> (8 * (selector >> (4 * k) & 7u)) & 255u) << (8 * k);
    return r;
}
__device__ __forceinline__ uint32_t majority(uint32_t a, uint32_t b, uint32_t c)
{
    return (a & b) | (c & (a | b));
}
__device__ __forceinline__ uint32_t choose(uint32_t a, uint32_t b, uint32_t c)
{
    return (a & b) | (~a & c);
}
__device__ __forceinline__ uint32_t funnelLeft(uint32_t low, uint32_t high, uint32_t by)
{
    return (uint32_t)((((uint64_t)high << 32 | low) << (by & 31u)) >> 32);
}
__device__ __forceinline__ uint32_t funnelRightClamp(uint32_t low, uint32_t high, uint32_t by)
{
    return (uint32_t)(((uint64_t)high << 32 | low) >> (by < 32u ? by : 32u));
}
__device__ __forceinline__ uint32_t highestBit(uint32_t v)
{
    return v ? 31u - (uint32_t)__clz((int)v) : 0xffffffffu;
}
__device__ __forceinline__ uint32_t counts(uint32_t v)
{
    return __brev(v) ^ ((uint32_t)__popc(v) << 8) ^ (uint32_t)__clz((int)v);
}
__device__ __forceinline__ int saturatingAdd(int a, int b)
{
    const int64_t sum = (int64_t)a + b;
    return (int)(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
}
__device__ __forceinline__ uint32_t absoluteDifference(int a, int b, uint32_t c)
{
    return c + (a > b ? (uint32_t)a - (uint32_t)b : (uint32_t)b - (uint32_t)a);
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
    HIP_CHECK(hipMalloc(&di, in.size() * 4));
    HIP_CHECK(hipMalloc(&dout, out.size() * 4));
    HIP_CHECK(hipMemcpy(di, in.data(), in.size() * 4, hipMemcpyHostToDevice));
    everyIdiom<<<(n + 127) / 128, 128>>>(di, n, dout);
    HIP_CHECK(hipGetLastError());
    HIP_CHECK(hipMemcpy(out.data(), dout, out.size() * 4, hipMemcpyDeviceToHost));
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
    HIP_CHECK(hipFree(di));
    HIP_CHECK(hipFree(dout));
    return total ? 1 : 0;
}
